"""torch: objectives written with it, differentiated by `torch.func`."""

from ..forms import TorchFunction as objectives

__all__ = ["objectives"]
