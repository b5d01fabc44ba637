"""Reads the prose of the repository and finds what CONTRIBUTING's rules of English exclude.

The prose is comments, docstrings, pages, the names of tests, values of tables in TOML, and texts that programs print: literals
outside tests, and those of `raise` in tests, too.

``python tests/layout/english.py [PATH ...]`` prints the findings in these files or folders, the whole repository by
default.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from inspect import cleandoc
from itertools import chain, pairwise
from pathlib import Path

import tomllib

ROOT = Path(__file__).resolve().parents[2]
MOST_WORDS = 25

SLASHES = {".cpp", ".cc", ".hpp", ".h", ".c", ".cu", ".cuh", ".in"}
HASHES = {".sh", ".bash", ".fish", ".zsh", ".cmake", ".yml", ".yaml", ".toml", ".cfg", ""}
# Generated files repeat the text of their generator.
SKIPPED = (
    "api/generated/",
    "tests/shmem/generated/",
    "bench/results/",
    "tests/layout/english.py",
)

# Openings that no sentence of a comment or docstring has, also behind dashes, quotes and brackets.
OPENINGS = re.compile(r"[\W_]*(?:what|who|whom|whose|whether|where|as|of)\b", re.IGNORECASE)
# "Of two values it keeps one." The subject comes first: "Keeps one of two values."
INVERTED = re.compile(r"[\W_]*Of\b[^.;:]* (?:one|it|they|the first|the last|the later)\b")
# The name of a C++ test may continue that of its suite: `Teams.OfOnePe`.
NAME_OPENINGS = re.compile(r"[Ww](?:hat|ho|hom|hose)\b")
# A phrase of the old dialect, and the standard words for it.
PHRASES = [
    (r"\bstands?\b|\bstood\b", "lies, is, holds, means, remains"),
    (r"\b(?:is|are|was|were|be|been|being) said\b", "is reported, is stated, is documented"),
    (r"\bsays? so\b|\bsaid so\b|\bsaying so\b", "reports it"),
    (r"\bby way of\b", "through, by"),
    (r"\bcomes? whole\b|\bcame whole\b", "arrives complete"),
    (r"\banew\b", "again"),
    (r"\bin words\b", "as text"),
    (r"\bin vain\b", "without effect"),
    (r"\bwhose it is\b|\bwhose they are\b", "name the owner"),
    (r"\b(?:is|are|was|were) none\b", "is not one, there is no"),
    (r"\bwhat is no\b|\bthat is no\b|\bthat are no\b|\bwhich is no\b", "is not a"),
    (r"\bwith whom\b|\bto whom\b|\bfrom whom\b|\bfor whom\b", "name the PE"),
    (
        r"\bwho (?:waits|puts|reads|writes|comes|asks|calls|has|does|gives|wants)\b",
        "name it: a PE that, a caller that",
    ),
    (r"\bnobody\b|\bsomebody\b|\banybody\b|\beverybody\b", "no PE, another thread, any process, every PE"),
    (r"\ban? (?:PE|thread|process|kernel|call|host|program) of its own\b", "a separate one"),
    (r"\blets? go of\b", "releases"),
    (r"\bhand-?over\b", "transfer, switch"),
    (r"\bfor ever\b", "forever"),
    (
        r"(?<![\w'-])(?-i:So) (?:do|does|did|is|are|was|were|has|have|had|can|must)\b",
        "subject first: PEs do, too",
    ),
    (r"\bas such\b", "name it"),
    (r"\bfor people\b(?! who)", "human-readable, for errors, for reports"),
    (r"\breturns? what\b", "name the result"),
    (r"\bthe own\b", "this PE's, the caller's"),
    (r"\bkin\b", "similar functions"),
    (
        r"\b(?:a|two|each|last|every|between) looks?\b(?!-)|\blooks? (?:once|themselves)\b",
        "a poll, a check, a read",
    ),
    (r"\bthe same of (?:a|an|the|all|puts)\b", "the same for"),
    (r"\bgiven out\b", "issued, returned"),
    (r"\bseldom\b", "rarely"),
]
COMPILED = [(re.compile(pattern, re.IGNORECASE), words) for pattern, words in PHRASES]

# Relative clauses: ", which", "in which", "whose", ", where", and "the PE that waits", "the word that a PE reads".
PREPOSITIONS = "after|against|among|at|before|behind|beside|by|for|from|in|into|of|on|over|through|to|under|until|with|within"
# After these words "that" opens a clause of another kind, or means a thing itself.
NOT_NOUN = re.compile(
    r"(?:"
    r"add|admits|after|agree|and|are|as|assume|assumed|assumes|at|be|been|believe|but|by|"
    r"check|checked|checks|complete|did|do|does|ensure|ensures|except|fact|find|finds|"
    r"follows|for|found|from|given|guess|hope|if|in|is|it|know|known|knows|learn|like|"
    r"likely|mean|means|meant|not|note|notice|notices|now|of|on|only|or|passed|proves|"
    r"provided|report|reported|reports|require|requires|said|say|says|see|seen|sees|show|"
    r"shown|shows|so|state|stated|states|such|suppose|sure|tell|tells|than|think|to|told|"
    r"true|unless|until|was|were|with"
    r"|.*ly|.*ing)",
    re.IGNORECASE,
)
VERB_OR_SUBJECT = (
    r"(?:is|are|was|were|has|have|had|can|cannot|may|must|might|do|does|did|will|would|could|should|never|only|also|no|an?"
    r"|the|this|these|its|it|they|we|you|others|another|each|every|any|all|both|[a-z]+(?:s|ed)|PEs?|CODE|X)"
)
RELATIVE = re.compile(
    rf"(?:,|(?<![\w-])(?:{PREPOSITIONS})) which(?![\w'-])(?! of)|(?<![\w'-])whose(?![\w'-])|, (?:who|whom|where)(?![\w'-])"
    rf"|(?<![\w'-])(?P<noun>[\w'-]+) that (?={VERB_OR_SUBJECT}(?![\w'-]))"
)
# Parts of a sentence that are read one after the other.
PARTS = re.compile(r"(?<=[;:])\s|, (?:and|or|but) |[()]")


@dataclass(frozen=True)
class Block:
    """One comment, docstring or paragraph."""

    path: str
    line: int
    text: str
    kind: str


@dataclass(frozen=True)
class Finding:
    path: str
    line: int
    rule: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule}: {self.text}"


def joined(lines: list[tuple[int, str]], path: str) -> Iterator[Block]:
    """Comments on consecutive lines are one block.

    An empty line or code (indented by four) ends it; a row of columns begins a new one.
    """
    start, last, texts = 0, -2, list[str]()
    for line, text in [*lines, (-10, "")]:
        is_prose = text.strip(" /-=*") and not text.startswith("     ")
        is_row = re.search(r"\S {2,}\S", text) is not None
        if texts and (line != last + 1 or not is_prose or is_row):
            yield Block(path, start, " ".join(texts), "comment")
            texts = []
        if not is_prose:
            continue
        if not texts:
            start = line
        texts.append(text.strip())
        last = line


SLASH_COMMENT = re.compile(
    r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|//[/!]?<?([^\n]*)|/\*(.*?)\*/', re.DOTALL
)


TEST_NAME = re.compile(
    r"^ *(?:[A-Z]+_)?TEST(?:_[A-Z]+)?\(\s*(\w+),\s*(\w+)\s*\)|^ *(?:async )?def ((?:test|check)_\w+)\("
    r"|^ *(?:static |inline )*(?:void|bool|int) (check_\w+)\(",
    re.MULTILINE,
)
WORD_OF_NAME = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def name_blocks(path: str, source: str) -> Iterator[Block]:
    """The names of tests, split into words: `TEST(Heap, GrowsByDemand)`, `def test_heap_grows`, `def check_heap`."""
    for match in TEST_NAME.finditer(source):
        for name in filter(None, match.groups()):
            words = " ".join(WORD_OF_NAME.findall(name))
            yield Block(path, source.count("\n", 0, match.start()) + 1, words, "name")


def slash_blocks(path: str, source: str) -> Iterator[Block]:
    """Comments; those behind code go on in lines below that begin in the same column."""
    whole, trailing, column = list[tuple[int, str]](), list[list[tuple[int, str]]](), -1
    for match in SLASH_COMMENT.finditer(source):
        line = source.count("\n", 0, match.start()) + 1
        if match.group(2) is not None:
            for offset, text in enumerate(match.group(2).split("\n")):
                whole.append((line + offset, text.strip(" *")))
        elif match.group(1) is not None:
            before = source[source.rfind("\n", 0, match.start()) + 1 : match.start()]
            text = match.group(1)
            if before.strip():
                trailing.append([(line, text)])
                column = len(before)
            elif trailing and trailing[-1][-1][0] == line - 1 and len(before) == column:
                trailing[-1].append((line, text))
            else:
                whole.append((line, text))
    yield from joined(whole, path)
    for lines in trailing:
        yield Block(path, lines[0][0], " ".join(text.strip() for _, text in lines), "comment")
    yield from name_blocks(path, source)
    if not path.startswith("tests/"):
        yield from literal_blocks(path, source)


TOKEN = re.compile(
    r'R"(\w*)\(.*?\)\1"|"((?:[^"\\\n]|\\.)*)"|//[^\n]*|[;{}:?,]|[^";/\s{}:?,]+|/|\s+', re.DOTALL
)
VALUE = "X"
"""One word in place of a value that a text contains."""


def literal_blocks(path: str, source: str) -> Iterator[Block]:
    """The literals of each statement, joined; a value between two of them is one word.

    The alternatives of a conditional expression are separate, and so are literals that are arguments themselves.
    """
    texts, line, after, has_value = list[str](), 0, "", False
    for token in TOKEN.finditer(source):
        ends = token[0] in {";", "{", "}", ":", "?"} or token[0].startswith(("ATOLL_", "#define"))
        if ends or (token[0] == "," and after == "literal"):
            text = "".join(texts)
            # Signatures, docstrings (checked in the stubs), lists of options and programs are not errors.
            if " " in text and not re.search(r"->|  |^usage|import |T\*", text):
                yield Block(path, line, text, "error")
            texts, has_value, after = [], False, ""
        elif token[2] is not None:
            line = line if texts else source.count("\n", 0, token.start()) + 1
            texts += [VALUE] if has_value and texts else []
            texts.append(token[2].replace("\\n", " ").replace('\\"', '"'))
            has_value, after = False, "literal"
        elif token[0].strip(" \n+") and not token[0].startswith("//"):
            has_value, after = True, "value"


FUNCTION_WORD = re.compile(
    r" (?:a|an|the|of|is|are|in|to|for|on|that|with|by|no|not|has|have|at|from|it|its|as|was|were|this|if|when) "
)


def is_prose(text: str) -> bool:
    """True for five or more words that are neither code, columns nor a list of names."""
    if re.search(r"->|  |^usage|import |T\*|[{};]$|^[<{#%]", text.strip()):
        return False
    words = re.findall(r"(?<!\S)[A-Za-z][a-z']*[,.:;]?(?!\S)", text)
    return len(words) >= 5 and FUNCTION_WORD.search(text) is not None


def literal(node: ast.expr) -> str:
    """Return the text of an expression; values in it are one word each."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(map(literal, node.values))
    if isinstance(node, ast.BinOp):
        return literal(node.left) + literal(node.right)
    return VALUE


