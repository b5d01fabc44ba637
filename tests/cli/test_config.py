"""`atoll config`: its flags compile and link programs."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ATOLL = ROOT / ".venv/bin/atoll"  # launcher of an installed tree, which users have


def atoll(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(ATOLL), *arguments], capture_output=True, text=True, check=False, timeout=280,
        env=os.environ | variables,
    )  # fmt: skip


@pytest.fixture
def compiler() -> str:
    found = shutil.which("cc") or shutil.which("gcc")
    if found is None:
        pytest.skip("no C compiler")
    return found


def ring(text: str) -> str:
    """Return the program of docs/from-nvshmem.md."""
    found = re.search(r"```c\n(.*?)```", text, re.DOTALL)
    assert found
    return found.group(1)


def test_the_pages_program(compiler: str, tmp_path: Path) -> None:
    source, program = tmp_path / "ring.c", tmp_path / "ring"
    source.write_text(ring((ROOT / "docs/from-nvshmem.md").read_text()))
    flags = atoll("config", "--nvshmem").stdout.split()
    built = subprocess.run(
        [compiler, "-Wall", "-Werror", str(source), *flags, "-o", str(program)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    done = atoll("run", "-n", "3", str(program))
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(done.stdout.splitlines()) == [f"PE {pe} of 3 got {(pe + 2) % 3}" for pe in range(3)]
    given = {
        "NVSHMEM_SYMMETRIC_SIZE": "48m",
        "NVSHMEM_INFO": "1",
        "NVSHMEM_HEAP_KIND": "SYSMEM",
        "NVSHMEM_BOOTSTRAP": "PMI",
    }
    done = atoll(
        "run", "-n", "2", str(program), NVSHMEM_IB_ENABLE_IBGDA="1", NVSHMEM_DISABLE_NVLS="1", **given
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"ATOLL_HEAP_SIZE = 48m \(NVSHMEM_SYMMETRIC_SIZE\)", done.stdout + done.stderr)
    warning = "NVSHMEM_DISABLE_NVLS and NVSHMEM_IB_ENABLE_IBGDA have no effect on Atoll"
    assert done.stderr.count("NVSHMEM_IB") == done.stderr.count(warning) == 1
    done = atoll("run", "-n", "2", str(program), NVSHMEM_HEAP_KIND="MANAGED")
    assert done.returncode != 0 and "NVSHMEM_HEAP_KIND=MANAGED cannot be read" in done.stderr


def test_a_call_before_init_is_named(compiler: str, tmp_path: Path) -> None:
    source, program = tmp_path / "early.c", tmp_path / "early"
    source.write_text("#include <nvshmem.h>\nint main(void) { nvshmem_barrier_all(); return 0; }\n")
    flags = atoll("config", "--nvshmem").stdout.split()
    subprocess.run([compiler, str(source), *flags, "-o", str(program)], check=True)
    done = atoll("run", "-n", "1", str(program))
    assert done.returncode != 0
    assert "nvshmem_barrier_all" in done.stderr
    assert "call nvshmem_init first" in done.stderr


def test_a_home_holds_headers_and_library() -> None:
    home = Path(atoll("config", "--nvshmem-home").stdout.strip())
    assert atoll("config", "--nvshmem", "--home").stdout.strip() == str(home)
    assert (home / "include/nvshmem.h").exists()
    for name in (
        "libnvshmem_host.so",
        "libnvshmem_host.so.3",
        "libnvshmem.so",
        "libnvshmem_device.a",
        "cmake/nvshmem/NVSHMEMConfig.cmake",
    ):
        assert (home / "lib" / name).exists()
    assert not (Path(atoll("config", "--cxx", "--home").stdout.strip()) / "include/nvshmem.h").exists()


@pytest.mark.parametrize(
    "arguments",
    [(), ("--nvshmem", "--flags"), ("--nvshmem-home", "--libs"), ("--cxx", "--shmem"), ("--libs",), ("--cflags", "--libs")],
)  # fmt: skip
def test_mistakes_show_the_usage(arguments: tuple[str, ...]) -> None:
    done = atoll("config", *arguments)
    assert done.returncode == 2
    assert "usage: atoll config" in done.stderr
    if not set(arguments) - {"--cflags", "--libs"}:
        assert "name one of --cxx, --shmem and --nvshmem" in done.stderr.splitlines()[0]
    if arguments == ("--cxx", "--shmem"):
        assert "`--cxx` and `--shmem` were given: name one" in done.stderr.splitlines()[0]


@pytest.mark.parametrize("library", ["--cxx", "--shmem", "--nvshmem"])
def test_flags_are_asked_for_as_of_pkg_config(library: str) -> None:
    both = atoll("config", library).stdout
    assert both.startswith("-I") and " -L" in both
    for arguments in ((library, "--cflags", "--libs"), ("--libs", library, "--cflags")):
        done = atoll("config", *arguments)
        assert (done.returncode, done.stdout) == (0, both), done.stderr
    compile_flags, link_flags = (atoll("config", library, part).stdout for part in ("--cflags", "--libs"))
    assert compile_flags.split() + link_flags.split() == both.split()
    home, prefix = (atoll("config", library, part).stdout for part in ("--home", "--prefix"))
    assert home == prefix and compile_flags == f"-I{home.strip()}/include\n"


def test_config_tells_the_version() -> None:
    assert f"atoll {atoll('config', '--version').stdout}" == atoll("--version").stdout


def test_nvshmrun_finds_its_launcher_without_path() -> None:
    home = atoll("config", "--nvshmem-home").stdout.strip()
    command = [f"{home}/bin/nvshmrun", "-n", "2", "/bin/echo", "here"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={"PATH": "/usr/bin:/bin"})
    assert (done.returncode, done.stdout) == (0, "here\nhere\n"), done.stderr


def built(compiler: str, folder: Path, body: str, *flags: str) -> str:
    """Compile a program of NVSHMEM's and return its path."""
    source = folder / "program.c"
    head = "#include <nvshmem.h>\n#include <nvshmemx.h>\nint main(void) {\n"
    source.write_text(f"{head}{body}\nreturn 0;\n}}\n")
    libraries = atoll("config", "--nvshmem").stdout.split()
    subprocess.run([compiler, str(source), *flags, *libraries, "-o", str(folder / "program")], check=True)
    return str(folder / "program")


