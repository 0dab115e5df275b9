"""The Markdown pages of the tree as pages of the site: which file becomes which page, and where links lead.

A link in a page of docs/ names a file of the tree, so that it works wherever the tree is read. On the site it
leads to the page that the file became; a source file that is linked gets a page with its text.
"""

import pathlib
import re
import unicodedata

ROOT = pathlib.Path(__file__).resolve().parents[2]
PICTURES = {".png", ".svg", ".jpg"}
LANGUAGES = {
    ".cpp": "cpp", ".hpp": "cpp", ".cuh": "cpp", ".h": "c", ".c": "c", ".py": "python", ".json": "json",
    ".sh": "bash", ".cmake": "cmake", ".yml": "yaml", ".toml": "toml",
}  # fmt: skip
# Pages outside docs/, and those whose address is not that of their file.
RENAMED = {
    "docs/home.md": "index",
    "README.md": "index",
    "docs/README.md": "index",
    "docs/GLOSSARY.md": "glossary",
    "docs/REFERENCES.md": "references",
    "ARCHITECTURE.md": "project/architecture",
    "CONTRIBUTING.md": "project/contributing",
    "CHANGELOG.md": "project/changelog",
    "SECURITY.md": "project/security",
    "data/SOURCES.md": "project/data",
}
NO_PAGES = {"README.md", "docs/README.md"}  # what they say is on the home page; links to them lead there
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^()\s]+)\)")
KEY = re.compile(r"\*\*\[([^\]]+)\]\*\*")
FENCED = re.compile(r"^(```.*?^```[^\n]*$)", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"(``[^`]+``|`[^`]*`)")


class BrokenLink(Exception):
    """A link of a page to a file that does not exist."""


def sources():
    """{path of a Markdown file: its page}, in the order of the paths."""
    found = [path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")]
    found += [name for name in RENAMED if (ROOT / name).exists()]
    return {name: page_of(name) for name in sorted(set(found))}


def page_of(name):
    """The page of a Markdown file, without an ending."""
    if name in RENAMED:
        return RENAMED[name]
    page = name.removeprefix("docs/").removesuffix(".md")
    return page.removesuffix("README") + "index" if page.endswith("README") else page


def anchor_of(key):
    """The anchor of a key of docs/REFERENCES.md."""
    letters = unicodedata.normalize("NFKD", key.lower()).encode("ascii", "ignore").decode()
    return "ref-" + re.sub(r"[^0-9a-z]+", "-", letters).strip("-")


def reference_keys():
    return KEY.findall((ROOT / "docs/REFERENCES.md").read_text())


def lower_headings(text):
    """All but the title one level lower, for pages that have several titles."""
    return re.sub(r"(?<=\n)(#+ )", r"#\1", text)


class Writer:
    """Writes pages into a folder, only those that changed, so that Sphinx reads no others again."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.written = set()
        self.pages = sources()
        self.keys = {re.sub(r"\s+", " ", key): anchor_of(key) for key in reference_keys()}
        self.source_files = {}  # source files that pages link to: their pages

    def write(self, name, content):
        path = self.folder / name
        self.written.add(path)
        data = content if isinstance(content, bytes) else content.encode()
        if path.exists() and path.read_bytes() == data:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    def remove_others(self):
        """Removes what an earlier run wrote and this one did not."""
        for path in self.folder.rglob("*"):
            if path.is_file() and path not in self.written:
                path.unlink()

    def markdown_pages(self):
        for name, page in self.pages.items():
            if name not in NO_PAGES:
                self.write(page + ".md", self.page_text(name))

    def page_text(self, name):
        text = (ROOT / name).read_text()
        if name == "docs/REFERENCES.md":
            text = KEY.sub(lambda key: f"({anchor_of(key[1])})=\n{key[0]}", text)
            text = re.sub(r"\n(?=\*[^*\n])", "\\\\\n", text)  # what Palmette takes from it, on its own line
        pieces = FENCED.split(text)
        if sum(len(re.findall(r"^# ", piece, re.MULTILINE)) for piece in pieces[::2]) > 1:
            pieces[::2] = [lower_headings(piece) for piece in pieces[::2]]
        pieces[::2] = [self.prose(name, piece) for piece in pieces[::2]]
        return "".join(pieces)

    def prose(self, name, text):
        """Text between code blocks with its links led to pages, and keys of references made links."""
        pieces = CODE.split(text)
        kept = {f"\x00{number}\x00": code for number, code in enumerate(pieces[1::2])}
        pieces[1::2] = kept
        text = LINK.sub(lambda link: self.new_link(name, link), "".join(pieces))
        if name != "docs/REFERENCES.md":
            text = re.sub(r"(?<![\[\]])\[([^\[\]]+)\](?![\[(:])", self.new_citation, text)
        return re.sub("\x00\\d+\x00", lambda mark: kept[mark[0]], text)

    def new_citation(self, found):
        anchor = self.keys.get(re.sub(r"\s+", " ", found[1]))
        return f"[[{found[1]}](#{anchor})]" if anchor else found[0]

    def new_link(self, name, link):
        bang, label, target = link.groups()
        if re.match(r"[a-z]+:|#", target):
            return link[0]
        path, _, fragment = target.partition("#")
        if path.endswith("REFERENCES.md") and (anchor := self.keys.get(re.sub(r"\s+", " ", label))):
            return f"[{label}](#{anchor})"
        found = (ROOT / name).parent.joinpath(path).resolve()
        if not found.exists() or ROOT not in (found, *found.parents):
            raise BrokenLink(f"{name}: the link to {target} leads to no file")
        new = self.address_of(found.relative_to(ROOT).as_posix()) + (f"#{fragment}" if fragment else "")
        return f"{bang}[{label}](/{new})"

    def address_of(self, name):
        """Where a link to a file or folder of the tree leads, with ending."""
        path = ROOT / name
        if path.is_dir() and (path / "README.md").exists():
            name = f"{name}/README.md"
        if name in self.pages:
            return self.pages[name] + ".md"
        if path.suffix in PICTURES:
            self.write(f"pictures/{name}", path.read_bytes())
            return f"pictures/{name}"
        self.source_files[name] = f"sources/{name}"
        return f"sources/{name}.rst"

    def source_pages(self):
        """The pages of the source files and folders that pages link to."""
        waiting = sorted(self.source_files)
        while waiting:
            name = waiting.pop()
            path = ROOT / name
            if path.is_dir():
                inside = sorted(
                    found.relative_to(ROOT).as_posix() for found in path.iterdir() if found.is_file()
                )
                waiting += [found for found in inside if found not in self.source_files]
                self.source_files.update({found: f"sources/{found}" for found in inside})
                names = [f"   /sources/{found}" for found in inside]
                body = "\n".join([".. toctree::", "   :maxdepth: 1", "", *names])
            else:
                language = LANGUAGES.get(path.suffix, "text")
                lines = ["   " + line for line in path.read_text(errors="replace").splitlines()]
                body = "\n".join([f".. code-block:: {language}", "", *lines])
            title = f"{name}/" if path.is_dir() else name
            self.write(f"sources/{name}.rst", f":orphan:\n\n{title}\n{'=' * len(title)}\n\n{body}\n")