def literal_nodes(node: ast.AST) -> Iterator[ast.expr]:
    """The outermost literals below a node, without docstrings. A sum of strings and values is one."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
            continue
        if isinstance(child, ast.Constant | ast.JoinedStr) or (
            isinstance(child, ast.BinOp) and isinstance(child.op, ast.Add)
        ):
            yield child
        else:
            yield from literal_nodes(child)


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """A module and all statements in it. A walk over expressions too takes ten times as long."""
    yield node
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        for child in getattr(node, name, ()):
            yield from statements(child)


def text_blocks(path: str, tree: ast.Module) -> Iterator[Block]:
    """Texts that a program prints or raises. Those of tests are mostly output that they expect."""
    raised = {
        argument
        for node in statements(tree)
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)
        for argument in node.exc.args
    }
    for node in raised if path.startswith("tests/") else {*raised, *literal_nodes(tree)}:
        text = literal(node)
        if node in raised or is_prose(text):
            yield Block(path, node.lineno, text, "error")


def attribute_docstrings(tree: ast.Module) -> Iterator[ast.Constant]:
    """Strings behind an assignment in a module or class."""
    bodies = [node.body for node in statements(tree) if isinstance(node, ast.Module | ast.ClassDef)]
    for before, after in chain.from_iterable(map(pairwise, bodies)):
        text = after.value if isinstance(after, ast.Expr) else None
        follows = isinstance(before, ast.Assign | ast.AnnAssign)
        if follows and isinstance(text, ast.Constant) and isinstance(text.value, str):
            yield text


def python_blocks(path: str, source: str) -> Iterator[Block]:
    whole = list[tuple[int, str]]()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT or re.match(r"#!|# (?:type|noqa|ruff|mypy|fmt)", token.string):
            continue
        text = token.string.lstrip("#: ")
        if token.line[: token.start[1]].strip():
            yield Block(path, token.start[0], text, "comment")
        else:
            whole.append((token.start[0], text))
    yield from joined(whole, path)
    yield from name_blocks(path, source)
    tree = ast.parse(source)
    yield from text_blocks(path, tree)
    for attribute in attribute_docstrings(tree):
        yield from page_blocks(path, cleandoc(str(attribute.value)), attribute.lineno, "docstring")
    for node in statements(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield from page_blocks(path, text, node.body[0].lineno, "docstring")


def script_blocks(path: str, source: str) -> Iterator[Block]:
    """Texts of a script: literals of five or more words."""
    for match in re.finditer(r"'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`", source):
        text = re.sub(r"\$\{[^}]*\}", VALUE, match[1] or match[2] or "")
        if is_prose(text):
            yield Block(path, source.count("\n", 0, match.start()) + 1, text, "error")


def table_blocks(path: str, source: str) -> Iterator[Block]:
    """Texts of a table of TOML: its values of five or more words."""

    def texts(value: object) -> Iterator[str]:
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict | list):
            for each in value.values() if isinstance(value, dict) else value:
                yield from texts(each)

    for text in texts(tomllib.loads(source)):
        if is_prose(text):
            begin = max(source.find(text[:30].split("\n")[0].split('"')[0]), 0)
            yield from page_blocks(path, text, source.count("\n", 0, begin) + 1, "text")


# A comment behind code, and the help text of a target of make; a "#" in a string begins none.
TRAILING_HASH = re.compile(
    r"""(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^"'#]|(?<=\w)'|(?<!\s)\#)*?\S\s+\#{1,2}\s+(?P<text>\S.*)"""
)


