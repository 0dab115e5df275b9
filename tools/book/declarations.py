"""Declarations of a C or C++ header with their docstrings, for the reference pages.

A docstring is the `///` lines before a declaration or the `///<` behind it (in C: the comment before or
behind it). In structs and enums a plain comment counts too. Bodies of functions, private members, `…_detail`
namespaces and forward declarations are left out. This is no compiler: it reads what the style of the project
allows in a header, and a test compares what it finds with what the headers declare.
"""

import dataclasses
import re

TOKEN = re.compile(
    r"(?P<doc>///(?!<|/)[^\n]*)|(?P<behind>///<[^\n]*)|(?P<note>//[^\n]*)"
    r"|(?P<text>\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+')|(?P<line>\n)"
    r"|(?P<mark>[{};(),:])"
    r"|(?P<code>[^\"'\n{};(),:/]+|.)",
)
SCOPE = re.compile(
    r"^(?P<template>template\s*<.*>\s*(?:requires\b.*)?)?(?P<typedef>typedef\s+)?"
    r"(?P<kind>enum class|enum|class|struct|union)\b\s*(?:alignas\s*\(.*?\)\s*)?(?P<name>\w*)"
    r"(?P<rest>[^()]*)$",
    re.DOTALL,
)
FUNCTION_END = re.compile(
    r"\)\s*(?:const|noexcept|override|final|&|\s|->[^={]*|requires[^{]*|:(?!:).*)*$", re.DOTALL
)


@dataclasses.dataclass
class Declaration:
    """kind: function, member, type, concept, enumerator, or enum, enum-class, class, struct, union."""

    kind: str
    name: str
    texts: list  # the declaration; several for functions that share a docstring
    doc: str
    namespace: str
    line: int
    last_line: int
    members: list = dataclasses.field(default_factory=list)


def declarations_of(text, is_c=False):
    """What a header declares, in its order; members of a class lie in the class."""
    if is_c:
        text = _with_line_comments(text)
    text = re.sub(
        r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda found: "\n" * found[0].count("\n"), text, flags=re.M
    )
    parser = _Parser(text)
    parser.scope(_Scope("", "namespace", True, parser.found))
    return parser.found


def opening_comment(text):
    """The comment that a header begins with."""
    if text.startswith("/*"):
        return _paragraphs(text[2 : text.index("*/")].replace("\n *", "\n"))
    lines = []
    for line in text.splitlines():
        if not line.startswith("//"):
            break
        lines.append(line[2:].removeprefix(" "))
    return "\n".join(lines)


def _paragraphs(text):
    return "\n".join(line.strip() for line in text.strip().splitlines())


def _with_line_comments(text):
    """Comments of C as those of C++, so that one parser reads both."""

    def lines(found):
        behind = text[: found.start()].rpartition("\n")[2].strip() != ""
        content = _paragraphs(re.sub(r"\n\s*\*", "\n", found[1])).split("\n")
        if behind:
            return "///<" + " ".join(content) + "\n" * found[0].count("\n")
        return "\n".join("///" + (" " + line if line else "") for line in content)

    return re.sub(r"/\*(.*?)\*/", lines, text, flags=re.DOTALL)


@dataclasses.dataclass
class _Scope:
    """A namespace or class while it is read, and where its declarations go."""

    namespace: str
    kind: str
    is_public: bool
    into: list


