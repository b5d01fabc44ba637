"""The rules for subjects of commits.

``python tests/layout/subjects.py FILE`` fails with the rule that the message in the file breaks; git's hook calls it.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

MOST_CHARACTERS = 72


def subject_fault(subject: str) -> str | None:
    """Return the rule that a subject breaks."""
    if re.match(r"Merge (?:remote-tracking )?(?:branch|tag|commit)\b", subject):
        return "git's own for a merge: name its contents"
    if len(subject) > MOST_CHARACTERS:
        return f"more than {MOST_CHARACTERS} characters"
    if not re.match(r"[A-Z][a-z]+ ", subject) or subject.endswith("."):
        return "not a sentence that begins with a verb and has no period"
    if re.match(
        r"(?!Bring|Embed|Feed|Heed|Need|Speed)(The|An?|This|These|What|How|Some|All|No|Each|\w+(ing|ed|[^s]s)) ",
        subject,
    ):
        return "not imperative"
    return None


def main() -> None:
    subject = next(iter(Path(sys.argv[1]).read_text().splitlines()), "")
    if fault := subject_fault(subject):
        sys.exit(f"The subject of the commit is {fault}: {subject}")


if __name__ == "__main__":
    main()