def hash_blocks(path: str, source: str) -> Iterator[Block]:
    """Comments on lines of their own, and those behind code."""
    whole = list[tuple[int, str]]()
    for number, line in enumerate(source.split("\n"), 1):
        if line.lstrip().startswith("#"):
            if not line.startswith("#!"):
                whole.append((number, line.lstrip().lstrip("#")))
        elif match := TRAILING_HASH.match(line):
            yield Block(path, number, match["text"], "comment")
    yield from joined(whole, path)


def page_blocks(path: str, source: str, first: int = 1, kind: str = "page") -> Iterator[Block]:
    """Paragraphs, list items, cells of tables, and comments in blocks of code."""
    fenced, texts, start = False, list[str](), first
    for number, line in enumerate([*source.split("\n"), ""], first):
        stripped = line.strip()
        if stripped.startswith("```"):
            fenced = not fenced
        code = fenced or stripped.startswith(("```", ">>>", "...", "$")) or line.startswith("    ")
        cells = stripped.startswith("|")
        # An entry of See Also is "name : text".
        item = re.match(r"(?:[-*+]|\d+\.|[\w.]+ :)\s", stripped)
        if texts and (code or cells or item or not stripped or stripped.startswith("#")):
            yield Block(path, start, " ".join(texts), kind)
            texts = []
        if fenced and (comment := re.search(r"(?:^|\s)(?:#|//) (\w.*)", line)):
            yield Block(path, number, comment[1], "code")
        if code or not stripped or re.fullmatch(r"[-=~|: ]+", stripped):
            continue
        if cells:
            for cell in re.split(r"(?<!\\)\|", stripped.strip("|")):
                yield Block(path, number, cell.strip(), "cell")
            continue
        if stripped.startswith("#"):
            yield Block(path, number, stripped.lstrip("# "), "heading")
            continue
        if not texts:
            start = number
        texts.append(stripped[item.end() :] if item else stripped)


