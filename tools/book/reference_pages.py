"""The reference of C++, C, Python and the command as pages in reStructuredText: made of headers, the module,
and `--help`."""

import ast
import os
import re
import subprocess

from .declarations import declarations_of, opening_comment, split_at_commas
from .pages import ROOT

TAGS = {
    "param": "param",
    "tparam": "tparam",
    "return": "returns",
    "returns": "returns",
    "throws": "Throws",
    "cost": "Cost",
    "source": "Source",
}
C_HEADER = "palmette/capi/palmette.h"
# Of the names of a Python module, those that most users need.
NEEDED_FIRST = ["solve", "Solver", "slogdet", "inertia", "TriangularSolver", "from_factors", "FactoredMatrix"]
NEEDED_FIRST += ["read", "write", "generate", "spsolve", "splu", "cholesky"]


def title(text, under="="):
    return f"{text}\n{under * len(text)}\n"


class Prose:
    """Text of comments, escaped for reStructuredText, with keys of references as links."""

    def __init__(self, keys):
        self.keys = keys

    def __call__(self, text):
        pieces = re.split(r"`([^`\n]+)`", text)
        pieces[::2] = [self.plain(piece) for piece in pieces[::2]]
        pieces[1::2] = [f"``{piece}``" + "\\ " for piece in pieces[1::2]]
        return "".join(pieces).replace("\\ \\ ", "\\ ").removesuffix("\\ ")

    def plain(self, text):
        text = re.sub(r"([\\*_|`])", r"\\\1", text).replace("::", ":\\:")
        return re.sub(r"\[([^\[\]]+)\]", self.citation, text)

    def citation(self, found):
        key = re.sub(r"\s+", " ", found[1])
        return f":ref:`[{key}] <{self.keys[key]}>`" if key in self.keys else found[0]

    def paragraphs(self, text):
        return [self(" ".join(part.split())) for part in re.split(r"\n\s*\n", text.strip()) if part.strip()]


