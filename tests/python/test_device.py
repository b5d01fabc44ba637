"""Arrays of a GPU on a machine without one: the errors, the imports, and all operations with a simulated GPU."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from jobs import ROOT, Job, python
from simulated import between, needs_plugin, needs_ucx


@needs_plugin
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_everything_that_takes_arrays_of_a_gpu(job: Job, package: str, n: int) -> None:
    done = job("device.py", n, PYTHONPATH=package, ATOLL_REDUCE_ENGINES="1M")
    assert done.stdout.count("done") == n


@needs_plugin
@pytest.mark.parametrize("n", [1, 2, 3])
def test_mailboxes_of_a_gpu(job: Job, package: str, n: int) -> None:
    done = job("device_mailbox.py", n, PYTHONPATH=package)
    assert done.stdout.count("done") == n


@needs_plugin
@pytest.mark.parametrize("n", [1, 2, 3])
def test_single_elements_of_many_pes(job: Job, package: str, n: int) -> None:
    """The simulated GPU cannot access host memory here, like a real GPU."""
    done = job("device_elements.py", n, PYTHONPATH=package, ATOLL_SIMULATED_REACH="window")
    assert done.stdout.count("done") == n


@needs_plugin
@pytest.mark.parametrize("n", [1, 3])
def test_collectives_whose_members_differ(job: Job, package: str, n: int) -> None:
    done = job("device_collectives.py", n, PYTHONPATH=package)
    assert done.stdout.count("done") == n


@needs_plugin
@pytest.mark.parametrize("n", [1, 2])
def test_views_of_any_layout_take_few_calls(job: Job, package: str, tmp_path: Path, n: int) -> None:
    calls = tmp_path / "calls"
    calls.write_bytes(bytes(8))
    settings = {"ATOLL_SIMULATED_REACH": "window", "ATOLL_SIMULATED_CALLS": str(calls)}
    done = job("far_views.py", n, "cuda", PYTHONPATH=package, **settings)
    assert done.stdout.count("done") == n
    assert int.from_bytes(calls.read_bytes(), "little") > 100


@needs_plugin
@pytest.mark.parametrize("n", [1, 2])
def test_memory_that_is_gone(job: Job, package: str, n: int) -> None:
    done = job("device_past.py", n, PYTHONPATH=package)
    assert done.stdout.count("done") == n


@needs_plugin
@pytest.mark.parametrize("n", [1, 2, 3])
def test_groups_of_the_plain_c_interface(job: Job, package: str, tmp_path: Path, n: int) -> None:
    done = job("device_groups.py", n, str(tmp_path), PYTHONPATH=package)
    assert done.stdout.count("done") == n


@needs_plugin
@pytest.mark.parametrize("n", [1, 3])
def test_symmetric_tensors_of_the_plain_c_interface(job: Job, package: str, n: int) -> None:
    done = job("device_symmetric.py", n, PYTHONPATH=package)
    assert done.stdout.count("done") == n


@needs_ucx
@pytest.mark.parametrize("hosts", ["a,b"])
def test_views_of_any_layout_between_hosts(job: Job, hosts: str) -> None:
    assert job("far_views.py", 2, "host", **between(hosts)).stdout.count("done") == 2


@needs_plugin
@needs_ucx
@pytest.mark.parametrize("hosts", ["a,b", "a,b,b,b"])
def test_streams_between_hosts(job: Job, package: str, hosts: str) -> None:
    done = job("device_far.py", 4, PYTHONPATH=package, **between(hosts))
    assert done.stdout.count("done") == 4


@needs_plugin
@needs_ucx
def test_mailboxes_of_a_gpu_are_for_pes_that_share_memory(job: Job, package: str) -> None:
    done = job(
        """
        atoll.init()
        try:
            atoll.Mailbox(8, device="cuda")
        except atoll.Unsupported as error:
            print("said", error)
        """,
        2,
        PYTHONPATH=package,
        **between("a,b"),
    )
    assert len(re.findall("said .*by the window only", done.stdout)) == 2, done.stdout


@needs_plugin
@needs_ucx
@pytest.mark.parametrize("hosts", ["a,b", "a"])
def test_single_elements_between_hosts(job: Job, package: str, hosts: str) -> None:
    done = job(
        "device_elements.py",
        2,
        "--few",
        PYTHONPATH=package,
        **between(hosts),
    )
    assert done.stdout.count("done") == 2


@needs_plugin
@needs_ucx
@pytest.mark.parametrize("hosts", ["a,b", "a,b,b,b"])
def test_collectives_whose_members_differ_between_hosts(job: Job, package: str, hosts: str) -> None:
    done = job(
        "device_collectives.py",
        4,
        "--far",
        PYTHONPATH=package,
        **between(hosts),
    )
    assert done.stdout.count("done") == 4


@needs_plugin
@needs_ucx
def test_a_pe_that_dies_ends_a_collective_on_a_stream_between_hosts(job: Job, package: str) -> None:
    done = job(
        """
        atoll.init()
        x = atoll.zeros(4, device="cuda")
        atoll.sum_reduce(x, x, stream=0)
        if atoll.my_pe() == 1:
            os._exit(3)
        atoll.sum_reduce(x, x, stream=0)
        """,
        2,
        ok=False,
        PYTHONPATH=package,
        **between("a,b"),
    )
    assert done.returncode == 3, done
    assert "PE 1 exited with status 3" in done.stderr


@needs_plugin
@pytest.mark.parametrize("n", [1, 2])
def test_a_pools_memory_is_not_reused_before_it_is_freed(job: Job, package: str, n: int) -> None:
    """Uses a fake PyTorch, which makes no tensors. tests/python_gpu/pytorch.py uses the real one."""
    done = job("pool_kept.py", n, PYTHONPATH=package)
    assert done.stdout.count("done") == n


@needs_plugin
@pytest.mark.parametrize("n", [2, 3])
def test_a_place_of_a_pool_is_compared_with_the_pes_at_first_use(job: Job, package: str, n: int) -> None:
    """Segments are made as by libtorch; tensors there are adopted as PyTorch's are."""
    done = job("pool.py", n, PYTHONPATH=package)
    assert done.stdout.count("done") == n