WRONG = {
    "nvshmem_team_split_strided(NVSHMEM_TEAM_WORLD, 0, 3, 2, NULL, 0, &team)": "; NVSHMEM_DEBUG=1 reports all of them.",
    "nvshmem_team_split_2d(NVSHMEM_TEAM_WORLD, 0, NULL, 0, &team, NULL, 0, &team)": "; NVSHMEM_DEBUG=1 reports",
    "nvshmem_int_sum_reduce(77, a, a, 4)": "nvshmem_int_sum_reduce: team 77 does not exist on this PE",
    "nvshmem_barrier(-1)": "nvshmem_barrier: NVSHMEM_TEAM_INVALID was passed as a team",
    "nvshmem_team_split_strided(55, 0, 1, 1, NULL, 0, &team)": "nvshmem_team_split_strided: parent_team: team 55 does not exist",
    "nvshmemx_qp_create(-3, &pairs)": "nvshmemx_qp_create: num_qps: -3 was passed; pass 0 or more",
    "nvshmemx_buffer_register_symmetric(a, 64, 0) == NULL": "buf_ptr: only GPU memory can be registered, so NULL is returned",
}


@pytest.mark.parametrize("call", WRONG)
def test_wrong_arguments_have_a_sentence_and_a_status(compiler: str, tmp_path: Path, call: str) -> None:
    start = (
        "nvshmem_team_t team = 5; nvshmemx_qp_handle_t* pairs; nvshmem_init(); int* a = nvshmem_malloc(64);"
    )
    end = 'if (wrong == 0) return 1;\nprintf("goes on\\n"); (void)team; (void)pairs; (void)a; nvshmem_finalize();'
    program = built(compiler, tmp_path, f"{start}\nint wrong = {call};\n{end}")
    done = atoll("run", "-n", "1", program, NVSHMEM_HEAP_KIND="SYSMEM")
    assert (done.returncode, done.stdout) == (0, "goes on\n"), done.stderr
    assert f"atoll: PE 0, {call.partition('(')[0]}: " in done.stderr and WRONG[call] in done.stderr
    assert " SHMEM_TEAM_INVALID" not in done.stderr


ENDING = {
    "nvshmemx_signal_wait_until_on_stream((uint64_t*)a, 17, 1, 0)": "pass NVSHMEM_CMP_EQ, NE, GT",
    "nvshmemx_signal_op((uint64_t*)a, 1, 17, 0)": "17 is neither NVSHMEM_SIGNAL_SET nor NVSHMEM_SIGNAL_ADD",
    "nvshmem_int_put(here, a, 4, 0)": "Such memory is from nvshmem_malloc.",
    "nvshmem_team_destroy(NVSHMEM_TEAM_WORLD)": "nvshmem_team_destroy: The world team cannot be destroyed",
}


@pytest.mark.parametrize("call", ENDING)
def test_errors_have_nvshmems_names(compiler: str, tmp_path: Path, call: str) -> None:
    body = f"int here[4] = {{0}}; nvshmem_init(); int* a = nvshmem_malloc(64); {call}; (void)a; (void)here;"
    done = atoll("run", "-n", "1", built(compiler, tmp_path, body), NVSHMEM_HEAP_KIND="SYSMEM")
    assert done.returncode == 1, done.stdout
    assert f"{call.partition('(')[0]}: " in done.stderr and ENDING[call] in done.stderr
    assert re.search(r"(?<![nN][vV])(shmem|SHMEM)_", done.stderr) is None, done.stderr


