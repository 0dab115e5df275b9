"""Each rule of the house finds its offence in a tiny wrong tree, and nothing in the clean one."""
import gzip
import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parents[2] / "tools"
sys.path.insert(0, str(TOOLS))

import check_house  # noqa: E402

TABLE = """# The house

| room | makes or holds | may include | door |
| --- | --- | --- | --- |
| `base` | words | – | `palmette/base/base.hpp` |
| `matrix` | matrices | `base` | `palmette/matrix/matrix.hpp` |
| `order` | orderings | `matrix` | `palmette/order/order.hpp` |
| `solve` | solutions | `matrix` | `palmette/solve/solve.hpp` |

| library | marks | only in |
| --- | --- | --- |
| MPI | `mpi.h`, `MPI_*` | `transport` |
| METIS | `metis.h`, `METIS_*` | `order` |
| BLAS | `cblas.h`, `[sdcz]gemm_` | `blocks`, `tests` |
| GPU | `cuda*.h`, `hip/*` | `device`, `*.cu` |
"""
PURPOSE = "// What this file is for, in one line.\n"
LIST = "# References\n\n**[Someone 19" "99]** A. Someone. A title.\n"
CITED = PURPOSE + "/// @source [Someone 19" "99], §3\n"


def door(*included):
    return PURPOSE + "#pragma once\n" + "".join(f'#include "{name}"\n' for name in included)


def clean_tree():
    return {
        "ARCHITECTURE.md": TABLE,
        "CMakeLists.txt": "# Builds the rooms of this tree.\npalmette_room(base)\npalmette_room(matrix ROOMS base LIBS z)\n"
                          "palmette_room(order ROOMS matrix)\npalmette_room(solve ROOMS matrix)\n",
        "palmette/base/base.hpp": door(),
        "palmette/matrix/matrix.hpp": door("palmette/base/base.hpp", "palmette/matrix/inner.hpp"),
        "palmette/matrix/inner.hpp": door("palmette/base/base.hpp"),
        "palmette/order/order.hpp": door("palmette/matrix/matrix.hpp", "palmette/base/base.hpp"),
        "palmette/order/metis.cpp": PURPOSE + "#include <metis.h>\nint nodes() { return METIS_NodeND(); }\n",
        "palmette/solve/solve.hpp": door("palmette/matrix/matrix.hpp"),
        "tests/matrix/inner_test.cpp": PURPOSE + '#include "palmette/matrix/inner.hpp"\n',
    }


@pytest.fixture
def findings(tmp_path):
    """A function: the clean tree with these files changed (None: taken away) → its findings as (rule, path, line)."""

    def look(changes, compile_doors=False):
        for path, content in (clean_tree() | changes).items():
            if content is None:
                continue
            file = tmp_path / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content) if isinstance(content, bytes) else file.write_text(content)
        rules = [rule for rule in check_house.RULES if compile_doors or rule.__name__ != "doors_compile"]
        found, _ = check_house.check(tmp_path, tuple(rules))
        return [(finding.rule, finding.path, finding.line) for finding in found]

    return look


def test_clean_tree_has_no_finding(findings):
    assert findings({}, compile_doors=True) == []


def test_room_includes_what_its_rooms_may_include(findings):
    assert findings({"palmette/order/order.hpp": door("palmette/base/base.hpp")}) == []


