"""Kernels in CUDA C++ by compilers that take atoll.include_dir(): cuda.core's NVRTC and torch.utils.cpp_extension (nvcc)."""

import os
import shutil
import tempfile
from pathlib import Path

import atoll
import atoll.cupy
import numpy as np

atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
x = atoll.zeros(8, np.int32, device="cuda")
FILL = r"""
#include <atoll/device/device.hpp>
__device__ void fill(const atl::device::Team& team, int* x, int value) {
    atl::device::p(team, x, value + team.my_pe, (team.my_pe + 1) % team.n_pes);
    atl::device::barrier(team);
}
"""
# cuda.core passes numbers: the team's fields, one by one.
BY_NUMBERS = r"""
extern "C" __global__ void start(int my_pe, int n_pes, char* window, long long stride, int my_slot, int first, int step,
                                 const int* table, atl::device::Control* control, atl::device::TraceSink* trace,
                                 int* x, int value) {
    fill({my_pe, n_pes, window, stride, my_slot, first, step, table, control, trace}, x, value);
}
"""
BY_VALUE = r"""
#include <torch/extension.h>
#include <cstring>
__global__ void kernel(atl::device::Team team, int* x, int value) { fill(team, x, value); }
void start(pybind11::bytes team, torch::Tensor x, int value) {
    atl::device::Team by_value;
    std::memcpy(&by_value, std::string(team).data(), sizeof by_value);
    kernel<<<1, 1>>>(by_value, x.data_ptr<int>(), value);
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("start", &start); }
"""
passed = []


def check(what, value):
    assert int(x.numpy()[0]) == value + (me - 1) % n, (me, what, x.numpy())
    passed.append(what)
    atoll.barrier_all()


try:
    from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch
except ImportError as error:
    print("cuda.core was not tried:", error)
else:
    core = Device(x.device)
    core.set_current()
    options = ProgramOptions(std="c++17", arch=f"sm_{core.arch}", include_path=[atoll.include_dir()])
    kernel = Program(FILL + BY_NUMBERS, "c++", options).compile("cubin").get_kernel("start")
    stream = core.create_stream()
    narrow = ("my_pe", "n_pes", "my_slot", "first", "step")
    team = atoll.WORLD.device()
    assert team._fields[-1] == "trace", "the kernel above takes the fields one by one"
    fields = [np.int32(value) if name in narrow else value for name, value in team._asdict().items()]
    launch(stream, LaunchConfig(grid=1, block=1), kernel, *fields, x.ptr, np.int32(100))
    stream.sync()
    check("cuda.core", 100)

nvcc = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
try:
    import torch
    from torch.utils import cpp_extension
except ImportError as error:
    print("torch.utils.cpp_extension was not tried:", error)
else:
    if nvcc is None or shutil.which("ninja") is None:
        print("torch.utils.cpp_extension was not tried: it needs nvcc and ninja")
    else:
        torch.cuda.set_device(x.device)
        os.environ.setdefault("TORCH_CUDA_ARCH_LIST", "{}.{}".format(*torch.cuda.get_device_capability()))
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "extension.cu"
            source.write_text(FILL + BY_VALUE)
            made = cpp_extension.load(
                "atoll_extension", [str(source)], extra_include_paths=[atoll.include_dir()],
                extra_cuda_cflags=["-std=c++17"], build_directory=folder,
            )  # fmt: skip
            made.start(atoll.cupy.team(atoll.WORLD).tobytes(), x.torch(), 200)
            torch.cuda.synchronize()
            check("torch.utils.cpp_extension", 200)
print("PE", me, "passed", passed)
atoll.finalize()