@needs_plugin
@pytest.mark.parametrize("n", [1, 2, 3])
def test_places_inside_a_segment_of_a_pool_are_compared_by_collectives(
    job: Job, package: str, n: int
) -> None:
    assert job("pool_inside.py", n, "alike", PYTHONPATH=package).stdout.count("done") == n
    if n == 1:
        return
    done = job("pool_inside.py", n, "swapped", PYTHONPATH=package, ok=False)
    assert done.returncode != 0 and "done" not in done.stdout, done
    assert "atoll.NotSymmetric: sum_reduce(): dst of this PE's collective" in done.stderr, done.stderr
    assert "at its byte 512" in done.stderr and "outside the pool" in done.stderr, done.stderr


@needs_plugin
def test_a_conjugate_that_is_not_carried_out_is_refused(job: Job, package: str) -> None:
    """With fake tensors that report a pending conjugation; real tensors are in tests/python_gpu/interop.py."""
    done = job(
        """
        import types
        class Tensor:
            def __init__(self, x, bit):
                self.x, self.bit, self.shape, self.dtype = x, bit, x.shape, x.dtype
            def get_device(self): return self.x.device
            def data_ptr(self): return self.x.ptr
            def stride(self): return [s // self.x.itemsize for s in self.x.strides]
            def is_conj(self): return self.bit == "is_conj"
            def is_neg(self): return self.bit == "is_neg"
        torch = sys.modules["torch"] = types.ModuleType("torch")
        torch.Tensor = Tensor
        atoll.init()
        z = atoll.zeros(4, "complex64", device="cuda")
        parts = z.view("float32")
        for tensor, words in (
            (Tensor(z, "is_conj"), "is_conj()"), (Tensor(z, "is_neg"), "is_neg()"), (Tensor(parts[1::2], "is_neg"), "resolve_neg()"),
        ):
            try:
                atoll.put(tensor, tensor, 0, stream=0)
            except atoll.InvalidArgument as error:
                assert words in str(error), error
            else:
                raise AssertionError(words)
        class Elsewhere(Tensor):  # a sequence and a number, too, as CuPy's and PyTorch's are
            def get_device(self): return 7
            def __getitem__(self, i): raise TypeError("no conversion")
            def __len__(self): return 4
            def __float__(self): raise TypeError("no conversion")
        far = Elsewhere(z, "")
        for call in (lambda: atoll.put(z, far, 0), lambda: atoll.sum_reduce(z, far), lambda: atoll.put(far, z, 0), lambda: atoll.put(z, far, 0, stream=0)):
            try:
                call()
            except atoll.NotSymmetric as error:
                assert "on another GPU than" in str(error), error
            else:
                raise AssertionError("another GPU's array was taken")
        for tensor in (Tensor(z, ""), Tensor(parts, ""), Tensor(parts[1::2], "")):
            atoll.put(tensor, tensor, 0, stream=0)
        print("done")
        """,
        1,
        PYTHONPATH=package,
    )
    assert "done" in done.stdout


