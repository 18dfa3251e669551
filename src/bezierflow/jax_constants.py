"""A mend for JAX: NumPy arrays that a function closes over, when it is traced in both precisions.

JAX 0.10 remembers the traced form of a NumPy array by the array's identity alone. A float64 array first seen in double precision
is then also float64 in single precision, and the other way round: a function that uses such an array fails with a mismatch of
types in whichever precision comes second, in the user's own code too. Here the precision joins the key of that memory. Nothing is
done to a JAX that does not have the fault.
"""

import weakref
from functools import cache
from typing import Any

import jax
import numpy as np


@cache
def mend_constants() -> bool:
    """Mends the running JAX if it has the fault; returns whether it had. Asked once a process."""
    try:
        from jax._src import dtypes, literals

        canonicalize, register = dtypes.canonicalize_value, dtypes.register_canonicalize_value_handler
        typed_array, canonical_dtype = literals.TypedNdArray, dtypes.canonicalize_dtype
    except (ImportError, AttributeError):
        return False  # a JAX built otherwise has no such memory to mend

    probe = np.ones(1)
    with jax.enable_x64(True):
        double = canonicalize(probe)  # kept alive: the memory holds what is in use
    with jax.enable_x64(False):
        faulty = canonicalize(probe).dtype == double.dtype
    if not faulty:
        return False

    traced_forms: weakref.WeakValueDictionary[tuple[int, Any], Any] = weakref.WeakValueDictionary()
    owners: dict[tuple[int, Any], weakref.ref] = {}

    def traced_form(array: np.ndarray) -> Any:
        dtype = canonical_dtype(array.dtype)
        key = (id(array), dtype)
        owner = owners.get(key)
        form = traced_forms.get(key) if owner is not None and owner() is array else None
        if form is None:
            form = traced_forms[key] = typed_array(np.asarray(array, dtype))
            owners[key] = weakref.ref(array, lambda _: owners.pop(key, None))
        return form

    register(np.ndarray, traced_form)
    return True