OFFENCES = {
    "inside_of_another_room_is_included": (
        {"palmette/order/order.hpp": door("palmette/matrix/inner.hpp")}, ("door", "palmette/order/order.hpp", 3)),
    "inside_of_another_room_is_included_by_a_relative_path": (
        {"palmette/order/order.hpp": door("../matrix/inner.hpp")}, ("door", "palmette/order/order.hpp", 3)),
    "command_includes_the_inside_of_a_room": (
        {"cli/main.cpp": PURPOSE + '#include "palmette/matrix/inner.hpp"\n'}, ("door", "cli/main.cpp", 2)),
    "test_includes_the_inside_of_another_room": (
        {"tests/order/order_test.cpp": PURPOSE + '#include "palmette/matrix/inner.hpp"\n'}, ("door", "tests/order/order_test.cpp", 2)),
    "arrow_runs_up": (
        {"palmette/matrix/inner.hpp": door("palmette/order/order.hpp")}, ("arrow", "palmette/matrix/inner.hpp", 3)),
    "siblings_meet": (
        {"palmette/solve/solve.hpp": door("palmette/order/order.hpp")}, ("arrow", "palmette/solve/solve.hpp", 3)),
    "library_includes_the_command": (
        {"cli/print.hpp": door(), "palmette/solve/solve.hpp": door("../../cli/print.hpp")},
        ("arrow", "palmette/solve/solve.hpp", 3)),
    "row_names_a_later_row": (
        {"ARCHITECTURE.md": TABLE.replace("| matrices | `base` |", "| matrices | `base`, `order` |"),
         "CMakeLists.txt": clean_tree()["CMakeLists.txt"].replace("matrix ROOMS base", "matrix ROOMS base order")},
        ("table", "ARCHITECTURE.md", 6)),
    "row_without_its_door": (
        {"palmette/solve/solve.hpp": None}, ("table", "ARCHITECTURE.md", 8)),
    "folder_without_its_row": (
        {"palmette/attic/attic.hpp": door()}, ("table", "ARCHITECTURE.md", 1)),
    "room_links_more_than_its_row": (
        {"CMakeLists.txt": clean_tree()["CMakeLists.txt"].replace("solve ROOMS matrix", "solve ROOMS matrix order")},
        ("cmake", "CMakeLists.txt", 5)),
    "room_is_not_built": (
        {"CMakeLists.txt": clean_tree()["CMakeLists.txt"].replace("palmette_room(order ROOMS matrix)\n", "")},
        ("cmake", "CMakeLists.txt", 1)),
    "outside_header_in_the_wrong_room": (
        {"palmette/solve/ranks.cpp": PURPOSE + "#include <mpi.h>\n"}, ("outside-library", "palmette/solve/ranks.cpp", 2)),
    "outside_header_in_a_folder": (
        {"palmette/solve/gpu.cpp": PURPOSE + "#include <hip/hip_runtime.h>\n"}, ("outside-library", "palmette/solve/gpu.cpp", 2)),
    "outside_symbol_in_the_wrong_room": (
        {"palmette/solve/a.cpp": PURPOSE + "int k() { return METIS_NodeND(); }\n"}, ("outside-library", "palmette/solve/a.cpp", 2)),
    "outside_symbol_by_its_fortran_name": (
        {"palmette/solve/a.cpp": PURPOSE + "void k() { dgemm_(); }\n"}, ("outside-library", "palmette/solve/a.cpp", 2)),
    "library_prints": (
        {"palmette/solve/a.cpp": PURPOSE + "void k() { std::cout << 1; }\n"}, ("silent", "palmette/solve/a.cpp", 2)),
    "library_prints_by_printf": (
        {"palmette/solve/a.cpp": PURPOSE + 'void k() { std::printf("x"); }\n'}, ("silent", "palmette/solve/a.cpp", 2)),
    "library_writes_to_stderr": (
        {"palmette/solve/a.cpp": PURPOSE + 'void k() { std::fputs("x", stderr); }\n'}, ("silent", "palmette/solve/a.cpp", 2)),
    "library_includes_iostream": (
        {"palmette/solve/a.cpp": PURPOSE + "#include <iostream>\n"}, ("silent", "palmette/solve/a.cpp", 2)),
    "library_exits": (
        {"palmette/solve/a.cpp": PURPOSE + "void k() { exit(1); }\n"}, ("silent", "palmette/solve/a.cpp", 2)),
    "library_aborts": (
        {"palmette/solve/a.cpp": PURPOSE + "void k() { std::abort(); }\n"}, ("silent", "palmette/solve/a.cpp", 2)),
    "view_that_clang_does_not_compile": (
        {"bench/a.cpp": PURPOSE + "auto k() { return std::views::iota(0, 3); }\n"}, ("views", "bench/a.cpp", 2)),
    "library_reads_the_environment": (
        {"palmette/solve/a.cpp": PURPOSE + 'auto k() { return std::getenv("X"); }\n'}, ("silent", "palmette/solve/a.cpp", 2)),
    "file_is_too_long": (
        {"bench/a.cpp": PURPOSE + "\n" * 600}, ("file-length", "bench/a.cpp", 601)),
    "line_of_code_is_too_long": (
        {"bench/a.cpp": PURPOSE + "int k = 1" + " + 1" * 26 + ";\n"}, ("line-length", "bench/a.cpp", 2)),
    "comment_is_too_long": (
        {"tools/a.py": '"""What this file is for."""\n# ' + "word " * 30 + "\n"}, ("line-length", "tools/a.py", 2)),
    "prose_is_too_long": (
        {"docs/guide/a.md": "# A\n\n" + "word " * 30 + "\n"}, ("line-length", "docs/guide/a.md", 3)),
    "work_is_unfinished": (
        {"cli/a.cpp": PURPOSE + "int k;  // TO" "DO: name it\n"}, ("unfinished", "cli/a.cpp", 2)),
    "statement_is_commented_out": (
        {"cli/a.cpp": PURPOSE + "// int total = count(rows);\n"}, ("commented-out", "cli/a.cpp", 2)),
    "call_is_commented_out": (
        {"cli/a.cpp": PURPOSE + "// solver.factorize(matrix, {1, 2});\n"}, ("commented-out", "cli/a.cpp", 2)),
    "return_is_commented_out": (
        {"cli/a.cpp": PURPOSE + "/* why not\n   return 0;\n*/\n"}, ("commented-out", "cli/a.cpp", 3)),
    "code_is_behind_if_zero": (
        {"cli/a.cpp": PURPOSE + "#if 0\nint k;\n#endif\n"}, ("commented-out", "cli/a.cpp", 2)),
    "python_is_commented_out": (
        {"tools/a.py": '"""What this file is for."""\n# print(total)\n'}, ("commented-out", "tools/a.py", 2)),
    "file_opens_without_its_purpose": (
        {"cli/a.cpp": "#include <vector>\n// What this file is for.\n"}, ("purpose", "cli/a.cpp", 1)),
    "script_opens_without_its_purpose": (
        {"start": "#!/bin/sh\nset -e\n"}, ("purpose", "start", 2)),
    "python_file_opens_without_its_purpose": (
        {"tools/a.py": "import sys\n"}, ("purpose", "tools/a.py", 1)),
    "matrix_lies_in_a_wrong_place": (
        {"docs/a.mtx": "1 1 1\n"}, ("matrix-file", "docs/a.mtx", 1)),
    "matrix_is_from_a_collection": (
        {"data/a.mtx": "%%MatrixMarket matrix\n% http://www.cise.ufl.edu/research/sparse\n% author: D. Someone\n"},
        ("matrix-file", "data/a.mtx", 1)),
    "compressed_matrix_is_from_a_collection": (
        {"data/a.mtx.gz": gzip.compress(b"%%MatrixMarket matrix\n% kind: structural problem\n")}, ("matrix-file", "data/a.mtx.gz", 1)),
    "matrix_is_big": (
        {"data/a.mtx": "1 1 1\n" * 20_000}, ("matrix-file", "data/a.mtx", 1)),
    "file_is_big": (
        {"docs/a.svg": "x" * 1_000_001}, ("big-file", "docs/a.svg", 1)),
    "text_names_a_place_on_a_machine": (
        {"docs/a.md": "Look into /wo" "rk/main.\n"}, ("machine-path", "docs/a.md", 1)),
    "text_names_the_temporary_folder": (
        {"docs/a.md": "One\npalmette solve /t" "mp/a.mtx\n"}, ("machine-path", "docs/a.md", 2)),
    "text_shows_a_prompt": (
        {"docs/a.md": "somebody@" "computer:~$ ls\n"}, ("machine-path", "docs/a.md", 1)),
    "time_of_a_gpu_that_none_gave": (
        {"docs/a.md": "One\nAn A1" "00 solves it in 3 ms.\n"}, ("gpu-time", "docs/a.md", 2)),
    "results_of_a_gpu_that_name_no_device": (
        {"docs/results/gpu.md": "# Measured\n\nDevice:\n\nAn A1" "00 took 3 ms.\n"}, ("gpu-time", "docs/results/gpu.md", 1)),
    "function_is_too_long": (
        {"cli/a.cpp": PURPOSE + "int k() {\n" + "  step();\n" * 99 + "}\n"}, ("function-length", "cli/a.cpp", 2)),
    "kernel_is_too_long": (
        {"cli/a.cpp": PURPOSE + "int k_kernel() {\n" + "  step();\n" * 119 + "}\n"}, ("function-length", "cli/a.cpp", 2)),
    "python_function_is_too_long": (
        {"tools/a.py": '"""What this file is for."""\ndef k():\n' + "    step()\n" * 100}, ("function-length", "tools/a.py", 2)),
    "class_is_too_long": (
        {"palmette/solve/a.cpp": PURPOSE + "template <class T>\nclass K final : public L<T> {\n" + "  int k;\n" * 199 + "};\n"},
        ("class-length", "palmette/solve/a.cpp", 3)),
    "struct_inside_is_too_long": (
        {"palmette/solve/a.cpp": PURPOSE + "template <>\nstruct K<int>::State {\n  // the } of a comment\n" + "  int k;\n" * 198 + "};\n"},
        ("class-length", "palmette/solve/a.cpp", 3)),
    "function_takes_too_much": (
        {"cli/a.cpp": PURPOSE + "int k(int a, int b, int c, int d, int e, int f) { return a; }\n"}, ("parameters", "cli/a.cpp", 2)),
    "key_without_its_entry": (
        {"docs/REFERENCES.md": LIST, "cli/a.cpp": CITED + "// [Someone and Other 2" "001] too.\n"}, ("references", "cli/a.cpp", 3)),
    "key_without_a_list": (
        {"docs/a.md": "As in [Someone et al. 19" "99], §2.\n"}, ("references", "docs/a.md", 1)),
    "entry_that_nothing_cites": (
        {"docs/REFERENCES.md": LIST}, ("references", "docs/REFERENCES.md", 3)),
    "paper_is_cited_by_a_file_name": (
        {"docs/a.md": "One\nAs in papers/" "001.\n"}, ("references", "docs/a.md", 2)),
    "exception_that_nothing_needs": (
        {"tools/house_exceptions.txt": "silent palmette/solve/solve.hpp — the watchdog has to say who waits\n"},
        ("exceptions", "tools/house_exceptions.txt", 1)),
    "exception_without_a_reason": (
        {"tools/house_exceptions.txt": "silent palmette/solve/solve.hpp\n"}, ("exceptions", "tools/house_exceptions.txt", 1)),
}