def blocks(path: Path, root: Path = ROOT) -> list[Block]:
    """Return the prose of a file."""
    name, source = path.relative_to(root).as_posix(), path.read_text(encoding="utf-8", errors="replace")
    if path.suffix in SLASHES:
        return list(slash_blocks(name, source))
    if path.suffix in {".js", ".css"}:
        return [*slash_blocks(name, source), *script_blocks(name, source)]
    if path.suffix in {".py", ".pyi"}:
        return list(python_blocks(name, source))
    if path.suffix == ".md":
        return list(page_blocks(name, source))
    if path.suffix == ".toml" and name.startswith(("api/", "docs/site/")):
        return [*hash_blocks(name, source), *table_blocks(name, source)]
    if path.suffix in HASHES or path.name == "CMakeLists.txt":
        return list(hash_blocks(name, source))
    return []


def plain(text: str) -> str:
    """Code, links and values count as one word each."""
    text = re.sub(r"``[^`]*``|`[^`]*`", "CODE", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"\s+", " ", text)


def sentences(text: str) -> list[str]:
    text = re.sub(r"\b(e\.g|i\.e|etc|cf|vs|Fig|No)\.", r"\1", text)
    return [part for part in re.split(r"(?<=[.!?])[)\"']?\s+(?=[\"'(A-Z`])", text) if part]


