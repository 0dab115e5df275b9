"""Writes the pages of the site for Sphinx.

PYTHON -m book.stage FOLDER --command PALMETTE, in tools/
"""

import argparse

from .pages import ROOT, Writer
from .reference_pages import References

# Captions of the contents, with pages in their order; the other pages of a folder follow by name.
REFERENCES = [f"reference/{name}" for name in ("python/index", "cpp/index", "c", "command")]
PROJECT = [f"project/{name}" for name in ("changelog", "architecture", "contributing", "security", "data")]
CONTENTS = {
    "Start here": ["tutorial", "howto/index"],
    "Guide": ["guide/index"],
    "Reference": [*REFERENCES, "glossary", "references"],
    "Figures": ["results/index"],
    "The project": PROJECT,
}
FIRST = {
    "howto": ["time_stepping", "interior_point", "eigenvalues", "own_factors", "clusters", "gpus"],
    "guide": [
        *("installing", "command", "python", "library", "verification", "choosing", "gpus", "transfers"),
        *("eigen", "pardiso", "petsc", "jax", "generators"),
    ],
    "results": ["speed", "matrices", "ranks", "clients", "ordering", "inverse", "sparse_solves",
                "saved_factors", "batches"],
}
# Titles in the contents that differ from those of the pages.
SHORT = {
    "tutorial": "Tutorial",
    "project/architecture": "Architecture",
    "project/data": "Data files",
    "project/changelog": "Changelog",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--command", required=True, help="the command palmette, whose --help is shown")
    arguments = parser.parse_args()
    writer = Writer(arguments.folder)
    writer.markdown_pages()
    add_contents(writer)
    references = References(writer)
    references.cpp_pages()
    references.c_page()
    references.python_pages()
    references.command_page(arguments.command)
    writer.source_pages()
    for path in (ROOT / "docs/book").iterdir():
        if path.suffix in (".py", ".css", ".svg"):
            writer.write(path.name if path.suffix == ".py" else f"_static/{path.name}", path.read_bytes())
    writer.remove_others()


def add_contents(writer):
    """Contents below the home page and the first pages of folders."""
    pages = set(writer.pages.values())
    for caption, names in CONTENTS.items():
        missing = [name for name in names if name not in pages and not name.startswith("reference/")]
        if missing:
            raise SystemExit(f"the contents, '{caption}', name pages that do not exist: {', '.join(missing)}")
    trees = [contents(names, caption) for caption, names in CONTENTS.items()]
    append(writer, "index", "\n".join(trees))
    for folder, first in FIRST.items():
        inside = {page for page in pages if page.startswith(folder + "/") and page != f"{folder}/index"}
        ordered = [f"{folder}/{name}" for name in first if f"{folder}/{name}" in inside]
        append(writer, f"{folder}/index", contents(ordered + sorted(inside - set(ordered))))


def contents(names, caption=None):
    lines = ["```{toctree}", ":hidden:", ":maxdepth: 1"] + ([f":caption: {caption}"] if caption else [])
    return "\n".join(
        [
            *lines,
            "",
            *(f"{SHORT[name]} </{name}>" if name in SHORT else f"/{name}" for name in names),
            "```",
            "",
        ]
    )


def append(writer, page, text):
    source = next(
        name
        for name, made in writer.pages.items()
        if made == page and name not in ("README.md", "docs/README.md")
    )
    writer.write(page + ".md", writer.page_text(source) + "\n" + text)


if __name__ == "__main__":
    main()
