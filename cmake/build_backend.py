"""The wheel's build backend: scikit-build-core, after a check that Atoll supports the platform.

Without the check, the first error on an old Python or another system would be a missing build requirement.
"""

import platform
import sys

SUPPORTED = "Atoll supports Linux on x86-64 and aarch64 with glibc 2.31 or newer, Python 3.10 or newer and NumPy 2 or newer"


def _refusal():
    """The reason why the platform is not supported, or None."""
    if sys.version_info < (3, 10):  # noqa: UP036 (that is the point)
        return "this is Python {}.{}".format(*sys.version_info[:2])
    if sys.platform != "linux" or platform.machine() not in ("x86_64", "aarch64"):
        return f"this is {platform.system()} on {platform.machine()}"
    library, version = platform.libc_ver()
    if library != "glibc" or tuple(int(part) for part in version.split(".")[:2]) < (2, 31):
        return f"this C library is {library or 'unknown'} {version}"
    return None


if _refusal():
    sys.exit(f"{SUPPORTED}; {_refusal()}.")

from scikit_build_core.build import *  # noqa: E402, F403
