"""The bar: asked for, or by itself once a run has lasted for a while; with an estimate of the rest."""

import io
import sys
import time

import pytest

import bezierflow as bf
from bezierflow.flows import progress, progress_bar


class Terminal(io.StringIO):
    """Standard error on a terminal."""

    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    return lambda: sys.stderr.getvalue()


def impatient(monkeypatch, seconds):
    schedule = progress.SCHEDULE
    monkeypatch.setattr(progress, "SCHEDULE", type(schedule)(patience=seconds))


def test_a_bar_that_was_asked_for_is_there_at_once(terminal):
    with progress_bar(True, 10, "runs") as update:
        update(5, "error 0.1")
    assert "runs" in terminal()
    assert "5/10, error 0.1" in terminal()


def test_a_short_run_shows_none(terminal):
    with progress_bar(None, 10, "runs") as update:
        update(5, "")
    assert terminal() == ""


def test_a_long_run_shows_one_even_within_its_first_iteration(terminal, monkeypatch):
    impatient(monkeypatch, 0.05)
    with progress_bar(None, None, "an atlas"):
        deadline = time.monotonic() + 20
        while "an atlas" not in terminal() and time.monotonic() < deadline:
            time.sleep(0.01)
    assert "an atlas" in terminal()


def test_time_before_a_part_of_a_run_counts(terminal):
    with progress_bar(None, None, "an atlas", began=time.monotonic() - 10) as update:
        update(3, "")
    assert "an atlas" in terminal()


def test_a_script_shows_none(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    impatient(monkeypatch, 0.0)
    with progress_bar(None, 10, "runs") as update:
        update(5, "")
    assert sys.stderr.getvalue() == ""


@pytest.mark.parametrize(
    ("seconds", "share", "words"),
    [
        (10.0, 0.5, "about 10 s left"),
        (60.0, 0.1, "about 9 min left"),
        (3600.0, 0.2, "about 4 h left"),
        (10.0, 0.001, ""),
        (10.0, 1.0, ""),
    ],
)
def test_the_rest_is_estimated_by_the_share_that_is_done(seconds, share, words):
    assert progress._rest(seconds, share) == words


def test_flows_tell_how_far_they_are(terminal):
    bf.minimize(lambda x: [(x - 1) @ (x - 1), (x @ x) ** 2 + x @ x], [0.5, 0.2], progress=True)
    assert "one surface" in terminal()
    assert bf.NormalFlow(tol=1e-6).share_done({"error": 1e-3, "degree": 3}) == pytest.approx(0.5)
    assert bf.NormalFlow().share_done({"error": float("nan"), "degree": 1}) is None
