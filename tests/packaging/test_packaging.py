"""The products of the build: the wheel in an empty environment, and installed trees used from outside ours."""

import contextlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import time
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "release"
SOURCES = ("CMakeLists.txt", "LICENSE", "api", "cmake", "include", "include_nvshmem", "python", "src")
CONSUMER = Path(__file__).with_name("consumer")


def run(*command: str | Path, cwd: Path = ROOT, **environment: str) -> str:
    """Run a command, away from this environment's own packages; return its output."""
    unset = ("PYTHONPATH", "VIRTUAL_ENV", "PYTHONUNBUFFERED")  # unbuffered output splits lines
    kept = {name: value for name, value in os.environ.items() if name not in unset}
    done = subprocess.run(
        command, cwd=cwd, env=kept | environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "pip", "wheel", "-q", "--no-build-isolation", "--no-deps", "--no-cache-dir",
        f"--config-settings=build-dir={BUILD}", "-w", folder, ROOT)  # fmt: skip
    (built,) = folder.glob("atoll-*.whl")
    return built


@pytest.fixture(scope="module")
def empty_environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with the wheel and its dependencies, nothing else."""
    environment = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", environment)
    install = (environment / "bin" / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check")
    # NumPy comes from the network. pip repeats a download that did not begin, but not one that broke off.
    for pause_s in (5, 20):
        with contextlib.suppress(AssertionError):
            run(*install, wheel)
            return environment
        time.sleep(pause_s)
    run(*install, wheel)
    return environment


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tree that `cmake --install` makes, moved to another place."""
    folder = tmp_path_factory.mktemp("prefix")
    run("cmake", "--install", BUILD, "--prefix", folder / "first", "--component", "atoll")
    return Path(shutil.move(folder / "first", folder / "moved"))


def package_folder(environment: Path) -> Path:
    """The folder of the installed package."""
    (folder,) = environment.glob("lib/python*/site-packages/atoll")
    return folder


