"""Rules about citations: each key in brackets, such as an author and a year, has its entry in
docs/REFERENCES.md, and each entry is cited."""

import re

from house.source import line_of
from house.tree import Finding

REFERENCES = "docs/REFERENCES.md"
_KEY = re.compile(r"\[([A-Z][^\[\]\n]* (?:1[89]|20)\d\d[a-z]?)\]")
_ENTRY = re.compile(r"^\*\*\[([^\[\]\n]+)\]\*\*", re.MULTILINE)
_PRIVATE_PAPER = re.compile(r"papers/[0]", re.IGNORECASE)


def references(tree, architecture):
    """The cited keys are the entries of the list, and no paper is cited by a file name."""
    text = (tree.text(REFERENCES) or "") if REFERENCES in tree.files else ""
    entries = {match[1]: line_of(text, match.start()) for match in _ENTRY.finditer(text)}
    cited = set()
    for path in tree.files:
        content = tree.text(path) or ""
        for match in _PRIVATE_PAPER.finditer(content):
            yield Finding(
                path,
                line_of(content, match.start()),
                "references",
                "cites a paper by a file's name",
                f"cite a key of {REFERENCES}",
            )
        for match in _KEY.finditer(content) if path != REFERENCES else ():
            cited.add(match[1])
            if match[1] not in entries:
                yield Finding(
                    path,
                    line_of(content, match.start()),
                    "references",
                    f"no entry for [{match[1]}]",
                    f"add it to {REFERENCES}",
                )
    for key in entries.keys() - cited:
        yield Finding(
            REFERENCES,
            entries[key],
            "references",
            f"nothing cites [{key}]",
            "take the entry away, or cite it where it is relied on",
        )
