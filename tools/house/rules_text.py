"""Rules about single files: the silent library, comments, purpose, length of files, and what may not be
committed."""

import gzip
import re
from pathlib import PurePosixPath

from house.markdown import MAX_COLUMNS, long_lines
from house.source import code_only, comments, includes, line_of
from house.tree import Finding

MAX_FILE_LINES = 600
MAX_LINE_COLUMNS = MAX_COLUMNS
MAX_FILE_BYTES = 1_000_000
MAX_MATRIX_BYTES = 100_000

_SILENCE = [
    (re.compile(r"\bstd::w?(?:cout|cerr|clog)\b"), "prints", "hand the text back in a report; cli/ prints"),
    (re.compile(r"\b(?:stdout|stderr)\b"), "prints", "hand the text back in a report; cli/ prints"),
    (
        re.compile(r"(?<![\w.>])(?:std::)?(?:v?printf|puts|putchar|perror)\s*\("),
        "prints",
        "hand the text back in a report; cli/ prints",
    ),
    (
        re.compile(r"(?<![\w.>])(?<!void )(?:std::)?(?:exit|_exit|_Exit|quick_exit|abort|terminate)\s*\("),
        "ends the process",
        "throw an Error, or return an Outcome",
    ),
    (
        re.compile(r"\b(?:(?:secure_)?getenv|setenv|putenv|environ)\b"),
        "reads the environment",
        "take it as an option; cli/ or python/ may ask the system",
    ),
]
_UNFINISHED = re.compile(r"\b(?:TO[D]O|FIX[M]E|XX[X]|HAC[K])\b")
_CODE_IN_COMMENT = [
    re.compile(
        r"^(?:return\b.*;|(?:if|for|while|switch)\s*\(.*\)\s*\{?|else\s*\{|\}\s*(?:else.*)?|#\s*(?:include|if|define)\b.*)$"
    ),
    re.compile(
        r"^(?!.*[a-z] [a-z]+ [a-z])(?:const |auto |int |double |float |bool |std::|[\w:<>]+[&*]?"
        r" )?[\w.\[\]()*>-]+ [-+*/|&]?= [^=].*;$"
    ),
    re.compile(r"^[\w:]+(?:(?:\.|->)\w+)*\([^()]*(?:\([^()]*\))*[^()]*\);$"),
]
_PYTHON_CODE_IN_COMMENT = re.compile(
    r"^\s*#\s?(?:import \w+(?:\.\w+)*$|from [\w.]+ import \w|def \w+\(.*\):$|return"
    r" \w+\(|print\(|(?:if|for|while) [^#]*:$|\w+ = \w+\(.*\)$)"
)
_GPU = re.compile(r"\bGPUs?\b|\b[AVH]100\b|\bH200\b|\bMI250X?\b|\b[ah]100\b|\bh200\b|\bmi250x\b")
GPU_RESULTS = "docs/results/gpu.md"
_DEVICE_LINE = re.compile(r"^Device: \S", re.MULTILINE)
_TIME = re.compile(r"\d\s?(?:ms|us|µs|seconds|s)\b")
_NOT_MEASURED = re.compile(
    r"not measured|no GPU r[au]n|no GPU has run|nothing was measured|never run on a GPU|ran on a GPU", re.I
)
_MACHINE_PATH = re.compile(
    r"(?<![\w.\-}$])/(?:work|home|root|Users)(?=/\w)|(?<![\w.\-}$)])/tm[p]\b|\b\w+@[\w-]+:[~/]"
)
_MATRIX_ENDINGS = re.compile(
    r"\.(?:mtx|mm|rb|hb|rua|rsa|rra|rza|cua|csa|cza|pua|psa|pra|rse|rsz|cxa|mps|mat)(?:\.gz|\.xz|\.bz2)?$",
    re.I,
)
_THIRD_PARTY = re.compile(
    r"suitesparse|sparse\.tamu|UF sparse|math\.nist\.gov|%\s*author:|%\s*kind:|%\s*fields:", re.I
)