class _Parser:
    def __init__(self, text):
        self.tokens = [(found.lastgroup, found[0]) for found in TOKEN.finditer(text)]
        self.place = 0
        self.line = 1
        self.found = []

    def next(self):
        kind, text = self.tokens[self.place]
        self.place += 1
        self.line += text.count("\n")
        return kind, text

    def balanced(self):
        """Skips to the brace that closes the one just read."""
        depth = 1
        while depth and self.place < len(self.tokens):
            _, text = self.next()
            depth += (text == "{") - (text == "}")

    def scope(self, here):
        """Reads to the end of a namespace or class."""
        into, counts_notes = here.into, here.kind != "namespace"
        code, doc, begin, depth = "", [], 0, 0
        while self.place < len(self.tokens):
            token, text = self.next()
            if token in ("doc", "behind", "note"):
                content = text.lstrip("/").removeprefix("<").removeprefix(" ").rstrip()
                is_behind = into and into[-1].last_line == self.line and not code.strip()
                if is_behind and (token == "behind" or (token == "note" and counts_notes)):
                    into[-1].doc = "\n".join(filter(None, [into[-1].doc, content]))
                elif not code.strip() and (token == "doc" or (token == "note" and counts_notes)):
                    doc.append(content)
                continue
            if token == "line":
                if (
                    not code.strip()
                    and self.place < len(self.tokens)
                    and self.tokens[self.place][0] == "line"
                ):
                    doc = []
                code += " "
                continue
            if not code.strip():
                begin = self.line
            depth += (text == "(") - (text == ")")
            if depth or text not in "{};:":
                code += text
                continue
            words = " ".join(code.split())
            if text == "}":
                return
            if text == ":":
                if words in ("public", "private", "protected"):
                    here.is_public, code, doc = words == "public", "", []
                else:
                    code += text
                continue
            if text == "{":
                code = self.open_brace(words, doc, begin, here, code)
                if code == "":
                    doc = []
                continue
            self.add(words, doc, begin, here)
            code, doc = "", []

    def open_brace(self, words, doc, begin, here, code):
        """What a brace opens; returns what was read of the declaration so far."""
        if re.match(r'(inline )?namespace\b|extern "C"$', words):
            name = words.split()[-1] if "namespace" in words else ""
            if name == "namespace" or name.endswith("_detail"):
                self.balanced()
            else:
                inner = "::".join(filter(None, [here.namespace, name]))
                self.scope(_Scope(inner, "namespace", True, here.into))
            return ""
        if (scope := SCOPE.match(words)) and "=" not in scope["rest"]:
            self.open_type(scope, doc, begin, here)
            return ""
        if FUNCTION_END.search(words) and "=" not in words.rpartition(")")[2]:
            self.balanced()
            self.add(_without_initializers(words), doc, begin, here)
            return ""
        self.balanced()
        return code + "{}"

    def open_type(self, scope, doc, begin, here):
        kind = scope["kind"].replace(" ", "-")
        text = f"{scope['template'] or ''}{scope['name']}{scope['rest']}".strip()
        made = Declaration(kind, scope["name"], [text], "\n".join(doc), here.namespace, begin, self.line)
        if kind.startswith("enum"):
            self.enumerators(made)
        else:
            self.scope(_Scope(here.namespace, kind, kind != "class", made.members))
        rest = ""
        while self.place < len(self.tokens) and self.tokens[self.place][1] != ";":
            rest += self.next()[1]
        self.next()
        if scope["typedef"]:
            made.name = made.texts[0] = rest.strip()
        made.last_line = self.line
        if here.is_public and made.name:
            here.into.append(made)

    def enumerators(self, made):
        """NAME [= VALUE], with a comment before or behind it."""
        code, doc = "", []
        while True:
            token, text = self.next()
            if token in ("doc", "behind", "note"):
                content = text.lstrip("/").removeprefix("<").removeprefix(" ").rstrip()
                last = made.members[-1] if made.members else None
                if token != "doc" and not code.strip() and last and last.last_line == self.line:
                    last.doc = "\n".join(filter(None, [last.doc, content]))
                else:
                    doc.append(content)
                continue
            if text in ",}":
                words = " ".join(code.split())
                if words:
                    name = words.split()[0]
                    made.members.append(
                        Declaration("enumerator", name, [words], "\n".join(doc), "", self.line, self.line)
                    )
                code, doc = "", []
                if text == "}":
                    return
            else:
                code += " " if token == "line" else text

    def add(self, words, doc, begin, here):
        """A function, member, type or concept, unless users cannot do anything with it."""
        kind = _kind_of(words)
        if kind is None or "__attribute__" in words or not here.is_public:
            return
        words = re.sub(r"\b(inline|friend)\s+|\[\[\w+\]\]\s*", "", words)
        words = re.sub(r"^((?:template\s*<.*?>\s*)?)(static )?constexpr\s+(?!.*=)", r"\1\2constexpr ", words)
        name = _name_of(words, kind)
        last = here.into[-1] if here.into else None
        if (
            kind == "function" and not doc and last and last.kind == "function" and last.doc
            and last.last_line + 1 >= begin and last.name.rstrip("dz") == name.rstrip("dz")
        ):  # fmt: skip
            last.texts.append(words)
            last.last_line = self.line
            return
        here.into.append(Declaration(kind, name, [words], "\n".join(doc), here.namespace, begin, self.line))


def _kind_of(words):
    if not words or re.match(
        r"(extern template|friend|static_assert|using namespace|class \w+$|struct \w+$)", words
    ):
        return None
    if re.match(r"template\s*<.*>\s*(class|struct) \w+$", words) or re.search(r"=\s*delete$", words):
        return None
    if re.match(r"typedef struct \w+ \w+$", words):
        return "type"
    if re.match(r"(template\s*<.*>\s*)?using \w+ =", words):
        return "type"
    if words.startswith("using ") or re.fullmatch(r"[A-Z_]+\s*(\(.*\))?", words):
        return None
    if re.match(r"template\s*<.*>\s*concept ", words):
        return "concept"
    if re.search(r"~\w+\(|operator=\(", words):
        return None
    before = re.sub(
        r"<[^<>]*>|<[^<>]*<[^<>]*>[^<>]*>", "", words.split("=")[0] if "operator" not in words else words
    )
    return "function" if "(" in before else "member"


def _name_of(words, kind):
    if kind == "type":
        found = re.search(r"using (\w+)", words)
        return found[1] if found else words.split()[-1]
    if kind == "concept":
        return re.search(r"concept (\w+)", words)[1]
    if kind == "function":
        found = re.search(r"(operator\s*(?:\(\)|[^\s(]+)|\w+)\s*\(", words)
        return found[1] if found else words
    return re.findall(r"\w+", re.split(r"=|\{|\[", split_at_commas(words)[0])[0])[-1]


def split_at_commas(text):
    """At those outside all brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "(<[{") - (letter in ")>]}")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def _without_initializers(words):
    """A constructor without the list of what it initializes."""
    depth = 0
    for place, letter in enumerate(words):
        depth += (letter == "(") - (letter == ")")
        if letter == ":" and not depth and "::" not in words[place - 1 : place + 2] and ")" in words[:place]:
            return words[:place].strip()
    return words