@needs_plugin
@pytest.mark.parametrize("n", [1, 2, 4])
def test_waits_for_words_of_a_gpu(job: Job, package: str, n: int) -> None:
    done = job("device_waits.py", n, PYTHONPATH=package)
    assert done.stdout.count("done") == n


@needs_plugin
@pytest.mark.parametrize("wait", ["wait_until_all", "wait_until_any", "wait_until_some_vector"])
def test_a_wait_on_a_stream_that_does_not_end_is_reported(job: Job, package: str, wait: str) -> None:
    done = job(
        f"""
        atoll.init()
        words = atoll.array(np.full(40, -3, np.int16), device="cuda")
        out = atoll.zeros(41, np.int64, device="cuda")
        status = atoll.array(np.r_[np.ones(35, np.int32), np.zeros(5, np.int32)], device="cuda")
        value = atoll.array(np.full(40, 7, np.int16), device="cuda") if "vector" in "{wait}" else 7
        more = {{}} if "all" in "{wait}" else {{"out": out}}
        try:
            atoll.{wait}(words, ">=", value, status, **more, stream=0)
        finally:
            print(hex(words.ptr + 35 * 2))
        """,
        1,
        ok=False,
        PYTHONPATH=package,
        ATOLL_WAIT_TIMEOUT="0.2",
    )
    assert done.returncode != 0
    at = [" on element 35 of the int16 array"] if wait == "wait_until_all" else [" at", done.stdout.strip()]
    for words in (wait + at[0], at[-1], "found -3, waiting for >= 7"):
        assert words in done.stderr, (words, done.stderr)


@needs_plugin
@pytest.mark.parametrize("n", [1, 2])
def test_errors_name_what_was_passed(job: Job, package: str, n: int) -> None:
    done = job("device_errors.py", n, PYTHONPATH=package)
    assert done.stdout.count("done") == n


