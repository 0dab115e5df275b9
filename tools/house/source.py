"""Splits a C++ text: code without comments, code without strings, the comments, the includes."""
import re
from functools import lru_cache

_TOKENS = re.compile(
    r'(?P<raw>R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)")'
    r'|(?P<string>"(?:\\.|[^"\\\n])*")'
    r"|(?P<character>(?<![0-9a-fA-F])'(?:\\[^'\n]+|\\'|[^'\\\n])')"
    r"|(?P<comment>//[^\n]*|/\*.*?\*/)",
    re.DOTALL,
)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^">\n]+)[">]', re.MULTILINE)


def _blank(text):
    return re.sub(r"[^\n]", " ", text)


@lru_cache(maxsize=None)
def without_comments(text):
    """The text with each comment replaced by blanks, line numbers kept."""
    return _TOKENS.sub(lambda match: _blank(match[0]) if match["comment"] else match[0], text)


@lru_cache(maxsize=None)
def code_only(text):
    """The text with comments, strings and characters replaced by blanks, line numbers kept."""
    return _TOKENS.sub(lambda match: _blank(match[0]), text)


def comments(text):
    """(line number, text of one line of a comment, is it documentation?) for each line of each comment."""
    for match in _TOKENS.finditer(text):
        if match["comment"] is None:
            continue
        first = line_of(text, match.start())
        is_documentation = bool(re.match(r"//[/!]|/\*\*", match[0]))
        for offset, line in enumerate(match[0].splitlines()):
            yield first + offset, re.sub(
                r"^\s*(?://+!?<?|/\*+|\*+/?)|\*/\s*$", "", line
            ).strip(), is_documentation


def includes(text):
    """(line number, included path) for each include."""
    code = without_comments(text)
    for match in _INCLUDE.finditer(code):
        yield line_of(code, match.start(1)), match[1]


def line_of(text, position):
    return text.count("\n", 0, position) + 1
