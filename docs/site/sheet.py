"""Makes the PDF of the cheat sheet from its page of the built site: one sheet of A4, by WeasyPrint."""

from __future__ import annotations

import logging
import re
from pathlib import Path

NAME = "atoll-cheat-sheet.pdf"
SECTION = re.compile(r'<section id="cheat-sheet">.*</section>', re.DOTALL)
STYLE = """
@page { size: A4 portrait; margin: 9mm; }
body { font-family: "DejaVu Sans", sans-serif; font-size: 8.6pt; line-height: 1.3; margin: 0; }
body > section { columns: 2; column-gap: 6mm; }
section section { break-inside: avoid; }
h1 { font-size: 15pt; margin: 0 0 1mm; }
h2 { font-size: 11pt; margin: 4mm 0 0.6mm; }
p { margin: 0 0 1mm; }
a { color: inherit; text-decoration: none; }
.headerlink, .download, thead { display: none; }
table { width: 100%; border-collapse: collapse; }
td { border-top: 0.2pt solid #999; padding: 0.5mm 0.6mm; vertical-align: top; }
td:first-child { width: 54%; }
td p { margin: 0; }
code { font-family: "DejaVu Sans Mono", monospace; font-size: 7.7pt; }
"""


def link() -> str:
    """The link to the PDF, for the page; it is made only when the page has been built."""
    return f'<p class="download"><a href="{NAME}">Download this page as PDF</a></p>'


def write(html: Path) -> list[str]:
    """Write the PDF beside its page; return the faults."""
    logging.getLogger("weasyprint.progress").setLevel(logging.WARNING)  # its import reports progress, too
    from weasyprint import HTML

    found = SECTION.search((html / "cheat-sheet.html").read_text(encoding="utf-8"))
    assert found, "the built site has no cheat sheet"
    page = f'<html lang="en"><title>Atoll: cheat sheet</title><style>{STYLE}</style>{found[0]}</html>'
    document = HTML(string=page, base_url=str(html)).render()
    document.write_pdf(html / NAME)
    return [] if len(document.pages) == 1 else [f"{NAME} has {len(document.pages)} pages, and must have one"]
