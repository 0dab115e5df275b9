"""Rules about functions: length and number of parameters. lizard measures C++, Python's own parser measures
Python."""

import ast
import re
from pathlib import PurePosixPath

from house.source import code_only
from house.tree import Finding

MAX_FUNCTION_LINES = 100
MAX_KERNEL_LINES = 120
MAX_PARAMETERS = 5
# lizard mistakes a cast in a comparison for a function, and swallows what follows.
_CAST = re.compile(r"\b(?:static|reinterpret|const|dynamic|bit)_cast\s*<(?:[^<>;()]|<[^<>;()]*>)*>")
_NO_FUNCTION = {
    "if",
    "for",
    "while",
    "switch",
    "return",
    "sizeof",
    "decltype",
    "requires",
    "noexcept",
    "alignas",
}


def _cpp_functions(tree, path):
    """(name, first line, lines, parameters) of each function."""
    import lizard

    analysis = lizard.analyze_file.analyze_source_code(path, _CAST.sub("", code_only(tree.text(path) or "")))
    for function in analysis.function_list:
        if function.name.split("::")[-1] in _NO_FUNCTION:
            continue
        yield (
            function.name,
            function.start_line,
            function.end_line - function.start_line + 1,
            function.parameter_count,
        )


def _python_functions(tree, path):
    """The same for Python; keyword-only parameters are not counted, since they are Python's named struct."""
    for node in ast.walk(ast.parse(tree.text(path))):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            names = [
                argument.arg
                for argument in node.args.posonlyargs + node.args.args
                if argument.arg not in ("self", "cls")
            ]
            yield node.name, node.lineno, node.end_lineno - node.lineno + 1, len(names)


def _functions(tree, path):
    if path.endswith((".py", ".pyi")):
        return _python_functions(tree, path)
    return _cpp_functions(tree, path) if tree.is_cpp(path) else []


def function_sizes(tree, architecture):
    """Tests are exempt: a test may be long, and the limit for files limits it."""
    for path in tree.sources():
        if path.startswith("tests/"):
            continue
        for name, line, lines, parameters in _functions(tree, path):
            limit = MAX_KERNEL_LINES if _is_kernel(name, path) else MAX_FUNCTION_LINES
            if lines > limit:
                yield Finding(path, line, "function-length", f"{name} has {lines} lines, more than {limit}",
                              "split it at its own comments", name)
            if parameters > MAX_PARAMETERS:
                yield Finding(
                    path,
                    line,
                    "parameters",
                    f"{name} takes {parameters}, more than {MAX_PARAMETERS}",
                    "put those that belong together into a named struct",
                    name,
                )


def _is_kernel(name, path):
    return bool(re.search(r"_kernel$", name)) or PurePosixPath(path).suffix in (".cu", ".cuh")
