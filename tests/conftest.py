"""Every annotation of the package is checked while the tests run: types, dtypes, and shapes from
one argument to the next.

jaxtyping's import hook puts beartype around each function and dataclass. In each test the first
calls of a function are checked and then fewer and fewer (see `type_checks`), with `--slow` all of
them. `JAXTYPING_DISABLE=1` in the environment turns it off.

Programs are compiled quickly rather than well, as tests run most of them once. `XLA_FLAGS=` in the
environment, empty or with flags of one's own, turns that off.
"""

import os
from importlib.metadata import version

import jaxtyping
import pytest

import type_checks

CHECKED = ("bezierflow",)

type_checks.install(*CHECKED)

# Without LLVM's optimizations and without XLA's newer code generator for fusions, compiling takes
# half of the processor time. XLA reads the variable before the first program is compiled, workers
# and other processes inherit it. A version that does not know one of these flags would end the
# process, so they are given to versions that were tried.
QUICK_COMPILATION = (
    "--xla_backend_optimization_level=0",
    "--xla_llvm_disable_expensive_passes=true",
    "--xla_cpu_use_fusion_emitters=false",
)
if version("jaxlib").startswith("0.10."):
    os.environ.setdefault("XLA_FLAGS", " ".join(QUICK_COMPILATION))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """Gives each worker one thread for linear algebra: there is a worker for each core.

    Threads of OpenBLAS beside them wait for each other in busy loops, which takes a third of the
    processor time of tests that factor matrices. Workers inherit the variable, and OpenBLAS reads
    it when NumPy is imported.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


@pytest.fixture
def unchecked():
    """For tests of misuse: annotations are not checked, so that a wrong argument meets the
    package's own message."""
    before = jaxtyping.config.jaxtyping_disable
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", before)


SLOW = (
    "atlas/test_atlas.py::test_a_basin_that_keeps_its_bounds_is_not_taken_for_the_whole_set",
    "atlas/test_atlas.py::test_a_disc_in_any_units",
    "atlas/test_atlas.py::test_designs_of_any_shape",
    "atlas/test_atlas.py::test_designs_that_are_no_smooth_function_of_the_front",
    "atlas/test_exploration.py::test_bounds_may_be_generous",
    "decisions/test_directions.py::test_every_question[atlas]",
    "decisions/test_directions.py::test_ranges_rates_and_locations[atlas]",
    "explorer/test_atlas_page.py::test_a_bound_shades_what_it_excludes_and_snaps_the_point[2]",
    "explorer/test_atlas_page.py::test_a_bound_shades_what_it_excludes_and_snaps_the_point[4]",
    "explorer/test_atlas_page.py::test_a_slider_is_what_is_accepted_of_its_objective[2]",
    "explorer/test_atlas_page.py::test_a_slider_is_what_is_accepted_of_its_objective[4]",
    "explorer/test_atlas_page.py::test_answers_are_those_of_python[2]",
    "explorer/test_atlas_page.py::test_answers_are_those_of_python[4]",
    "explorer/test_atlas_page.py::test_clicking_the_front_picks_the_point_there[2]",
    "explorer/test_atlas_page.py::test_clicking_the_front_picks_the_point_there[4]",
    "explorer/test_atlas_page.py::test_go_to_least_finds_the_least[2]",
    "explorer/test_atlas_page.py::test_go_to_least_finds_the_least[4]",
    "explorer/test_atlas_page.py::test_nothing_is_wider_than_the_window[1440]",
    "explorer/test_atlas_page.py::test_rates_are_those_of_python[2]",
    "explorer/test_atlas_page.py::test_rates_are_those_of_python[4]",
    "solve/test_checkpoint.py::test_a_run_that_dies_twice_ends_where_it_would_have_ended[atlas]",
    "solve/test_kinks.py::test_groups_that_are_0_at_the_end_of_the_path_and_between_its_ends",
    "solve/test_kinks.py::test_the_elastic_net",
    "solve/test_kinks.py::test_the_worst_customer_without_being_told",
    "normal/test_large.py::test_the_number_of_compiled_programs_does_not_grow_with_the_variables",
    "solve/test_own_problems.py::test_constraints_in_numpy",
    "solve/test_own_problems.py::test_the_same_surface_from_every_form[a list of functions]",
    "solve/test_own_problems.py::test_variables_of_any_scale_give_the_same_surface[1000.0]",
    "solve/test_own_problems.py::test_variables_of_any_scale_give_the_same_surface[1000000.0]",
    (
        "solve/test_routes.py::test_a_degenerate_set_is_an_atlas_of_its_dimension_without_a_flag[four"
        " objectives of two variables]"
    ),
    "solve/test_routes.py::test_a_set_that_keeps_its_bounds_is_held_against_a_survey_of_the_box",
    "solve/test_routes.py::test_an_atlas_without_bounds_is_held_against_points_far_away",
    "solve/test_warm_start.py::test_an_atlas_goes_on_too",
    "gallery/test_gallery.py::test_no_problem_of_the_sample_is_silently_wrong[lasso of two]",
    "interop/test_optuna.py::test_failed_trials_are_left_out_and_one_objective_is_refused",
    "normal/test_stages.py::test_quadratics_stay_within_their_budgets[size2-1e-05-650-1200]",
    "normal/test_stages.py::test_random_quadratics[size2-0.001]",
    "points/test_from_points.py::test_designs_keep_bounds_everywhere",
    "points/test_from_points.py::test_noisy_points_of_three_objectives_become_a_surface",
    "stability/test_report.py::test_the_command_line",
    "stability/test_report.py::test_without_known_constants_bounds_are_estimates",
    "surrogate/test_search.py::test_minimize_keeps_the_budget_takes_known_values_and_says_that_an_objective_is_constant",
    "test_docs.py::test_examples_run[atlas.md]",
    "test_docs.py::test_examples_run[expensive.md]",
    "test_docs.py::test_examples_run[explorer.md]",
    "test_docs.py::test_examples_run[extending.md]",
    "test_docs.py::test_examples_run[interop.md]",
    "test_docs.py::test_examples_run[large.md]",
    "test_docs.py::test_examples_run[networks.md]",
    "test_docs.py::test_examples_run[stability.md]",
    *(
        f"test_docs.py::test_examples_run[examples/{page}.md]"
        for page in ("brake", "portfolio", "location", "regression", "networks", "controller")
    ),
)
"""Tests of seven seconds and more of code that quicker tests go through as well, the page's tests
of two and four objectives, whose code three go through as well, and pages whose examples the site
runs when it is built. `make slow` runs them too."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--slow` runs the tests of `SLOW` as well."""
    parser.addoption("--slow", action="store_true", help="run the slow tests too")


def pytest_configure(config: pytest.Config) -> None:
    """With `--slow` annotations are checked in every call."""
    if config.getoption("--slow"):
        type_checks.check_every_call()


def pytest_runtest_setup() -> None:
    """Calls are counted from the start of a test."""
    type_checks.begin_test()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skips the tests of `SLOW`, unless asked for."""
    for item in [] if config.getoption("--slow") else items:
        if item.nodeid.endswith(SLOW):
            item.add_marker(pytest.mark.skip(reason="slow: pytest --slow runs it"))
