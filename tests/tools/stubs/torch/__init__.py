"""PyTorch as far as its side of the comparison calls it: 0.3 s a step, 1000 B. STUB_TORCH_FULL: no memory for a batch of 256."""
import os
import sys
from unittest import mock

assert "/gpu-bundle-cuda13/lib" not in os.environ.get("LD_LIBRARY_PATH", ""), "PyTorch is given our libraries"
with open(os.environ["STUB_CALLS"] + ".torch", "a", encoding="utf-8") as imports:
    imports.write("imported\n")


class OutOfMemoryError(RuntimeError):
    pass


def arange(batch, **_options):
    if os.environ.get("STUB_TORCH_FULL") and batch == 256:
        raise OutOfMemoryError("CUDA out of memory. Tried to allocate much\nmore words")
    return mock.MagicMock()


fake = mock.MagicMock(__version__="0", __spec__=None, arange=arange)
fake.cuda.OutOfMemoryError = OutOfMemoryError
fake.cuda.is_available.return_value = True
fake.cuda.memory_reserved.return_value = fake.cuda.max_memory_reserved.return_value = 1000
fake.cuda.Event.return_value.elapsed_time.return_value = 300.0
fake.backends.cudnn.version.return_value = 9
sys.modules[__name__] = fake