def test_the_name_of_nvidias_library_file_is_the_same_library(compiler: str, tmp_path: Path) -> None:
    library = Path(atoll("config", "--nvshmem-home").stdout.strip()) / "lib"
    source = tmp_path / "program.c"
    source.write_text("""#include <stdio.h>
    int nvshmem_n_pes(void);
    void nvshmem_init(void), nvshmem_finalize(void);
    int main(void) { nvshmem_init(); printf("%d\\n", nvshmem_n_pes()); nvshmem_finalize(); return 0; }
    """)
    flags = [
        f"-L{library}",
        f"-Wl,-rpath,{library}",
        "-l:libnvshmem_host.so.3",
        "-o",
        str(tmp_path / "program"),
    ]
    subprocess.run([compiler, str(source), *flags], check=True)
    done = atoll("run", "-n", "2", str(tmp_path / "program"))
    assert (done.returncode, done.stdout) == (0, "2\n2\n"), done.stderr
    numbered, plain = (ctypes.CDLL(str(library / f"libnvshmem_host.so{end}")) for end in (".3", ""))
    same = [ctypes.cast(each.nvshmem_my_pe, ctypes.c_void_p).value for each in (numbered, plain)]
    assert same[0] == same[1]


def test_kernels_without_a_gpu_are_announced_once(compiler: str, tmp_path: Path) -> None:
    """The program registers a module as code of nvcc does."""
    body = """
    static struct { int (*fill)(const void*, unsigned long); int far; unsigned long filled; void* next; } module;
    extern void atoll_nvshmem_add_module(void*);
    if (getenv("WITH_KERNELS")) atoll_nvshmem_add_module(&module);
    nvshmem_init();
    nvshmem_malloc(8), nvshmem_malloc(8);
    nvshmem_finalize();
    """
    program = built(compiler, tmp_path, body)
    with_kernels = {"NVSHMEM_HEAP_KIND": "SYSMEM", "WITH_KERNELS": "1"}
    done = atoll("run", "-n", "2", program, **with_kernels)
    assert done.returncode == 0 and done.stderr.count("kernels of this program cannot use it") == 1, (
        done.stderr
    )
    assert "kernels" not in atoll("run", "-n", "2", program, NVSHMEM_HEAP_KIND="SYSMEM").stderr


def test_reports_name_the_programs_line(compiler: str, tmp_path: Path) -> None:
    body = "nvshmem_init();\nif (nvshmem_my_pe() == 0) nvshmem_barrier_all();\nelse nvshmem_int_sum_reduce(0, 0, 0, 0);"
    done = atoll("run", "-n", "2", built(compiler, tmp_path, body, "-g"))
    assert done.returncode != 0
    assert re.search(r"program\.c:[56]", done.stderr) and "libnvshmem_host.so+" not in done.stderr, (
        done.stderr
    )


def test_a_multicast_address_without_a_check(compiler: str, tmp_path: Path) -> None:
    body = (
        "nvshmem_init();\nint* volatile a = nvshmemx_mc_ptr(NVSHMEM_TEAM_WORLD, nvshmem_malloc(64));\n*a = 1;"
    )
    done = atoll("run", "-n", "1", built(compiler, tmp_path, body), ATOLL_CHECK="all")
    assert done.returncode != 0 and "nvshmemx_mc_ptr returns NULL" in done.stderr


@pytest.mark.parametrize("init", ["(nvshmem_init(), 0)", "nvshmemx_init_attr(0, NULL)"])
def test_another_library_with_the_names_is_refused(compiler: str, tmp_path: Path, init: str) -> None:
    program = built(compiler, tmp_path, f"if ({init} != 0) return 1;")
    other = tmp_path / "libnvshmem_host.so.3"
    text = "int nvshmem_n_pes(void) { return 7; }\nint nvshmemx_hostlib_init_attr(unsigned f, void* a) { return f + !!a; }"
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-xc", "-", "-o", str(other)], input=text, text=True, check=True
    )
    done = atoll("run", "-n", "1", "env", f"LD_PRELOAD={other}", program)
    assert done.returncode == 1, done.stderr
    assert f"another library with NVSHMEM's names is loaded in this process: {other}" in done.stderr


def test_a_job_by_a_unique_id_that_the_program_copied(compiler: str, tmp_path: Path) -> None:
    """The program passes the identifier as 128 bytes, as those of NVSHMEM have it."""
    body = """
    char sent[128];
    nvshmemx_uniqueid_t made = NVSHMEMX_UNIQUEID_INITIALIZER, received;
    if (nvshmemx_get_uniqueid(&made) != 0) return 2;
    memcpy(sent, &made, sizeof made);
    memcpy(&received, sent, sizeof received);
    nvshmemx_init_attr_t attr = NVSHMEMX_INIT_ATTR_INITIALIZER;
    nvshmemx_set_attr_uniqueid_args(0, 1, &received, &attr);
    if (nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attr) != 0) return 3;
    printf("%d of %d\\n", nvshmem_my_pe(), nvshmem_n_pes());
    nvshmem_finalize();
    received.internal[0] = 'x';
    if (nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attr) == 0) return 4;
    """
    done = subprocess.run(
        [built(compiler, tmp_path, body)], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout) == (0, "0 of 1\n"), done.stderr
    assert "nvshmemx_get_uniqueid" in done.stderr
