"""Classes stay small: at most 25 public methods, and `mutable` only for what const may change."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from test_layout import ROOT, name_of, tracked

MOST_METHODS = 25
# A GPU is known by these interfaces, so that a plug-in for another one has little to implement.
MOST_METHODS_OF_GPU = 10
GPU_INTERFACES = {
    "src/gpu/gpu.hpp Gpu",
    "src/gpu/gpu_memory.hpp GpuMemory",
    "src/gpu/gpu_executor.hpp GpuExecutor",
    "src/gpu/gpu_pinning.hpp GpuPinning",
}
# File and name of a class, and the reason why it may have more public methods. Constructors and operators do not count;
# overloads count once.
MORE = {
    "include/atoll/atomics.hpp AtomicOps": "public: OpenSHMEM's atomics, one name each",
    "include/atoll/context.hpp Context": "public: RMA, atomics and waits of OpenSHMEM, by its bases",
    "include/atoll/job.hpp Job": "public: OpenSHMEM's set-up, teams and symmetric memory, one name each",
    "include/atoll/team.hpp Team": "public: OpenSHMEM's teams, and an erased form of each collective for the fronts",
    "include/atoll/requests.hpp Requests": "public: each collective, and its erased form for the fronts",
    "include/atoll/rma.hpp RmaOps": "public: OpenSHMEM's RMA, one name each, with those of ContextBase",
    "include/atoll/stream.hpp StreamTeam": "public: OpenSHMEM's collectives in stream order",
    "include/atoll/waits.hpp WaitOps": "public: OpenSHMEM's waits and tests, with atomics and RMA as bases",
    "include/atoll/stream.hpp StreamContext": "public: OpenSHMEM's RMA, atomics and signals in stream order",
    "python/atoll/_c10d/backend.hpp AtollBackend": "overrides the methods of PyTorch's c10d::Backend",
    "src/transport/loopback/loopback.cpp Loopback": "overrides the methods of the five interfaces of a transport",
    "src/transport/transport.hpp Transport": "all five interfaces of a transport, for the job that owns it",
    "src/transport/ucx/engine.hpp Engine": "the state of UCX, which callbacks of the library reach",
    "src/transport/ucx/ucx.cpp Ucx": "overrides the methods of the five interfaces of a transport",
}

# The same for Python.
MORE_OF_PYTHON = {
    "python/atoll/arrays/_array.py DistArray": "public: NumPy's methods of arrays, by its bases",
    "python/atoll/arrays/_layout.py Layout": "public: how an array is distributed, a question a method",
    "python/atoll/arrays/_libraries/_cupy.py CuPy": "overrides the methods of Library",
    "python/atoll/arrays/_libraries/_library.py Library": "the functions of NumPy that arrays need, for each library",
    "python/atoll/arrays/_libraries/_torch.py Torch": "overrides the methods of Library",
    "python/atoll/arrays/_methods/_derived.py Derived": "a DistArray that refuses writes",
    "python/atoll/nccl/communicator.py Communicator": "public: NCCL4Py's methods, one name each",
}

COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"', re.DOTALL)
CLASS = re.compile(
    r"^[ \t]*(?:template <[^;{]*> ?)?(class|struct) (?:ATOLL_API |alignas\(\w+\) )?(\w+)([^;(){}]*)\{",
    re.MULTILINE,
)
BASE = re.compile(r"\bpublic (?:[\w]+::)*(\w+)")
BASE_OF_STRUCT = re.compile(r"(?<!:)[:,] *(?:public )?(?:[\w]+::)*(\w+)")
ACCESS = re.compile(r"\b(public|protected|private):")
KEYWORDS = {"if", "for", "while", "switch", "return", "sizeof", "alignas", "decltype", "noexcept", "requires"}


def block_end(text: str, start: int) -> int:
    """The position after the brace that closes the one before `start`."""
    depth = 1
    for at in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return at + 1
    return len(text)


def without_blocks(body: str) -> str:
    """A class body whose nested blocks are empty: definitions become declarations."""
    kept, at = [], 0
    while (brace := body.find("{", at)) >= 0:
        end = block_end(body, brace + 1)
        # `= {...};` and `member{...};` initialise; the others are bodies, which need no semicolon.
        kept.append(body[at:brace] + ("" if body[end : end + 1] in (";", ",", ")", " ") else ";"))
        at = end
    return "".join([*kept, body[at:]])


def without_template(declaration: str) -> str:
    """A declaration without the parameters of its template, which may have defaults and templates inside."""
    opening = re.match(r"\s*template\s*<", declaration)
    if not opening:
        return declaration
    depth = 1
    for at in range(opening.end(), len(declaration)):
        depth += {"<": 1, ">": -1}.get(declaration[at], 0)
        if depth == 0:
            return without_template(declaration[at + 1 :])
    return declaration


def public_methods(kind: str, name: str, body: str) -> set[str]:
    """The names of a class's public methods."""
    methods, access = set(), "public" if kind == "struct" else "private"
    for part in re.split(r"(\b(?:public|protected|private):)", without_blocks(body)):
        if ACCESS.fullmatch(part):
            access = part[:-1]
        elif access == "public":
            for declaration in part.split(";"):
                if re.match(r"\s*(using|friend|typedef|static_assert|enum|class|struct)\b", declaration):
                    continue
                head = re.sub(r"<[^<>()]*>", "", without_template(declaration)).split("=")[0]
                found = re.search(
                    r"([~\w]+)\s*\(", re.sub(r"\b(alignas|noexcept|requires|decltype)\s*\(", "", head)
                )
                if (
                    found
                    and "operator" not in head
                    and found[1].lstrip("~") != name
                    and found[1] not in KEYWORDS
                ):
                    methods.add(found[1])
    return methods