def silent_library(tree, architecture):
    """Nothing in palmette/ prints, exits, or reads the environment."""
    for path in tree.cpp_files():
        if not path.startswith("palmette/"):
            continue
        text = tree.text(path) or ""
        code = code_only(text)
        for pattern, offence, remedy in _SILENCE:
            for match in pattern.finditer(code):
                yield Finding(
                    path,
                    line_of(code, match.start()),
                    "silent",
                    f"the library {offence} ({match[0].strip('( ')})",
                    remedy,
                )
        for line, included in includes(text):
            if included == "iostream":
                yield Finding(
                    path, line, "silent", "includes <iostream>", "include <istream>, <ostream> or <iosfwd>"
                )


def file_length(tree, architecture):
    for path in tree.sources():
        lines = (tree.text(path) or "").count("\n")
        if lines > MAX_FILE_LINES:
            yield Finding(
                path,
                lines,
                "file-length",
                f"{lines} lines, more than {MAX_FILE_LINES}",
                "split it at its own sections",
            )


def line_length(tree, architecture):
    """Lines of code, comments and the prose of pages. Rows of tables, and text without a space to break at,
    may be longer."""
    for path in tree.sources():
        for number, line in enumerate((tree.text(path) or "").splitlines(), 1):
            if (
                len(line) > MAX_LINE_COLUMNS
                and " " in line.strip().lstrip("/#* ")
                and not line.lstrip().startswith(("|", '"|'))
            ):
                yield Finding(
                    path,
                    number,
                    "line-length",
                    f"{len(line)} columns, more than {MAX_LINE_COLUMNS}",
                    "break it where a reader would pause",
                )
    for path in tree.files:
        if not path.endswith(".md") or path.startswith(("docs/results/", "tools/")):
            continue  # most of the results are made by programs
        for number, columns in long_lines(tree.text(path) or ""):
            yield Finding(
                path,
                number,
                "line-length",
                f"{columns} columns, more than {MAX_LINE_COLUMNS}",
                f"python3 tools/wrap_markdown.py {path}",
            )


def no_unfinished_work(tree, architecture):
    for path in tree.sources():
        for number, line in enumerate((tree.text(path) or "").splitlines(), 1):
            found = _UNFINISHED.search(line)
            if found:
                yield Finding(
                    path,
                    number,
                    "unfinished",
                    f"{found[0]} is left",
                    "do it, or open an issue and take the note away",
                )


def views(tree, architecture):
    """No views of <ranges>: clang 14 does not compile those of libstdc++ 12, and only the fuzzers' build,
    the last one of ./check, would tell."""
    for path in tree.cpp_files():
        code = code_only(tree.text(path) or "")
        for match in re.finditer(r"\bviews::\w+|\branges::\w+_view\b", code):
            yield Finding(
                path,
                line_of(code, match.start()),
                "views",
                f"clang 14 does not compile {match[0]}",
                "write the loop",
            )


def no_commented_out_code(tree, architecture):
    remedy = "delete it: git remembers (a formula in prose: write it without the semicolon)"
    for path in tree.cpp_files():
        text = tree.text(path) or ""
        for line, comment, is_documentation in comments(text):
            if not is_documentation and any(pattern.match(comment) for pattern in _CODE_IN_COMMENT):
                yield Finding(path, line, "commented-out", f"looks like code: {comment}", remedy)
        code = code_only(text)
        for match in re.finditer(r"^\s*#\s*if\s+(?:0|false)\b", code, re.MULTILINE):
            yield Finding(
                path,
                line_of(code, match.end()),
                "commented-out",
                "code behind a condition that is never true",
                remedy,
            )
    for path in tree.sources():
        if path.endswith((".py", ".pyi")):
            for number, line in enumerate((tree.text(path) or "").splitlines(), 1):
                if _PYTHON_CODE_IN_COMMENT.match(line):
                    yield Finding(path, number, "commented-out", f"looks like code: {line.strip()}", remedy)


