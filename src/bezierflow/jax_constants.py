"""A repair of JAX for NumPy arrays that a function closes over, when it is traced in both
precisions.

JAX 0.9.2 (which pyproject.toml excludes) and later, up to 0.12.0.1 at least, caches the traced form
of a NumPy array by the array's identity alone. A float64 array first seen in double precision is
then also float64 in single precision, and the other way round: a compiled function that uses such
an array fails with a mismatch of types in whichever precision comes second, in the user's own code
too.

The repair replaces JAX's handler of NumPy arrays, for the whole process and through the private
modules `jax._src.dtypes` and `jax._src.literals`, by one that caches by identity and dtype. It is
applied to a JAX that shows the fault, and to no other. This file goes when no supported JAX has the
fault; `tests/test_precision.py` fails as soon as the running one does not.
"""

import weakref
from functools import cache

import jax
import numpy as np


@cache
def repair_constant_cache() -> bool:
    """Repairs the running JAX if it has the fault; returns whether it had. Does its work once a
    process."""
    try:
        from jax._src import dtypes, literals

        canonicalize, handlers = dtypes.canonicalize_value, dtypes.canonicalize_value_handlers
        typed_array, canonical_dtype = literals.TypedNdArray, dtypes.canonicalize_dtype
    except (ImportError, AttributeError):
        return False  # without these names there is nothing to replace

    probe = np.ones(1)
    with jax.enable_x64(True):
        # the cache holds values weakly: this reference keeps the entry alive
        double = canonicalize(probe)
    with jax.enable_x64(False):
        faulty = canonicalize(probe).dtype == double.dtype
    if not faulty:
        return False

    traced_forms: weakref.WeakValueDictionary[tuple[int, np.dtype], np.ndarray] = (
        weakref.WeakValueDictionary()
    )
    owners: dict[tuple[int, np.dtype], weakref.ref[np.ndarray]] = {}

    def traced_form(array: np.ndarray) -> np.ndarray:
        """The array in the canonical dtype of the ambient precision: one object for each array and
        dtype, as JAX expects."""
        dtype = np.dtype(canonical_dtype(array.dtype))
        key = (id(array), dtype)
        owner = owners.get(key)
        form = traced_forms.get(key) if owner is not None and owner() is array else None
        if form is None:
            form = traced_forms[key] = typed_array(np.asarray(array, dtype))
            owners[key] = weakref.ref(array, lambda _: owners.pop(key, None))
        return form

    handlers[np.ndarray] = traced_form
    return True
