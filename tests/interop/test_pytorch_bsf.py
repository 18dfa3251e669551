"""Surfaces to the real pytorch-bsf and back, where it is installed; else what is said without
it."""

import sys

import numpy as np
import pytest

import bezierflow as bf
from bezierflow.interop import require
from bezierflow.interop.pytorch_bsf import from_model, to_model

SURFACE = bf.BezierSimplex(np.random.default_rng(0).normal(size=(10, 2)), 3, 3)


def test_surfaces_go_there_and_back():
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch_bsf")
    model, t = to_model(SURFACE), np.random.default_rng(1).dirichlet(np.ones(3), 20)
    np.testing.assert_allclose(model(torch.as_tensor(t)).detach().numpy(), SURFACE(t), rtol=1e-12)
    np.testing.assert_array_equal(from_model(model).control_points, SURFACE.control_points)


def test_a_missing_library_names_its_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch_bsf", None)
    with pytest.raises(ImportError, match="needs pytorch-bsf: pip install pytorch-bsf"):
        to_model(SURFACE)


@pytest.mark.parametrize(
    ("part", "module"), [("pymoo", "pymoo"), ("sklearn", "sklearn"), ("optuna", "optuna")]
)
def test_a_missing_extra_names_its_line(part, module, monkeypatch):
    for name in [module, *[name for name in sys.modules if name.startswith(f"{module}.")]]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r"pip install 'bezierflow\[interop\]'"):
        require(f"{module}.core", part)