def classes(text: str) -> Iterator[tuple[str, str, str, list[str]]]:
    """(class or struct, name, body, public bases) of every class that a header defines, nested ones too."""
    plain = COMMENT.sub("", text)
    for match in CLASS.finditer(plain):
        body = plain[match.end() : block_end(plain, match.end()) - 1]
        bases = (BASE_OF_STRUCT if match[1] == "struct" else BASE).findall(match[3])
        yield match[1], match[2], body, bases


def sources(*suffixes: str) -> list[Path]:
    return [
        file
        for file in tracked(*suffixes)
        if name_of(file).startswith(("src/", "include", "python/")) and "generated" not in name_of(file)
    ]


def class_sizes(texts: Mapping[str, str]) -> dict[str, int]:
    """The public methods of each class with those of its public bases, by its file and name. `texts` has files."""
    methods: dict[str, set[str]] = {}
    bases: dict[str, list[str]] = {}
    places: dict[str, list[str]] = {}
    for file, text in texts.items():
        for kind, name, body, names in classes(text):
            # Specialisations and nested classes of one name: the largest counts.
            place, found = f"{file} {name}", public_methods(kind, name, body)
            if place not in methods or len(found) > len(methods[place]):
                methods[place], bases[place] = found, names
            places.setdefault(name, []).append(place)

    def whole(place: str, seen: frozenset[str] = frozenset()) -> set[str]:
        # A base whose name several files define is not followed, because they may differ.
        inherited = [places[name][0] for name in bases[place] if len(set(places.get(name, []))) == 1]
        return methods[place].union(*(whole(base, seen | {place}) for base in inherited if base not in seen))

    return {place: len(whole(place)) for place in methods}


def texts_of(files: Iterable[Path]) -> dict[str, str]:
    return {name_of(file): file.read_text() for file in files}


def large_classes() -> dict[str, int]:
    """The classes above the limit."""
    sizes = class_sizes(texts_of(sources(".hpp", ".cuh", ".h", ".cpp", ".cu")))
    return {place: size for place, size in sizes.items() if size > MOST_METHODS}


def test_classes_are_small() -> None:
    large = large_classes()
    assert not set(large) - set(MORE), f"more than {MOST_METHODS} public methods: {large}"
    assert not set(MORE) - set(large), "these are no longer large; remove their reasons"


