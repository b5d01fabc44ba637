"""The architecture as tests: layers and includes, lengths of files, generated files that must be up to date."""

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from subjects import subject_fault

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from headers import precompiled  # noqa: E402 (found in the folder above)

# The folders of src/ from the lowest to the highest (docs/decisions/0002-layers.md). A file includes files of its own
# folder and of lower ones, never of a higher one or of a neighbour in the same row. `python` is python/src.
ORDER = [
    ["common"],
    ["bootstrap", "memory", "transport"],
    ["gpu"],
    ["core"],
    ["collective"],
    ["stream"],
    ["front", "shmem", "cli", "python"],
    ["nvshmem"],
]
RANK = {layer: rank for rank, row in enumerate(ORDER) for layer in row}
# The plug-in is a library of its own: of src/gpu it knows only the interface.
PLUGIN = ROOT / "src/gpu/cuda"
# Layers that read the environment. `common` reads all settings of ours, `bootstrap` those of other launchers
# (RANK, PMIX_...), and `cli` passes it to its children.
MAY_READ_ENVIRONMENT = {"common", "bootstrap", "cli"}

# Device headers for CUDA's own types and launches; the other headers do not need them.
NEED_CUDA = {"half.hpp", "launch.hpp"}

WARN_LINES, MOST_LINES = 400, 600
# The most files of a folder of sources, without its sub-folders.
MOST_FILES = 26
# Files of src/core that include src/gpu, for the others too (docs/decisions/0056-gpus-in-core.md).
KNOW_GPUS = {
    "src/core/base/device_access.hpp",
    "src/core/base/kernel_memory.hpp",
}
# Files that ask which PEs a transport reaches: the routes of operations, the start of a job, and the words of team ids.
DECIDE_ROUTES = {
    "src/core/base/topology.cpp",
    "src/core/context/route.cpp",
    "src/core/job/ucx_transport.cpp",
    "src/core/team/unique_id.cpp",
}
# The host's slots, and those of kernels.
COMPARE_SLOTS = {
    "include/atoll/detail/slot.hpp",
    "include/atoll/device/detail/far.hpp",
    "include/atoll/device/peers.hpp",
}
# A file, and the reason why it may be longer than MOST_LINES.
LONGER: dict[str, str] = {}
GENERATED = (
    "api/generated/", "tests/shmem/generated/", "python/atoll/_atoll.pyi", "python/atoll/_kernels/numba.pyi",
    "python/atoll/_kernels/triton.pyi", "python/atoll/_kernels/cute.pyi", "bench/results/",
)  # fmt: skip


def tracked(*suffixes: str) -> list[Path]:
    """The project's files by suffix: what git tracks or would."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    files = [ROOT / name for name in run.stdout.splitlines() if name.endswith(suffixes)]
    return [file for file in files if file.is_file()]


def run_quietly(*command: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command in the project's folder and capture its output."""
    return subprocess.run(command, cwd=ROOT, input=text, capture_output=True, text=True, check=False)


def name_of(file: Path) -> str:
    """A file's name within the project."""
    return str(file.relative_to(ROOT))


def layer_of(file: Path) -> str | None:
    """The layer that a source file belongs to."""
    match file.relative_to(ROOT).parts:
        case ("src", layer, *_):
            return layer
        case ("python", "src", *_):
            return "python"
    return None