class References:
    """The reference pages, written by a pages.Writer."""

    def __init__(self, writer):
        self.writer = writer
        self.prose = Prose(writer.keys)
        self.seen = set()  # signatures that have an entry: one declared twice gets one

    # C++ and C -------------------------------------------------------------------------------------------

    def cpp_pages(self):
        rooms = [row for row in rooms_of_the_house() if row[0] != "capi"]
        rooms.sort(key=lambda row: (row[0] != "solver", row[0] != "matrix"))
        for room, purpose, door in rooms:
            self.writer.write(f"reference/cpp/{room}.rst", self.room_page(room, purpose, door))
        names = "\n".join(f"   {room}" for room, _, _ in rooms)
        self.writer.write(
            "reference/cpp/index.rst",
            title("C++") + f"""
Most programs need ``palmette/solver/solver.hpp`` alone: see :cpp:class:`~palmette::Solver` and
:doc:`the guide to C++ and C </guide/library>`. A *room* of the library is a folder of ``palmette/`` with one
header, its door (:doc:`ARCHITECTURE </project/architecture>`). These pages are made of the comments in the
doors and in the headers that they include.

.. toctree::
   :maxdepth: 1

{names}
""",
        )

    def room_page(self, room, purpose, door):
        headers = headers_of_door(door)
        lines = [title(room), self.prose(purpose[:1].upper() + purpose[1:]) + ".\n"]
        lines += [f"Header: ``{door}``\n"]
        for header in headers:
            text = (ROOT / header).read_text()
            body = [self.declaration(item, "cpp", "") for item in declarations_of(text)]
            if not any(body):
                continue
            lines += ["", title(header.rpartition("/")[2], "-")]
            lines += [part + "\n" for part in self.prose.paragraphs(opening_comment(text))]
            lines += body
        return "\n".join(lines) + "\n"

    def c_page(self):
        text = (ROOT / C_HEADER).read_text()
        lines = [title("C"), f"Header: ``{C_HEADER}``\n"]
        lines += [part + "\n" for part in self.prose.paragraphs(opening_comment(text))]
        items = declarations_of(text, is_c=True)
        for heading, chosen in (
            ("Types", [item for item in items if item.kind != "function"]),
            ("Functions", [item for item in items if item.kind == "function"]),
        ):
            lines += ["", title(heading, "-")]
            role = "func" if heading == "Functions" else "type"
            lines += [", ".join(f":c:{role}:`{item.name}`" for item in chosen) + "\n"]
            lines += [self.declaration(item, "c", "") for item in chosen]
        self.writer.write("reference/c.rst", "\n".join(lines) + "\n")

    def declaration(self, item, domain, indent):
        """One entry with its members, or "" if there is one with that signature already."""
        kind = "member" if item.kind == "member" else item.kind
        texts = [signature for text in item.texts for signature in signatures(text, kind)]
        key = (domain, item.namespace, *([item.name] if kind == "member" else texts))
        if not indent and key in self.seen:
            return ""
        self.seen.add(key)
        lines = []
        if domain == "cpp" and not indent:
            lines += [f".. cpp:namespace:: {item.namespace or 'NULL'}", ""]
        if all(is_parsable(domain, kind, text) for text in texts):
            directive = f"{domain}:{'macro' if kind == 'macro' else kind}"
            lead = f"{indent}.. {directive}:: "
            lines += [lead + (" " * len(lead)).join(f"{text}\n" for text in texts)]
            inner = indent + "   "
        else:
            lines += [
                f"{indent}.. code-block:: {domain}",
                f"{indent}   :force:",
                "",
                *(f"{indent}   {text}" for text in texts),
                "",
            ]
            inner = indent
        lines += [f"{inner}{line}" if line else "" for line in self.docstring(item.doc)]
        for member in item.members:
            lines += [self.declaration(member, domain, inner)]
        return "\n".join(lines) + "\n"

    def docstring(self, doc):
        pieces = re.split(r"@(param|tparam|returns?|throws|cost|source)\b", doc)
        lines = [line for part in self.prose.paragraphs(pieces[0]) for line in (part, "")]
        fields = []
        for tag, text in zip(pieces[1::2], pieces[2::2]):
            text = " ".join(text.split())
            if TAGS[tag] in ("param", "tparam"):
                name, _, text = text.partition(" ")
                fields += [f":{TAGS[tag]} {name}: {self.prose(text.strip())}"]
            else:
                fields += [f":{TAGS[tag]}: {self.prose(text)}"]
        return lines + fields + [""]

    # the command -----------------------------------------------------------------------------------------

    def command_page(self, command):
        """`palmette --help`, and that of every subcommand it lists."""
        top = help_of(command)
        names = re.findall(
            r"^  ([a-z][a-z-]*)  ", top[top.index("\nSubcommands:") : top.index("\nExamples:")], re.MULTILINE
        )
        lines = [
            title("The command"),
            "What ``palmette --help`` and the ``--help`` of each subcommand print.",
        ]
        lines += [":doc:`The guide </guide/command>` explains them with examples.", ""]
        for name, text in [("", top), *((name, help_of(command, name)) for name in names)]:
            lines += ["", title(f"palmette {name}".strip(), "-"), ".. code-block:: text", ""]
            lines += ["   " + line for line in text.rstrip().splitlines()]
        self.writer.write("reference/command.rst", "\n".join(lines) + "\n")

    # Python ----------------------------------------------------------------------------------------------

    def python_pages(self):
        modules = python_modules()
        for module, names in modules.items():
            self.writer.write(f"reference/python/{module}.rst", python_page(module, names))
        listed = "\n".join(f"   {module}" for module in modules)
        self.writer.write(
            "reference/python/index.rst",
            title("Python") + f"""
Made of the docstrings of the installed module. :doc:`The guide </guide/python>` explains it with examples.

.. toctree::
   :maxdepth: 1

{listed}
""",
        )