def test_without_a_gpu_device_memory_is_an_error_and_the_rest_works() -> None:
    done = python(
        "import atoll; atoll.init()\n"
        "try: atoll.zeros(3, device='cuda')\n"
        "except atoll.Unsupported as e: print('said:', e)\n"
        "x = atoll.zeros(3); atoll.put(x, 1.0, 0); print(x.sum())",
        CUDA_VISIBLE_DEVICES="",
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("said: ")
    assert done.stdout.endswith("3.0\n")


def test_import_and_host_arrays_touch_no_cuda() -> None:
    done = python(
        "import sys, atoll; atoll.init(); x = atoll.zeros(3); atoll.sum_reduce(x)\n"
        "maps = open('/proc/self/maps').read()\n"
        "print([name for name in ('libcuda', 'libatoll_cuda', 'libcudart') if name in maps],\n"
        "      [name for name in ('atoll._device', 'cupy', 'torch', 'numba', 'cuda') if name in sys.modules])"
    )
    assert done.stdout.strip() == "[] []", done


def test_include_dir_has_the_headers(tmp_path: Path) -> None:
    done = python("import atoll; print(atoll.include_dir())")
    folder = Path(done.stdout.strip())
    assert (folder / "atoll/device/device.hpp").is_file()
    source = tmp_path / "user.cpp"
    source.write_text("#include <atoll/device/device.hpp>\nint f(atl::device::Team t) { return t.n_pes; }\n")
    subprocess.run(["g++", "-std=c++17", "-fsyntax-only", f"-I{folder}", str(source)], check=True)


def test_the_team_by_value_has_the_fields_of_the_header() -> None:
    header = (ROOT / "include/atoll/device/team.hpp").read_text()
    body = header.split("struct Team {")[1].split("};")[0]
    names = [line.split(";")[0].split()[-1].lstrip("*") for line in body.splitlines() if ";" in line]
    done = python("from atoll._device import DeviceTeam; print(*DeviceTeam._fields)")
    assert done.stdout.split() == names


def test_importing_takes_little_longer_than_numpy() -> None:
    """It compares the loaded modules, not times."""
    done = python(
        "import sys, numpy; before = set(sys.modules); import atoll; print(*sorted(set(sys.modules) - before))"
    )
    others = [name for name in done.stdout.split() if not name.startswith("atoll")]
    assert len(others) < 20, others  # Python 3.13 has divided pathlib
    heavy = {
        "asyncio",
        "inspect",
        "logging",
        "multiprocessing",
        "subprocess",
        "tempfile",
        "typing_extensions",
    }
    assert heavy.isdisjoint(others), others


def test_nvtx_ranges_enclose_calls(tmp_path: Path) -> None:
    (tmp_path / "nvtx.py").write_text(
        "said = []\ndef push_range(name): said.append('+' + name)\ndef pop_range(): said.append('-')\n"
    )
    code = "import atoll, nvtx; atoll.init(); x = atoll.zeros(3); atoll.put(x, 1.0, 0); print(*nvtx.said)"
    done = python(code, PYTHONPATH=str(tmp_path), ATOLL_NVTX="1")
    assert done.stdout.strip() == "+atoll.put -", done
    assert done.stderr == ""


@needs_plugin
def test_a_forked_child_is_not_a_pe(job: Job, package: str) -> None:
    done = job(
        """
        import warnings
        warnings.simplefilter("ignore")
        atoll.init()
        x = atoll.zeros(4, device="cuda")
        child = os.fork()
        if child == 0:
            try:
                atoll.put(x, 1.0, 0)
            except atoll.NotInitialized as error:
                os._exit(7 if "forked" in str(error) else 8)
            os._exit(9)
        assert os.waitpid(child, 0)[1] >> 8 == 7
        atoll.put(x, 1.0, 0)
        print("done")
        """,
        1,
        PYTHONPATH=package,
    )
    assert "done" in done.stdout


def test_the_module_for_pytorch_names_a_missing_library(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('none here')")
    done = python("import atoll.torch", PYTHONPATH=str(tmp_path))
    assert "pip install torch (none here)" in done.stderr


@needs_plugin
@pytest.mark.parametrize("n", [1, 2, 4])
def test_the_example_on_memory_of_the_host(job: Job, n: int) -> None:
    done = job(str(ROOT / "examples/10_heat/heat.py"), n, "cpu")
    assert "as one PE alone computes" in done.stdout


def test_the_example_names_the_library_that_it_misses(job: Job) -> None:
    done = job(str(ROOT / "examples/10_heat/heat.py"), 1, "cupy", ok=False)
    assert done.returncode != 0
    assert "pip install cupy" in done.stdout + done.stderr