def purpose(tree, architecture):
    """A source file opens with a comment (or Python docstring) of at least three words."""
    for path in tree.sources():
        lines = (tree.text(path) or "").splitlines()
        at = 0
        while at < len(lines) and (
            not lines[at].strip()
            or lines[at].startswith("#!")
            or "pragma once" in lines[at]
            or "SPDX-License-Identifier" in lines[at]
        ):
            at += 1
        opening = " ".join(lines[at:at + 3])
        mark = r'\s*(?://|/\*)' if tree.is_cpp(path) else r'\s*(?:#|r?"""|r?\'\'\')'
        if not re.match(mark, opening) or len(re.findall(r"\w{2,}", opening)) < 3:
            yield Finding(
                path,
                at + 1,
                "purpose",
                "does not open with its purpose",
                "begin with a comment of one to six lines: what and why",
            )


def matrix_files(tree, architecture):
    """Matrices in the repository are small and of our own making."""
    for path in tree.files:
        if not _MATRIX_ENDINGS.search(path):
            continue
        if PurePosixPath(path).parts[0] not in ("data", "tests"):
            yield Finding(
                path,
                1,
                "matrix-file",
                "a matrix file outside data/ and tests/",
                "generate it when it is needed, or move it to data/",
            )
        if tree.size(path) > MAX_MATRIX_BYTES:
            yield Finding(
                path,
                1,
                "matrix-file",
                f"{tree.size(path)} bytes, more than {MAX_MATRIX_BYTES}",
                "generate it when it is needed",
            )
        content = tree.absolute(path).read_bytes()
        if path.endswith(".gz"):
            try:
                content = gzip.decompress(content)
            except (OSError, EOFError):
                continue  # a broken file, for a test of the readers
        if _THIRD_PARTY.search(content[:4096].decode("latin-1")):
            yield Finding(
                path,
                1,
                "matrix-file",
                "its header names a collection",
                "optional ones are read from a folder outside the tree",
            )


def big_files(tree, architecture):
    for path in tree.files:
        if tree.size(path) > MAX_FILE_BYTES:
            yield Finding(
                path,
                1,
                "big-file",
                f"{tree.size(path)} bytes, more than {MAX_FILE_BYTES}",
                "make it when it is needed",
            )


def gpu_times(tree, architecture):
    """A page that names a GPU beside a time says where the time comes from: that it was not measured, or the
    page of results of the GPU that gave it, which names its device."""
    results = (tree.text(GPU_RESULTS) or "") if GPU_RESULTS in tree.files else ""
    measured = _DEVICE_LINE.search(results) is not None
    if results and not measured:
        yield Finding(GPU_RESULTS, 1, "gpu-time", "results of a GPU that name no device",
                      "have tools/results_gpu.py write the page: it has a line 'Device: NAME'")
    for path in tree.files:
        text = tree.text(path) or ""
        if not path.endswith(".md") or path == GPU_RESULTS or _NOT_MEASURED.search(text):
            continue
        if measured and "gpu.md" in text:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if _GPU.search(line) and _TIME.search(line):
                yield Finding(
                    path,
                    number,
                    "gpu-time",
                    "a time beside the name of a GPU, and nothing says that no GPU gave it",
                    "write that it is predicted, simulated or not measured, or link docs/results/gpu.md",
                )


def no_machine_paths(tree, architecture):
    """No file contains a folder or a prompt of a particular machine."""
    for path in tree.files:
        text = tree.text(path)
        for number, line in enumerate((text or "").splitlines(), 1):
            found = _MACHINE_PATH.search(line)
            if found:
                yield Finding(
                    path,
                    number,
                    "machine-path",
                    f"names a place on one machine ({found[0]})",
                    "use a relative path, or ask for a temporary folder (mktemp,"
                    " std::filesystem::temp_directory_path)",
                )
