"""Says what to install."""

try:
    import triton as triton
except ImportError as missing:
    raise ImportError("atoll.triton needs Triton: pip install triton (PyTorch brings it)") from missing