def includes(file: Path, text: str | None = None) -> Iterator[tuple[str, Path | None]]:
    """Each #include of a file, or of other ``text`` in its place: as written, and the project's file of that name."""
    text = file.read_text() if text is None else text
    for name in re.findall(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', text, re.MULTILINE):
        for folder in (file.parent, ROOT / "src", ROOT / "include", ROOT / "python" / "src"):
            if (found := (folder / name).resolve()).is_file():
                yield name, found
                break
        else:
            yield name, None


CPP = (".c", ".cpp", ".hpp", ".h", ".cu", ".cuh")


def upward(file: Path, text: str | None = None) -> list[str]:
    """The includes of a file that name a folder which it may not know."""
    layer = layer_of(file)
    return [
        f"{name_of(file)} includes {name}: src/{layer} may not know {other}"
        for name, found in includes(file, text)
        if layer is not None and found is not None and (other := layer_of(found)) not in (None, layer)
        if RANK[other] >= RANK[layer]
    ]


def test_lower_layers_never_include_higher_ones() -> None:
    wrong = [line for file in tracked(*CPP) if layer_of(file) in RANK for line in upward(file)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("place", "name", "is_wrong"),
    [
        ("src/common", "transport/transport.hpp", True),
        ("src/memory", "transport/transport.hpp", True),
        ("src/core/job", "common/settings/settings.hpp", False),
        ("src/core/job", "front/job.cpp", True),
        ("src/shmem", "cli/cli.hpp", True),
        ("src/stream", "collective/state.hpp", False),
    ],
)
def test_an_upward_include_is_found(place: str, name: str, is_wrong: bool) -> None:
    assert bool(upward(ROOT / place / "some.cpp", f'#include "{name}"\n')) == is_wrong


# Public headers whose objects the core makes. Layers below it reach none of them, through other headers neither.
OF_THE_CORE = re.compile(r"include/atoll/(job|team|context|array|lock|mailbox|requests|device_mailbox)[.]hpp")
BELOW_THE_CORE = ("common", "bootstrap", "memory", "transport", "gpu")


def reached(file: Path, text: str | None = None) -> set[str]:
    """The public headers that a file includes, directly or through others."""
    names: set[str] = set()
    left = [found for _, found in includes(file, text) if found]
    while left:
        found = left.pop()
        if found.is_relative_to(ROOT / "include") and name_of(found) not in names:
            names.add(name_of(found))
            left += [other for _, other in includes(found) if other]
    return names


def test_layers_below_the_core_include_no_public_header_of_it() -> None:
    low = [file for file in tracked(*CPP) if layer_of(file) in BELOW_THE_CORE]
    assert len(low) > 100
    wrong = [
        f"{name_of(file)} reaches {name}" for file in low for name in reached(file) if OF_THE_CORE.match(name)
    ]
    assert not wrong, "\n".join(wrong)


def test_a_public_header_of_the_core_is_found() -> None:
    assert "include/atoll/job.hpp" in reached(ROOT / "src/gpu/some.cpp", '#include "atoll/atoll.hpp"\n')


def cycle(graph: dict[str, list[str]]) -> list[str]:
    """The files of one circle of includes, the first one repeated at the end. Empty without a circle."""
    done: set[str] = set()

    def walk(name: str, path: list[str]) -> list[str]:
        if name in path:
            return [*path[path.index(name) :], name]
        if name in done:
            return []
        for other in graph.get(name, []):
            if found := walk(other, [*path, name]):
                return found
        done.add(name)
        return []

    return next((found for name in graph if (found := walk(name, []))), [])


def test_no_file_includes_itself_through_others() -> None:
    graph = {
        name_of(file): [name_of(found) for _, found in includes(file) if found]
        for file in tracked(*CPP)
        if file.is_relative_to(ROOT / "include") or layer_of(file)
    }
    assert cycle(graph) == []


def test_folders_of_a_layer_form_no_circle() -> None:
    graphs: dict[str, dict[str, list[str]]] = {layer: {} for layer in RANK}
    for file in tracked(*CPP):
        if layer := layer_of(file):
            folders = graphs[layer].setdefault(name_of(file.parent), [])
            folders += [
                name_of(found.parent)
                for _, found in includes(file)
                if found is not None and layer_of(found) == layer and found.parent != file.parent
            ]
    circles = {layer: found for layer, graph in graphs.items() if (found := cycle(graph))}
    assert circles == {}


def test_folders_of_public_headers_form_no_circle() -> None:
    """A folder and its `detail` count as one: templates need their helpers, and these need the public types.

    anywhere.hpp is below kernels and hosts.
    """

    def folder_of(file: Path) -> str:
        return name_of(file if file.name == "anywhere.hpp" else file.parent).removesuffix("/detail")

    graph: dict[str, list[str]] = {}
    for file in tracked(*CPP, ".h"):
        if file.is_relative_to(ROOT / "include"):
            others = [
                found for _, found in includes(file) if found and found.is_relative_to(ROOT / "include")
            ]
            graph.setdefault(folder_of(file), []).extend(
                folder_of(found) for found in others if folder_of(found) != folder_of(file)
            )
    assert "include/atoll/device" in graph["include/atoll"]
    assert cycle(graph) == []


def test_folders_of_the_core_have_the_order_of_their_page() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text()
    order = re.findall(r"^\| `(src/core/\w+)` \|", page, re.MULTILINE)
    core = [file for file in tracked(*CPP) if layer_of(file) == "core"]
    assert set(order) == {name_of(file.parent) for file in core}
    wrong = [
        f"{name_of(file)} includes {name}"
        for file in core
        for name, found in includes(file)
        if found is not None and layer_of(found) == "core"
        if order.index(name_of(found.parent)) > order.index(name_of(file.parent))
    ]
    assert not wrong, f"a later row of ARCHITECTURE.md: {wrong}"


def test_a_circle_is_found() -> None:
    assert cycle({"a": ["b"], "b": ["c", "d"], "c": [], "d": ["b"]}) == ["b", "d", "b"]
    assert cycle({"a": ["b", "c"], "b": ["c"], "c": []}) == []


def test_folders_are_small() -> None:
    counts = Counter(
        file.parent
        for file in tracked(*CPP, ".h", ".py", ".pyi")
        if name_of(file).startswith(("src/", "include/", "python/"))
    )
    wrong = {name_of(folder): count for folder, count in counts.items() if count > MOST_FILES}
    assert not wrong, f"more than {MOST_FILES} files; make sub-folders: {wrong}"


def test_every_source_folder_is_a_known_layer() -> None:
    folders = {layer for file in tracked(*CPP) if (layer := layer_of(file))}
    assert folders == RANK.keys(), f"not in ORDER, or gone: {folders ^ RANK.keys()}"


def test_the_plugin_knows_only_the_interface_of_gpus() -> None:
    wrong = [
        f"{name_of(file)} includes {name}"
        for file in tracked(*CPP)
        if file.is_relative_to(PLUGIN)
        for name, found in includes(file)
        if found is not None and layer_of(found) == "gpu"
        if not found.is_relative_to(PLUGIN) and found.parent != PLUGIN.parent
    ]
    assert not wrong, "\n".join(wrong)


def test_public_headers_include_only_public_headers() -> None:
    wrong = [
        f"{name_of(file)} includes {name}"
        for file in tracked(".hpp", ".h")
        if file.is_relative_to(ROOT / "include")
        for name, found in includes(file)
        if found is not None and not found.is_relative_to(ROOT / "include")
    ]
    assert not wrong, "\n".join(wrong)


def test_the_namespace_is_atl() -> None:
    # C declares ::atoll(const char*) in <stdlib.h>, so a namespace of that name cannot exist beside it.
    wrong = [name_of(file) for file in tracked(*CPP) if re.search(r"\bnamespace\s+atoll\b", file.read_text())]
    assert not wrong, f"the namespace is atl: {wrong}"


def test_the_environment_is_read_in_one_place() -> None:
    wrong = [
        name_of(file)
        for file in tracked(*CPP)
        if (layer := layer_of(file)) and layer not in MAY_READ_ENVIRONMENT
        if re.search(r"\bgetenv\s*\(", file.read_text())
    ]
    assert not wrong, f"settings are read in src/common; these call getenv: {wrong}"


@pytest.mark.compiles
@pytest.mark.timeout(1500)  # compiles for 20 s of a core
def test_every_public_header_compiles_alone(tmp_path: Path) -> None:
    """The standard headers are precompiled: test_includes.py finds those that a header uses and does not include."""
    generated = ROOT / "build" / "release" / "generated" / "include"
    headers = [file for file in tracked(".hpp") if file.is_relative_to(ROOT / "include")]
    # mpi.hpp is left out: it needs <mpi.h>, and its other headers are in this list.
    headers = [file for file in headers if file.name != "mpi.hpp"]
    compiler = os.environ.get("CXX", "g++")
    cuda = run_quietly(compiler, "-fsyntax-only", "-x", "c++", "-", text="#include <cuda_runtime.h>\n")
    if cuda.returncode != 0:
        headers = [file for file in headers if "#include <cuda_" not in file.read_text()]

    flags = ["-std=c++20", "-Wall", "-Wextra", *precompiled(compiler, tmp_path)]
    flags += ["-fsyntax-only", "-Werror", f"-I{ROOT}/include", f"-I{generated}"]

    def compile_alone(header: Path) -> str:
        # Included twice, so that a missing guard is found too.
        name = header.relative_to(ROOT / "include")
        text = f"#include <{name}>\n#include <{name}>\n"
        run = run_quietly(compiler, *flags, "-x", "c++", "-", text=text)
        return "" if run.returncode == 0 else f"{name}:\n{run.stderr[:2000]}"

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        wrong = [report for report in pool.map(compile_alone, headers) if report]
    assert not wrong, "\n".join(wrong)


@pytest.mark.compiles
def test_device_headers_are_cpp17_and_need_no_other_headers() -> None:
    # The compilers of kernels (nvcc at its default, NVRTC) accept them; code for the host alone is
    # conditional.
    headers = [file for file in tracked(".hpp") if file.is_relative_to(ROOT / "include" / "atoll" / "device")]
    assert headers
    for header in headers:
        of_cuda = header.name in NEED_CUDA
        for name, _ in includes(header):
            allowed = name.startswith("atoll/device/") or name in {
                "atoll/anywhere.hpp",
                "sched.h",
                "sys/syscall.h",
                "time.h",
                "unistd.h",
            }
            allowed = allowed or (of_cuda and name.startswith("cuda_")) or (of_cuda and name == "cstddef")
            assert allowed, f"{name_of(header)} includes {name}"
        if of_cuda:
            continue
        text = f"#include <{header.relative_to(ROOT / 'include')}>\n"
        flags = ["-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}/include"]
        run = run_quietly(os.environ.get("CXX", "g++"), *flags, "-x", "c++", "-", text=text)
        assert run.returncode == 0, f"{name_of(header)}:\n{run.stderr[:2000]}"


def test_files_are_short() -> None:
    sizes = {
        name_of(file): len(file.read_bytes().splitlines())
        for file in tracked(".c", ".cpp", ".hpp", ".h", ".cu", ".cuh", ".py", ".cmake", ".sh")
        if not name_of(file).startswith(GENERATED)
    }
    for name in sorted(sizes, key=lambda name: -sizes[name]):
        if sizes[name] > WARN_LINES:
            print(f"{sizes[name]} lines: {name}")  # shown with -s or -rP; a hint, not a failure
    wrong = [
        f"{name}: {size} lines" for name, size in sizes.items() if size > MOST_LINES and name not in LONGER
    ]
    assert not wrong, f"above {MOST_LINES} lines; split it, or give the reason in LONGER: {wrong}"
    stale = [name for name in LONGER if sizes.get(name, 0) <= MOST_LINES]
    assert not stale, f"no longer above {MOST_LINES} lines, so take it out of LONGER: {stale}"


def test_generated_files_are_in_step() -> None:
    # Every generator of the project accepts --check and reports differences.
    for generator in tracked("generate.py"):
        run = run_quietly(sys.executable, str(generator), "--check")
        assert run.returncode == 0, f"{name_of(generator)} --check:\n{run.stdout}{run.stderr}"


def test_nothing_calls_multicast() -> None:
    # NVLink multicast can put GPUs that others share out of service; no operation of ours needs it.
    name = "cu" + "Multicast"
    wrong = [name_of(file) for file in tracked(*CPP, ".py", ".pyi") if name in file.read_text()]
    assert not wrong, f"these name {name}*: {wrong}"


def test_the_core_knows_no_cuda() -> None:
    # The GPU part is loaded when a GPU is first used; everything else is built and runs without CUDA.
    wrong = [
        f"{name_of(file)} includes {name}"
        for file in tracked(*CPP)
        if layer_of(file) and not file.is_relative_to(PLUGIN)
        for name, _ in includes(file)
        if name.startswith(("cuda", "nvml"))
    ]
    assert not wrong, "\n".join(wrong)


def test_every_build_has_the_network() -> None:
    # src/transport/ucx/interface.hpp declares UCX, so that a build without UCX's headers reaches other hosts too.
    wrong = [
        f"{name_of(file)} includes {name}"
        for file in tracked(*CPP)
        if layer_of(file)
        for name, _ in includes(file)
        if name.startswith(("ucp/", "ucs/", "uct/"))
    ]
    assert not wrong, "\n".join(wrong)


def test_nothing_is_left_unfinished() -> None:
    marks = re.compile(r"\b(" + "|".join(("TO" + "DO", "FIX" + "ME", "XX" + "X")) + r")\b")
    wrong = [
        f"{name_of(file)}:{number}: {line.strip()}"
        for file in tracked(
            *CPP, ".cu", ".cuh", ".py", ".pyi", ".cmake", ".sh", ".md", ".toml", ".txt", "Makefile"
        )
        for number, line in enumerate(file.read_text(errors="replace").splitlines(), 1)
        if marks.search(line)
    ]
    assert not wrong, "\n".join(wrong)


def test_no_registry_is_named() -> None:
    # Packages come from the index that the user's own tools are configured for.
    hosts = ("py" + "pi.org", "python" + "hosted.org", "deb.debian" + ".org", "--index" + "-url")
    wrong = [
        f"{name_of(file)} names {host}"
        for file in tracked("")
        if file.stat().st_size < 1 << 20
        for host in hosts
        if host in file.read_text(errors="replace")
    ]
    assert not wrong, "\n".join(wrong)


def test_two_files_of_the_core_know_gpus() -> None:
    found = {
        name_of(file)
        for file in tracked(*CPP)
        if layer_of(file) == "core"
        for _, other in includes(file)
        if other is not None and layer_of(other) == "gpu"
    }
    assert found == KNOW_GPUS, (
        f"include a file of KNOW_GPUS instead, or move to src/stream: {found ^ KNOW_GPUS}"
    )


def test_near_or_far_is_decided_in_one_file() -> None:
    """Operations ask the functions of route.hpp, not the topology or the device heap."""
    asks = re.compile(r"\bfar\(\)\.has\(|\.has_window_to\(|\bslot\(.*\)\.is_near\(")
    found = {
        name_of(file)
        for file in tracked(".cpp", ".hpp")
        if layer_of(file) in ("core", "collective", "stream", "front")
        for line in file.read_text().splitlines()
        if asks.search(line)
    }
    assert found == DECIDE_ROUTES, f"call a function of src/core/context/route.hpp: {found ^ DECIDE_ROUTES}"


def test_fronts_ask_one_file_whether_a_pe_is_near() -> None:
    """Python's calls take addresses from near_address.hpp, which are null for far PEs."""
    asks = re.compile(r"(?:\.|->)(?:is_near|near_at)\(|\bfar\(\)\.has\(|\.has_window_to\(")
    found = {
        name_of(file)
        for file in tracked(".cpp", ".hpp")
        if layer_of(file) in ("python", "shmem", "cli", "nvshmem")
        if asks.search(file.read_text())
    }
    assert found == {"python/src/arrays/near_address.hpp"}


def test_one_file_compares_slots() -> None:
    """A far PE has no slot. All other code asks `Slot::is_near`."""
    slot = (
        r"(?:\bslot|\bslots?_?\[.*\]|\b(?:host_)?slot(?:_of)?\(.*\)|\broute(?:_\w+)?\(.*\))(?:\.number\(\))?"
    )
    compared = re.compile(rf"{slot} *(?:<|>|<=|>=|==|!=) *-?[01]\b")
    found = [
        f"{name_of(file)}: {line.strip()}"
        for file in tracked(*CPP)
        if (layer_of(file) or name_of(file).startswith("include")) and name_of(file) not in COMPARE_SLOTS
        for line in file.read_text().splitlines()
        if compared.search(line)
    ]
    assert not found, "ask Slot::is_near or Window::near_at:\n" + "\n".join(found)


def test_the_version_is_stated_once() -> None:
    version = re.search(r"project\(atoll VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())
    assert version
    assert 'dynamic = ["version"]' in (ROOT / "pyproject.toml").read_text()
    assert f"## {version[1]}" in (ROOT / "CHANGELOG.md").read_text(), (
        "CHANGELOG.md lacks this version's section"
    )


def test_python_requirements_agree() -> None:
    text = (ROOT / "pyproject.toml").read_text()
    development = (ROOT / "requirements-dev.txt").read_text()
    required = re.findall(r"\"([a-z-]+>=[0-9.]+); python_version>='3.10'\"", text)
    assert len(required) == 3
    for requirement in required:
        assert requirement in development, f"{requirement} of pyproject.toml is not in requirements-dev.txt"


def test_the_page_of_collectives_is_the_table_of_the_code() -> None:
    code = (ROOT / "src/collective/table.cpp").read_text()
    rows = re.findall(r"\{Collective::(\w+), (\w+), ([^,]+), ([^,]+), ([^,}]+)(, true)?\}", code)
    sized = {row[:5] for row in rows if row[2:5] != ("0", "0", "0")}
    page = re.findall(
        r"^\| `(\w+)` \| `(\w+)` \| (.+?) \| (.+?) \| (.+?) \|",
        (ROOT / "docs/collectives.md").read_text(),
        re.M,
    )
    assert {(c, a, *(size.replace("KiB", "* KiB") for size in sizes)) for c, a, *sizes in page} == sized


# Subjects of commits before this moment may break the rules: what has landed keeps its hash.
SUBJECTS_SINCE = {"--no-merges": "2026-11-27T11:30:00Z", "--merges": "2026-11-30T20:00:00Z"}


@pytest.mark.parametrize("commits", SUBJECTS_SINCE)
def test_commit_subjects_are_imperative_and_short(commits: str) -> None:
    log = run_quietly("git", "log", commits, "--format=%s", f"--since={SUBJECTS_SINCE[commits]}")
    if log.returncode != 0:
        pytest.skip("no history here")
    wrong = [f"{fault}: {line}" for line in log.stdout.splitlines() if (fault := subject_fault(line))]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("subject", "is_right"),
    [
        ("Name the PE that is missing", True),
        ("Bring numpydoc sections to all names", True),
        ("The name of the PE", False),
        ("Added a test", False),
        ("Adds a test", False),
        ("add a test", False),
        ("Add a test.", False),
        ("Add " + "a" * 70, False),
        ("Merge the plain-English check of every sentence", True),
        ("Merge branch 'eng' of /work/wt/eng", False),
        ("Merge remote-tracking branch 'origin/main'", False),
    ],
)
def test_a_wrong_subject_is_found(subject: str, is_right: bool) -> None:
    assert (subject_fault(subject) is None) == is_right


def test_the_hook_of_messages_checks_subjects(tmp_path: Path) -> None:
    message, program = tmp_path / "message", [sys.executable, str(ROOT / "tests/layout/subjects.py")]
    message.write_text("Added a test\n\nIt is needed.\n")
    refused = run_quietly(*program, str(message))
    assert (refused.returncode, refused.stderr) == (
        1,
        "The subject of the commit is not imperative: Added a test\n",
    )
    message.write_text("Add a test\n\nAdded because it is needed.\n")
    assert run_quietly(*program, str(message)).returncode == 0
    hooks = (ROOT / ".pre-commit-config.yaml").read_text()
    assert "entry: .venv/bin/python tests/layout/subjects.py" in hooks
    # Without this line `pre-commit install` installs the hook of pre-commit alone.
    assert re.search(r"^default_install_hook_types: \[pre-commit, commit-msg\]$", hooks, re.MULTILINE)