def rooms_of_the_house():
    """(room, what it makes, door) of the first table of ARCHITECTURE.md."""
    rows = re.findall(
        r"^\| `(\w+)` \| (.*?) \| .*? \| `([\w/.]+)`.*\|$", (ROOT / "ARCHITECTURE.md").read_text(), re.M
    )
    return [row for row in rows if (ROOT / row[2]).exists()]


def headers_of_door(door):
    """The door and the headers of its room that it includes, directly or not; the door first."""
    folder = door.rpartition("/")[0]
    found, waiting = [], [door]
    while waiting:
        header = waiting.pop(0)
        if header in found or not (ROOT / header).exists():
            continue
        found.append(header)
        included = re.findall(r'^#include "(.*?)"', (ROOT / header).read_text(), re.M)
        waiting += [name for name in included if name.rpartition("/")[0] == folder]
    return found


def signatures(text, kind):
    """What stands in an entry: without bodies and trailing marks; `int a, b` becomes two."""
    if kind == "member":
        first, *others = split_at_commas(re.sub(r"\s*(?:=\s*)?\{\}$", " = {}", text))
        kept = re.sub(r"\s*\b\w+\s*(=.*)?$", "", first)
        return [first, *(f"{kept} {other}" for other in others)]
    if kind == "type":
        text = re.sub(r"\busing ", "", text)
        text = re.sub(r"^typedef struct \w+ (\w+)$", r"\1", text)
    if kind == "concept":
        text = re.sub(r"\bconcept (\w+) =.*", r"\1", text)
    return [text.replace("\\", "\\\\").strip()]


def is_parsable(domain, kind, text):
    """Whether Sphinx understands the signature; the others are shown as code."""
    from sphinx.config import Config
    from sphinx.domains.c._parser import DefinitionParser as InC
    from sphinx.domains.cpp._parser import DefinitionParser as InCpp
    from sphinx.util.cfamily import DefinitionError

    config = Config()
    config.add("c_id_attributes", [], "env", [])
    for name in ("c_paren_attributes", "cpp_id_attributes", "cpp_paren_attributes"):
        config.add(name, [], "env", [])
    config.add("c_extra_keywords", [], "env", [])
    if domain == "c":
        parser, shape = InC(text, location=None, config=config), kind
    else:
        parser = InCpp(text, location=None, config=config)
        shape = {"struct": "class", "enum-class": "enum"}.get(kind, kind)
    try:
        parser.parse_declaration(shape, kind) if domain == "cpp" else parser.parse_declaration(shape, shape)
        parser.assert_end()
    except DefinitionError:
        return False
    return True


def help_of(command, *subcommand):
    environment = {**os.environ, "COLUMNS": "80"}
    return subprocess.run(
        [command, *subcommand, "--help"], capture_output=True, text=True, check=True, env=environment
    ).stdout


def python_modules():
    """{public module: names of its __all__}. Errors, which `palmette` exports too, have their own page."""
    folder = ROOT / "python/palmette"
    names = {"palmette": names_in_all(folder / "__init__.py")}
    for path in sorted(folder.glob("[a-z]*.py")):
        if found := names_in_all(path):
            names[f"palmette.{path.stem}"] = found
    errors = set(names["palmette.errors"])
    names["palmette"] = [
        name for name in names["palmette"] if name not in errors and not name.startswith("__")
    ]
    return names


def names_in_all(path):
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            return ast.literal_eval(node.value)
    return []


def python_page(module, names):
    """Functions and classes of a module, those that most users need first."""
    ordered = [name for name in NEEDED_FIRST if name in names]
    ordered += sorted((name for name in names if name not in ordered), key=str.lower)
    lines = [title(module), f".. automodule:: {module}", "   :no-members:", ""]
    for name in ordered:
        is_class = name[:1].isupper()
        lines += [f".. auto{'class' if is_class else 'function'}:: {module}.{name}"]
        if module == "palmette.errors":
            lines += ["   :show-inheritance:"]
        elif is_class:
            lines += ["   :members:", "   :inherited-members: tuple, Exception"]
        lines += [""]
    return "\n".join(lines)