def relative_clauses(part: str) -> int:
    """The number of relative clauses in a part of a sentence, without those that look like other clauses."""
    nouns = [match["noun"] for match in RELATIVE.finditer(part)]
    return sum(1 for noun in nouns if noun is None or not NOT_NOUN.fullmatch(noun))


def findings(block: Block) -> Iterator[Finding]:
    text = plain(block.text)
    if block.kind == "name":
        text = text.removeprefix("test ")
        if NAME_OPENINGS.match(text):
            yield Finding(block.path, block.line, "opening", text[:90])
    for pattern, words in COMPILED:
        for match in pattern.finditer(text):
            around = text[max(match.start() - 40, 0) : match.end() + 40]
            yield Finding(block.path, block.line, f"'{match.group()}' (write: {words})", around)
    for sentence in sentences(text):
        # In numpydoc's form a parameter may have the name of NumPy's `where`.
        is_parameter = block.kind == "docstring" and text.strip() == "where"
        if block.kind in {"comment", "docstring"} and OPENINGS.match(sentence) and not is_parameter:
            yield Finding(block.path, block.line, "opening", sentence[:90])
        elif block.kind != "name" and INVERTED.match(sentence):
            yield Finding(block.path, block.line, "inverted sentence", sentence[:90])
        count = len(re.findall(r"[A-Za-z0-9_'+*/.-]*[A-Za-z0-9]", sentence))
        if count > MOST_WORDS:
            yield Finding(block.path, block.line, f"{count} words in a sentence", sentence[:90])
        for part in PARTS.split(sentence):
            if relative_clauses(part) > 1:
                yield Finding(block.path, block.line, "two relative clauses", part[:120])


def files(*under: str) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "--", *under], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split("\n")
    return [
        ROOT / name for name in listed if name and not name.startswith(SKIPPED) and (ROOT / name).is_file()
    ]


def main() -> int:
    under = [str(Path(name).resolve().relative_to(ROOT)) for name in sys.argv[1:]]
    found = [finding for path in files(*under) for block in blocks(path) for finding in findings(block)]
    for finding in found:
        print(finding)
    print(f"{len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
