"""Whether Triton is there, and new enough."""

from importlib.metadata import PackageNotFoundError, version

_INSTALL = "pip install -U triton (PyTorch brings it)"
try:
    import triton as triton
except ImportError as missing:
    raise ImportError(f"atoll.triton needs Triton 3.6: {_INSTALL.replace(' -U', '')}") from missing
try:
    _found = version("triton")
except PackageNotFoundError:
    _found = getattr(triton, "__version__", "3.6")  # from a source tree, or under another name
if tuple(int(part) for part in _found.split(".")[:2]) < (3, 6):
    raise ImportError(f"atoll.triton needs Triton 3.6 or later, and found {_found}: {_INSTALL}")
