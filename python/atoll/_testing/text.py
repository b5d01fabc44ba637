"""Texts of several PEs in one: lines that all have once, the others with their PEs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .._launching.failures import pe_ranges


def _by_text(texts: Mapping[int, str]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for pe, text in sorted(texts.items()):
        found.setdefault(text, []).append(pe)
    return found


def together(texts: Mapping[int, str]) -> str:
    """Return one text: shared lines once, the others after "[PEs] ". Texts of other forms follow each other."""
    different = _by_text(texts)
    if len(different) == 1:
        return next(iter(different))
    rows = [text.splitlines() for text in different]
    if len({len(row) for row in rows}) > 1:
        parts = [f"PE {pe_ranges(pes)}:\n{text}" for text, pes in different.items()]
        return "\n\n".join(parts)
    lines = []
    for same in zip(*rows, strict=True):
        by_line: dict[str, list[int]] = {}
        for line, pes in zip(same, different.values(), strict=True):
            by_line.setdefault(line, []).extend(pes)
        if len(by_line) == 1:
            lines.append(same[0])
        else:
            lines += [f"[{pe_ranges(pes)}] {line}" for line, pes in by_line.items()]
    return "\n".join(lines)


def merged(failed: Mapping[int, str], others: Mapping[int, str], n: int) -> str:
    """Return the text of a failure: a line for each kind of outcome, then the failed PEs' text."""
    heads = [f"PE {pe_ranges(failed)} of {n} failed"]
    heads += [f"PE {pe_ranges(pes)} {text}" for text, pes in _by_text(others).items()]
    return "; ".join(heads) + "\n\n" + together(failed)


def merged_sections(sections: Mapping[int, Sequence[tuple[str, str]]]) -> list[tuple[str, str]]:
    """Return captured output by section, whose lines begin with their PEs."""
    by_name: dict[str, dict[int, str]] = {}
    for pe, named in sections.items():
        for name, text in named:
            by_name.setdefault(name, {})[pe] = text
    found = []
    for name, texts in by_name.items():
        lines = []
        for text, pes in _by_text(texts).items():
            lines += [f"[{pe_ranges(pes)}] {line}" for line in text.splitlines()]
        found.append((name, "\n".join(lines) + "\n"))
    return found
