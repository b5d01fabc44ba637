"""Turns the drawings of pages, in Mermaid's notation, into pictures by Graphviz, and sequences into tables.

GitHub draws these itself; here no script of another site is loaded. Only the forms that our pages have are known.
"""

from __future__ import annotations

import re
import subprocess

DRAWING = re.compile(r"^```mermaid\n(.*?)^```$", re.DOTALL | re.MULTILINE)
NODE = re.compile(r'(\w+)(?:\["(?P<box>[^"]*)"\]|\{"(?P<choice>[^"]*)"\})?')
EDGE = re.compile(r'\s*(?P<line>-->|--\s*"?(?P<label>[^">]*?)"?\s*-->|-\.\s*"(?P<dotted>[^"]*)"\s*\.->)\s*')
MESSAGE = re.compile(r"\s*(\w+)(-->>|->>)(\w+): (.*)")
WIDTH, EDGE_WIDTH = 36, 20


def drawn(text: str) -> str:
    """The text of a page, with each drawing as a picture or table."""
    return DRAWING.sub(lambda found: one(found[1]), text)


def one(source: str) -> str:
    """One drawing."""
    kind, *lines = source.strip().splitlines()
    if kind == "sequenceDiagram":
        return sequence(lines)
    assert kind == "flowchart TD", kind
    svg = subprocess.run(
        ["dot", "-Tsvg"], input=graph(lines), capture_output=True, text=True, check=True
    ).stdout
    return (
        '<div class="drawing">\n'
        + re.sub(r"<!--.*?-->\n?", "", svg[svg.index("<svg") :], flags=re.DOTALL)
        + "</div>"
    )


def graph(lines: list[str]) -> str:
    """A flowchart in Graphviz's notation."""
    out = [
        "digraph {",
        '  bgcolor="transparent"; nodesep=0.25; ranksep=0.35;',
        '  node [shape=box, style="rounded", fontname="sans-serif", fontsize=11, margin="0.12,0.07"];',
        '  edge [fontname="sans-serif", fontsize=10, arrowsize=0.7];',
    ]
    for line in lines:
        rest, before = line.strip(), None
        while rest:
            node = NODE.match(rest)
            assert node, line
            if node["box"] is not None or node["choice"] is not None:
                shape = ", style=rounded, peripheries=2" if node["choice"] else ""
                out.append(f'  {node[1]} [label="{label(node["box"] or node["choice"])}"{shape}];')
            if before:
                out.append(f"  {before[0]} -> {node[1]} [{before[1]}];")
            edge = EDGE.match(rest, node.end())
            before = None
            if edge:
                said = label(edge["label"] or edge["dotted"] or "", EDGE_WIDTH)
                before = (node[1], f'label=" {said} "' + (", style=dashed" if edge["dotted"] else ""))
            rest = rest[edge.end() if edge else len(rest) :]
            assert edge or node.end() == len(line.strip()) or not rest, line
    return "\n".join([*out, "}"])


def label(text: str, width: int = WIDTH) -> str:
    """Text of a node in lines of bounded length."""
    lines = []
    for part in re.sub(r"</?b>", "", text).split("<br/>"):
        line = ""
        for word in part.split():
            if line and len(line) + len(word) > width:
                lines.append(line)
                line = ""
            line = f"{line} {word}".strip()
        lines.append(line)
    return "\\n".join(lines).replace('"', '\\"')


def sequence(lines: list[str]) -> str:
    """A sequence of messages as a table."""
    names = dict(re.findall(r"participant (\w+) as (.*)", "\n".join(lines)))
    rows = [found for line in lines if (found := MESSAGE.match(line))]
    assert len(rows) + len(names) == len(lines), lines
    table = "| from | to | step |\n|---|---|---|\n"
    return table + "".join(f"| {names[row[1]]} | {names[row[3]]} | {row[4]} |\n" for row in rows)