def test_the_wheel_holds_everything(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    wanted = {
        "atoll/__init__.py", "atoll/py.typed", "atoll/_atoll.pyi", "atoll/_kernels/operations.json", "atoll/lib/libatoll.so",
        "atoll/include/atoll/atoll.hpp", "atoll/include/atoll/version.hpp",
        "atoll/lib/cmake/atoll/atollConfig.cmake", "atoll/lib/pkgconfig/atoll.pc",
        "atoll/lib/libatoll_shmem.so", "atoll/include/shmem.h", "atoll/include/atoll/shmem/prototypes.h",
        "atoll/lib/pkgconfig/atoll-shmem.pc",
    }  # fmt: skip
    if (BUILD / "lib" / "libatoll_cuda.so").exists():
        wanted.add("atoll/lib/libatoll_cuda.so")
    assert wanted <= set(names), f"missing: {wanted - set(names)}"
    for script in ("atoll", "oshcc", "oshc++", "oshCC", "oshrun", "nvshmrun"):
        assert any(name.endswith(f".data/scripts/{script}") for name in names), (
            f"{script} is not in the wheel"
        )
    archives = [name for name in names if name.endswith(".a")]
    assert archives == ["atoll/nvshmem/lib/libnvshmem_device.a"]
    assert not [name for name in names if "tests" in name]


def test_the_wheel_names_no_folder_of_its_build(wheel: Path) -> None:
    # With such a name two builds of the same sources would differ. The compiler of kernels names an internal function by
    # a hash of its source's path, unless it inlines the function.
    with zipfile.ZipFile(wheel) as archive:
        # A folder of its own: "/src" alone is also a part of other paths.
        folders = [f"{ROOT}/{folder}/".encode() for folder in ("build", "include", "python", "src")]
        for what in (*folders, b"_INTERNAL_"):
            naming = [name for name in archive.namelist() if what in archive.read(name)]
            assert not naming, f"{what.decode()} is in {naming}"


def test_the_sdist_holds_the_sources_and_no_more(tmp_path: Path) -> None:
    run(
        sys.executable,
        "-c",
        f"from scikit_build_core.build import build_sdist; build_sdist({str(tmp_path)!r})",
    )
    (sdist,) = tmp_path.glob("atoll-*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    tracked = set(run("git", "ls-files").splitlines())
    sources = {name for name in tracked if name.split("/")[0] in SOURCES}
    assert not sources - names, f"missing: {sorted(sources - names)}"
    assert not names - tracked - {"PKG-INFO"}, f"not ours: {sorted(names - tracked)}"
    assert not [name for name in names if name.split("/")[0] in ("tests", "docs", "examples", ".github")]


def test_the_wheel_is_tagged_for_the_python_that_its_module_is_for(wheel: Path) -> None:
    (module,) = [
        name
        for name in zipfile.ZipFile(wheel).namelist()
        if name.startswith("atoll/_atoll") and name.endswith(".so")
    ]
    assert module == "atoll/_atoll" + sysconfig.get_config_var("EXT_SUFFIX")
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    assert wheel.name.split("-")[2:4] == [python, python]
    metadata = (ROOT / "pyproject.toml").read_text()
    assert "py-api" not in metadata, "a tag for many Pythons needs a module that was built for the stable ABI"


def test_the_wheel_needs_only_numpy(empty_environment: Path) -> None:
    listed = run(empty_environment / "bin" / "python", "-m", "pip", "list", "--format=freeze")
    packages = {line.split("==")[0].lower() for line in listed.split()}
    assert packages - {"pip", "setuptools", "wheel"} == {"atoll", "numpy"}


def test_the_launcher_of_the_wheel_is_an_executable(empty_environment: Path) -> None:
    launcher = empty_environment / "bin" / "atoll"
    assert launcher.read_bytes()[:4] == b"\x7fELF"
    needed = run("ldd", launcher)
    assert "libatoll" not in needed and "not found" not in needed


def test_the_wheel_runs_a_job(empty_environment: Path, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import atoll\natoll.init()\nfrom atoll import shmem\n"
        "print(f'PE {shmem.my_pe()} of {atoll.n_pes()}')\natoll.finalize()\n"
    )
    said = run(empty_environment / "bin" / "atoll", "run", "-n", "3", program, cwd=tmp_path)
    assert sorted(said.splitlines()) == ["PE 0 of 3", "PE 1 of 3", "PE 2 of 3"]
    alone = run(empty_environment / "bin" / "python", program, cwd=tmp_path)
    assert alone.strip() == "PE 0 of 1"


def test_the_wheel_compiles_and_runs_openshmem(empty_environment: Path, tmp_path: Path) -> None:
    scripts = empty_environment / "bin"
    run(scripts / "oshcc", ROOT / "examples" / "openshmem" / "grid.c", "-o", tmp_path / "grid")
    assert run(scripts / "oshrun", "-n", "4", tmp_path / "grid").count(" is at (") == 4


def check_consumer(program: Path, launcher: Path) -> None:
    """Run the program of consumer/ alone and as two PEs."""
    assert "PE 0 of 1 got 0" in run(program)
    said = sorted(run(launcher, "run", "-n", "2", program).splitlines())
    assert [line.split(": ")[1] for line in said] == ["PE 0 of 2 got 1", "PE 1 of 2 got 0"]


@pytest.mark.parametrize("where", ["prefix", "wheel"])
def test_find_package(where: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if where == "prefix":
        tree = request.getfixturevalue("prefix")
        launcher = tree / "bin" / "atoll"
    else:
        environment = request.getfixturevalue("empty_environment")
        tree, launcher = package_folder(environment), environment / "bin" / "atoll"
    run("cmake", "-G", "Ninja", "-S", CONSUMER, "-B", tmp_path, f"-DCMAKE_PREFIX_PATH={tree}")
    run("cmake", "--build", tmp_path)
    check_consumer(tmp_path / "consumer", launcher)


def test_projects_of_nvshmem_find_its_package_libraries_and_launcher(prefix: Path, tmp_path: Path) -> None:
    home = prefix / "nvshmem"
    found = re.search(r"```c\n(.*?)```", (ROOT / "docs/from-nvshmem.md").read_text(), re.DOTALL)
    assert found
    project = tmp_path / "project"
    shutil.copytree(ROOT / "tests/packaging/nvshmem_consumer", project)
    (project / "ring.c").write_text(found.group(1))
    for version in ("2.11", "3.4", "3.8.0"):
        asked = [f"-DCMAKE_PREFIX_PATH={home}", f"-DNVSHMEM_VERSION_ASKED={version}"]
        run("cmake", "-G", "Ninja", "-S", project, "-B", tmp_path / "built", *asked)
    run("cmake", "--build", tmp_path / "built")
    flags = [f"-I{home}/include", f"-L{home}/lib", f"-Wl,-rpath,{home}/lib", "-lnvshmem", "-lnvshmem_device"]
    run(os.environ.get("CC", "gcc"), project / "ring.c", "-o", tmp_path / "built/made", *flags)
    numbered = [flag.replace("-lnvshmem", "-l:libnvshmem_host.so.3") for flag in flags[:-1]]
    run(os.environ.get("CC", "gcc"), project / "ring.c", "-o", tmp_path / "built/numbered", *numbered)
    assert (home / "lib/libnvshmem_host.so.3").read_bytes()[:4] == b"\x7fELF"
    for program in ("ring", "whole", "made", "numbered"):
        said = run(home / "bin/nvshmrun", "-n", "2", "-ppn", "2", tmp_path / "built" / program)
        assert sorted(said.splitlines()) == ["PE 0 of 2 got 1", "PE 1 of 2 got 0"]


def test_pkg_config(prefix: Path, tmp_path: Path) -> None:
    flags = run(
        "pkg-config", "--cflags", "--libs", "atoll", PKG_CONFIG_PATH=str(prefix / "lib" / "pkgconfig")
    )
    program = tmp_path / "consumer"
    run(os.environ.get("CXX", "g++"), "-std=c++20", CONSUMER / "main.cpp", "-o", program, *flags.split())
    check_consumer(program, prefix / "bin" / "atoll")


@pytest.mark.parametrize("where", ["prefix", "wheel"])
def test_commands_of_the_install_page_compile_programs(
    where: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    tree = request.getfixturevalue("prefix" if where == "prefix" else "empty_environment")
    page = (ROOT / "docs/install.md").read_text()
    lines = re.findall(r"^    ((?:g\+\+|gcc|export PKG_CONFIG_PATH).*)$", page, re.MULTILINE)
    assert len(lines) == 4
    for page in ("README.md", "docs/tutorial.md"):
        assert f"    {lines[0]}\n" in (ROOT / page).read_text()
    shutil.copy(CONSUMER / "main.cpp", tmp_path / "program.cpp")
    shutil.copy(ROOT / "examples/openshmem/hello.c", tmp_path / "program.c")
    launcher = tree / "bin/atoll"
    path = f"{tree / 'bin'}:{os.environ['PATH']}"
    for line, by_name in ((lines[1], False), (lines[0], True), ("; ".join(lines[2:]), True)):
        run("sh", "-ec", line, cwd=tmp_path, PATH=path)
        if by_name:
            check_consumer(tmp_path / "program", launcher)
        else:
            run(launcher, "run", "-n", "2", tmp_path / "program")
        (tmp_path / "program").unlink()


def test_the_page_configures_a_build_without_python(tmp_path: Path) -> None:
    (line,) = re.findall(
        r"^    (cmake -G Ninja -B .*)$", (ROOT / "docs/install.md").read_text(), re.MULTILINE
    )
    run(*line.replace("-B build", f"-B {tmp_path}").split(), "-DATOLL_CUDA=OFF", "-S", ROOT)
    targets = run("ninja", "-C", tmp_path, "-t", "targets", "all")
    assert "lib/libatoll.so:" in targets and "_atoll.dir" not in targets and "_tests" not in targets


def test_the_examples_build_outside_the_tree(prefix: Path, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    (line,) = re.findall(
        r"^    (cmake -S examples .*)$", (ROOT / "examples/README.md").read_text(), re.MULTILINE
    )
    path = f"{prefix / 'bin'}:{os.environ['PATH']}"
    run("sh", "-ec", line, cwd=tmp_path, PATH=path, CMAKE_GENERATOR="Ninja", CMAKE_BUILD_TYPE="Debug")
    sources = [*(ROOT / "examples").glob("[0-9]*/*.cpp"), *(ROOT / "examples/openshmem").glob("*.c*")]
    assert len(sources) > 15
    for source in sources:
        name = ("shmem_" if source.parent.name == "openshmem" else "") + source.stem
        assert (tmp_path / "build" / name).exists(), name
    for name in ("ring", "shmem_ring"):
        run(prefix / "bin/atoll", "run", "-n", "2", tmp_path / "build" / name)


def test_the_cpp_programs_of_the_page_on_arrays(prefix: Path, tmp_path: Path) -> None:
    block = "".join(re.findall(r"^```cpp\n(.*?)^```$", (ROOT / "docs/arrays.md").read_text(), re.S | re.M))
    body = f"{block}bool ok = part.extent(0) > 0 && columns.g({{5, 7}}) == 19; atoll::finalize(); return ok ? 0 : 1;"
    run_block(f"#include <atoll/dist_array.hpp>\nint main() {{\n{body}\n}}\n", prefix, tmp_path)


def blocks_of_cpp(page: str, words: str) -> str:
    """The blocks of C++ on a page that have these words, one after the other."""
    found = re.findall(r"^```cpp\n(.*?)^```$", (ROOT / f"docs/{page}.md").read_text(), re.S | re.M)
    chosen = [block for block in found if words in block]
    assert chosen, words
    return "".join(chosen)


def run_block(text: str, prefix: Path, tmp_path: Path) -> str:
    """Compile the program of a page against an installed tree, run it as two PEs, and return its output."""
    source, program = tmp_path / "page.cpp", tmp_path / "page"
    source.write_text(text)
    flags = run(
        "pkg-config", "--cflags", "--libs", "atoll", PKG_CONFIG_PATH=str(prefix / "lib" / "pkgconfig")
    )
    run(os.environ.get("CXX", "g++"), "-std=c++20", source, "-o", program, *flags.split())
    return run(prefix / "bin" / "atoll", "run", "-n", "2", program)


def test_the_kernel_of_the_guide_for_cpus(prefix: Path, tmp_path: Path) -> None:
    out = run_block(blocks_of_cpp("guide", "device(atl::Memory::host)"), prefix, tmp_path)
    said = [f"PE {pe} got {2 - pe}, the sum is 3" for pe in (0, 1)]
    assert sorted(out.splitlines()) == said
    assert all(f"`{line}`" in (ROOT / "docs/guide.md").read_text() for line in said)


def test_the_requests_of_the_guide(prefix: Path, tmp_path: Path) -> None:
    head = "#include <atoll/atoll.hpp>\n#include <atoll/requests.hpp>\nvoid compute() {}\nint main() {\natl::Job job;\n"
    arrays = "const atl::Team& team = job.world();\nint src[] = {1, 2}, dst[2] = {};\n"
    block = blocks_of_cpp("guide", "atl::Requests")
    run_block(f"{head}{arrays}{block}return dst[1] == 2 * team.n_pes() ? 0 : 1;\n}}\n", prefix, tmp_path)


ON_A_STREAM = """
#include <atoll/atoll.hpp>
#include <atoll/stream.hpp>
int main() {
    atl::Job job;
    void* const stream = nullptr;
    const std::size_t n = 4;
    const int right = (job.my_pe() + 1) % job.n_pes();
    const auto on_gpu = [&]<class T>(T) { return static_cast<T*>(job.calloc(n, sizeof(T), atl::Memory::device)); };
    float *x = on_gpu(0.0F), *y = on_gpu(0.0F), *grad = on_gpu(0.0F);
    std::uint64_t* signal = on_gpu(std::uint64_t{0});
    for (std::size_t i = 0; i < n; ++i) y[i] = 1.0F + job.my_pe(), grad[i] = 1.0F;
    @STREAM@
    job.world().sync();
    if (x[3] != 1.0F + (job.my_pe() + 1) % 2 || grad[0] != 2.0F) return 1;
    const auto set = [&](std::uint64_t* word) { job.context().signal_set(word, 1, right); };
    @PIN@
}
"""


def test_the_streams_of_the_guide(prefix: Path, tmp_path: Path) -> None:
    """The GPU is the simulated one, whose streams have done their work when a call returns."""
    plugin = BUILD / "simulated/libatoll_cuda.so"
    if not plugin.exists():
        pytest.skip("no simulated GPU: build the target atoll_cuda_simulated")
    tree = tmp_path / "tree"
    shutil.copytree(prefix, tree, symlinks=True)
    (tree / "lib/libatoll_cuda.so").unlink(missing_ok=True)
    (tree / "lib/libatoll_cuda.so").symlink_to(plugin)
    pin = blocks_of_cpp("guide", "job.pin(words, 8)")
    waits = "    set(words);\n" + pin[pin.index("atl::StreamContext") :]
    text = ON_A_STREAM.replace("@PIN@", pin[: pin.index("atl::StreamContext")] + waits)
    run_block(text.replace("@STREAM@", blocks_of_cpp("guide", "StreamTeam(job.world()")), tree, tmp_path)


def test_the_cpp_and_the_cmake_of_the_tutorial_and_of_the_readme(prefix: Path, tmp_path: Path) -> None:
    tutorial = (ROOT / "docs/tutorial.md").read_text()
    (mine,) = re.findall(r"^```cmake\n(.*?)^```$", tutorial, re.S | re.M)
    (readme,) = re.findall(r"^```cmake\n(.*?)^```$", (ROOT / "README.md").read_text(), re.S | re.M)
    (tmp_path / "program.cpp").write_text(blocks_of_cpp("tutorial", "int main()"))
    more = readme.replace("target_link_libraries(program", "target_link_libraries(same")
    project = f"cmake_minimum_required(VERSION 3.25)\nproject(page LANGUAGES CXX)\n{mine}"
    (tmp_path / "CMakeLists.txt").write_text(f"{project}add_executable(same program.cpp)\n{more}")
    run("cmake", "-G", "Ninja", "-S", tmp_path, "-B", tmp_path / "built", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", tmp_path / "built")
    for name in ("program", "same"):
        run(prefix / "bin/atoll", "run", "-n", "2", tmp_path / "built" / name)


def test_a_new_project_builds_and_passes_its_tests(prefix: Path, tmp_path: Path) -> None:
    run(prefix / "bin/atoll", "new", "--cpp", "heat", cwd=tmp_path)
    (setting,) = re.findall(r"-D(CMAKE_PREFIX_PATH)=", (tmp_path / "heat/README.md").read_text())
    home = run(prefix / "bin/atoll", "config", "--cxx", "--home").strip()
    built = tmp_path / "built"
    program = f"-DATOLL={prefix}/bin/atoll"
    run("cmake", "-G", "Ninja", "-S", tmp_path / "heat", "-B", built, f"-D{setting}={home}", program)
    run("cmake", "--build", built)
    assert "100% tests passed" in run("ctest", "--test-dir", built)


def test_the_prefix_has_pages_of_man_and_completion(prefix: Path) -> None:
    share = prefix / "share"
    for page in ("atoll-run", "oshcc", "oshc++", "oshCC", "oshrun", "nvshmrun"):
        assert (share / f"man/man1/{page}.1").is_file()
    for place in (
        "bash-completion/completions/atoll",
        "zsh/site-functions/_atoll",
        "fish/vendor_completions.d/atoll.fish",
    ):
        assert "atoll" in (share / place).read_text()


def test_an_unsupported_platform_is_refused_in_one_sentence(tmp_path: Path) -> None:
    toolchain = tmp_path / "toolchain.cmake"
    toolchain.write_text("set(CMAKE_SYSTEM_NAME Linux)\nset(CMAKE_SYSTEM_PROCESSOR riscv64)\n")
    command = [
        "cmake",
        "-G",
        "Ninja",
        "-S",
        ROOT,
        "-B",
        tmp_path / "build",
        f"-DCMAKE_TOOLCHAIN_FILE={toolchain}",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    said = " ".join(done.stderr.split())
    assert (
        "Atoll supports Linux on x86-64 and aarch64 with glibc 2.31 or newer; this processor is riscv64."
        in said
    )


def test_an_old_python_is_refused_in_one_sentence() -> None:
    program = "import sys; sys.version_info = (3, 9, 0); import build_backend"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT / "cmake", capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "Python 3.10 or newer" in done.stderr and done.stderr.endswith("this is Python 3.9.\n")