@pytest.mark.parametrize("name", OFFENCES)
def test_offence_is_found_where(name, findings):
    changes, expected = OFFENCES[name]
    everything_but_compiling = findings(changes) if "exception" not in name else findings(changes, compile_doors=True)
    assert everything_but_compiling == [expected]


INNOCENT = {
    "words_in_comments_and_strings": (
        'palmette/solve/a.cpp', '// never abort(), never std::cout\nconst char* k = "printf(mpi) MPI_Send dgemm_ #include <mpi.h>";\n'),
    "formatting_into_a_buffer": ("palmette/solve/a.cpp", "void k(char* b) { std::snprintf(b, 3, b); }\n"),
    "member_called_abort": ("palmette/solve/a.cpp", "void k(T& t) { t.abort(); }\n"),
    "digit_separators_and_characters": ("palmette/solve/a.cpp", "int k = 1'000'000; char q = '\"', s = '\\''; // fine\n"),
    "raw_strings": ("palmette/solve/a.cpp", 'auto k = R"x(" std::cout // )x";\n'),
    "formula_in_prose": ("palmette/solve/a.cpp", "// x = b − A·y, so that the sum is 0 (see above);\n// length n; sorted\n"),
    "code_in_documentation": ("palmette/solve/a.cpp", "/// auto x = solve(a, b);\n"),
    "function_of_hundred_lines": ("cli/a.cpp", "int k() {\n" + "  step();\n" * 98 + "}\n"),
    "kernel_of_hundred_and_twenty_lines": ("cli/a.cpp", "int k_kernel() {\n" + "  step();\n" * 118 + "}\n"),
    "cast_that_looks_like_a_function": (
        "cli/a.cpp", "constexpr int k = 8 / static_cast<int>(sizeof(T)) > 0 ? 1 : 2;\n" + "int l;\n" * 120),
    "class_of_two_hundred_lines": ("palmette/solve/a.cpp", "class K {\n" + "  int k;\n" * 198 + "};\n"),
    "long_namespace_and_enumeration": (
        "palmette/solve/a.cpp", "namespace k {\nenum class K {\n" + "  k,\n" * 210 + "};\n" + "int k;\n" * 210 + "}\n"),
    "short_class_before_long_code": (
        "palmette/solve/a.cpp", "class K;\nstruct L {};\nL l{1};\nstruct L k() { return {}; }\n" + "int k;\n" * 210),
    "five_parameters": ("cli/a.cpp", "int k(int a, int b, int c, int d, int e) { return a; }\n"),
    "long_test": ("tests/solve/a_test.cpp", "int k() {\n" + "  step();\n" * 200 + "}\n"),
    "judge_of_a_test": ("tests/solve/a_test.cpp", "#include <cblas.h>\nvoid k() { dgemm_(); }\n"),
    "device_file": ("palmette/solve/a.cu", "#include <cuda_runtime.h>\n"),
    "predicted_time_of_a_gpu": ("docs/a.md", "Predicted, not measured: an A100 solves it in 3 ms.\n"),
    "results_of_a_gpu_that_name_it": ("docs/results/gpu.md", "# Measured\n\nDevice: An A1" "00\n\nThe A1" "00 took 3 ms.\n"),
    "division_of_names": ("cli/a.cpp", "int k = total/work/3 + (a)/tmp;\n"),
}


