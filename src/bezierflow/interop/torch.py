"""torch: objectives written with it, differentiated by `torch.func`."""

from ..objectives import TorchFunction as objectives

__all__ = ["objectives"]
