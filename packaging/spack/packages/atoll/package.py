"""A package of Spack:  spack repo add packaging/spack, then spack dev-build atoll@main in the clone."""

from spack.package import *


class Atoll(CMakePackage):
    """Symmetric memory over CPUs and GPUs, in OpenSHMEM's model, for C and C++."""

    license("Apache-2.0")
    version("main")

    variant("cuda", default=False, description="Memory on NVIDIA GPUs")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("cli11", type="build")
    depends_on("nlohmann-json", type="build")
    depends_on("cuda@12:", when="+cuda")
    depends_on("ucx@1.13:", type="run")

    conflicts("%gcc@:10")
    conflicts("%clang@:13")

    generator("ninja")

    def cmake_args(self):
        off = ("PYTHON", "TESTS", "EXAMPLES", "BENCH", "WERROR")
        return [self.define_from_variant("ATOLL_CUDA", "cuda")] + [
            self.define(f"ATOLL_{name}", False) for name in off
        ]