@pytest.mark.parametrize("name", INNOCENT)
def test_innocent_is_left_alone(name, findings):
    path, text = INNOCENT[name]
    assert findings({path: PURPOSE + text}) == []


@pytest.mark.parametrize("device, is_found", [("Device: An A1" "00", False), ("Device:", True)])
def test_time_of_a_gpu_may_be_linked_to_results_that_name_the_device(findings, device, is_found):
    linked = {"docs/a.md": "An A1" "00 takes 3 ms, see results/gpu.md.\n", "docs/results/gpu.md": f"# Measured\n\n{device}\n"}
    assert (("gpu-time", "docs/a.md", 1) in findings(linked)) == is_found


def test_key_with_its_entry_is_left_alone(findings):
    assert findings({"docs/REFERENCES.md": LIST, "cli/a.cpp": CITED + "int k = rows[Kind::a1999];  // [1999], [see 1999]\n"}) == []


def test_door_that_does_not_compile_alone_is_found(findings):
    wrong = door() + "inline std::vector<int> rows;\n"
    assert findings({"palmette/base/base.hpp": wrong}, compile_doors=True)[0] == ("door-compiles", "palmette/base/base.hpp", 1)


def test_door_that_does_not_compile_twice_is_found(findings):
    wrong = PURPOSE + "struct Twice {};\n"
    assert ("door-compiles", "palmette/solve/solve.hpp", 1) in findings({"palmette/solve/solve.hpp": wrong}, compile_doors=True)


def test_exception_covers_its_function_only(findings):
    long = "int {}() {{\n" + "  step();\n" * 100 + "}}\n"
    reason = "a table of cases, one a line, which reads better whole"
    found = findings({"cli/a.cpp": PURPOSE + long.format("kept") + long.format("other"),
                      "tools/house_exceptions.txt": f"# a comment\n\nfunction-length cli/a.cpp:kept — {reason}\n"}, compile_doors=True)
    assert found == [("function-length", "cli/a.cpp", 104)]


def test_command_prints_findings_and_ends_with_one(findings, tmp_path):
    findings({"cli/a.cpp": "int k;\n"})
    report = tmp_path / "report.xml"
    done = subprocess.run([sys.executable, TOOLS / "check_house.py", "--root", tmp_path, "--no-compile", "--junit", report],
                          capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stdout.startswith("cli/a.cpp:1: purpose: does not open with its purpose: begin with a comment")
    assert 'failures="1"' in report.read_text()


def test_file_that_git_ignores_is_not_looked_at(findings, tmp_path):
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / ".gitignore").write_text("drafts/\n")
    assert findings({"drafts/a.cpp": "int k;\n"}) == []