def test_interfaces_of_gpus_are_small() -> None:
    sizes = class_sizes(texts_of((ROOT / "src/gpu").glob("gpu*.hpp")))
    interfaces = {place: size for place, size in sizes.items() if place in GPU_INTERFACES}
    assert interfaces.keys() == GPU_INTERFACES
    assert all(0 < size <= MOST_METHODS_OF_GPU for size in interfaces.values()), interfaces


def test_a_large_class_is_found() -> None:
    methods = "".join(
        f"    int method_{i}(int value = f({{1}}), int b = 2) const {{ return {{}}; }}\n" for i in range(30)
    )
    text = f"class Owner final : public Base {{\n  public:\n    Owner();\n    ~Owner();\n{methods}    int member_{{0}};\n  private:\n    void hidden();\n}};\n"
    ((kind, name, body, bases),) = classes(text)
    assert (kind, name, bases) == ("class", "Owner", ["Base"])
    assert public_methods(kind, name, body) == {f"method_{i}" for i in range(30)}


def test_methods_of_templates_and_of_bases_count() -> None:
    text = """
struct Base {
    template <Array Dst, Symmetric T = ElementOf<Dst>>
    void broadcast(Dst dst);
};
class Owner : public ns::Base {
  public:
    int own() const { return 1; }
};
struct Another final : ns::Base {
    int own() const { return 1; }
};
"""
    found = {name: public_methods(kind, name, body) for kind, name, body, _ in classes(text)}
    assert found == {"Base": {"broadcast"}, "Owner": {"own"}, "Another": {"own"}}
    assert class_sizes({"a.hpp": text}) == {"a.hpp Base": 1, "a.hpp Owner": 2, "a.hpp Another": 2}


def test_const_means_it() -> None:
    """A mutable member is a mutex, or a cache with its reason in a comment beside it."""
    for file in sources(".hpp", ".cuh", ".h"):
        for line in file.read_text().splitlines():
            if re.match(r"\s*mutable\s", line) and not re.search(r"\bstd::(shared_)?mutex\b", line):
                assert re.search(r"//.*\bcache", line), f"{name_of(file)}: {line.strip()}"


def python_class_sizes(texts: Mapping[str, str]) -> dict[str, int]:
    """The public methods of each class of Python with those of its bases, by its file and name. Properties count.

    A base whose name several files define is not followed.
    """
    nodes = {
        f"{file} {node.name}": node
        for file, text in texts.items()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ClassDef)
    }
    places: dict[str, list[str]] = {}
    for place, node in nodes.items():
        places.setdefault(node.name, []).append(place)

    def whole(place: str, seen: frozenset[str] = frozenset()) -> set[str]:
        node = nodes[place]
        own = {
            method.name for method in node.body
            if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef) and not method.name.startswith("_")
        }  # fmt: skip
        names = [ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in node.bases]
        inherited = [places[name][0] for name in names if len(places.get(name, [])) == 1]
        return own.union(*(whole(base, seen | {place}) for base in inherited if base not in seen))

    return {place: len(whole(place)) for place in nodes}


def test_classes_of_python_are_small() -> None:
    sizes = python_class_sizes(
        texts_of(file for file in tracked(".py") if name_of(file).startswith("python/"))
    )
    large = {place: size for place, size in sizes.items() if size > MOST_METHODS}
    assert not set(large) - set(MORE_OF_PYTHON), f"more than {MOST_METHODS} public methods: {large}"
    assert not set(MORE_OF_PYTHON) - set(large), "these are no longer large; remove their reasons"


def test_methods_of_bases_count_in_python() -> None:
    text = """
class Base(Generic[T]):
    def shared(self): ...
    def _hidden(self): ...
class Owner(module.Base[int]):
    @property
    def size(self): ...
    def __len__(self): ...
"""
    assert python_class_sizes({"a.py": text}) == {"a.py Base": 1, "a.py Owner": 2}
