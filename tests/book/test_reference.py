"""The reference has what the sources declare."""

import ast
import re

from book import declarations, pages, reference_pages

HEADER = '''// Adds up.
#pragma once
namespace palmette {
class Forward;
/// How to add.
enum class Way { forward,  ///< from the first
  backward };
namespace sum_detail { int hidden(); }
/// Σ of values.
/// @param values  n of them
/// @throws UsageError if there are none
/// @cost  O(n)
template <class T>
T sum(std::span<const T> values, Way way = Way::forward);
struct Sums {
  int count = 0, total = 0;  // of what was added
  std::vector<int> parts = {0};
  bool empty() const { return count == 0; }
};
class Adder {
 public:
  explicit Adder(int first) : first_{first} {}
  Adder& operator=(const Adder&) = delete;
  int operator()(int value) const;
 private:
  int first_;
};
inline constexpr int most = 7;
using Numbers = std::vector<double>;
}
'''  # fmt: skip


def found(items):
    return {item.name: item for item in items}


def test_a_header_gives_its_declarations_with_their_comments():
    items = found(declarations.declarations_of(HEADER))
    assert list(items) == ["Way", "sum", "Sums", "Adder", "most", "Numbers"]
    assert [(member.name, member.doc) for member in items["Way"].members] == [
        ("forward", "from the first"),
        ("backward", ""),
    ]
    assert items["sum"].texts == [
        "template <class T> T sum(std::span<const T> values, Way way = Way::forward)"
    ]
    assert items["sum"].doc.startswith("Σ of values.\n@param values")
    sums = found(items["Sums"].members)
    assert reference_pages.signatures(sums["count"].texts[0], "member") == ["int count = 0", "int total = 0"]
    assert sums["count"].doc == "of what was added" and sums["empty"].kind == "function"
    assert list(found(items["Adder"].members)) == ["Adder", "operator()"]
    assert items["Numbers"].kind == "type" and items["most"].kind == "member"


def test_a_header_of_c_gives_pairs_one_docstring():
    items = found(
        declarations.declarations_of((pages.ROOT / reference_pages.C_HEADER).read_text(), is_c=True)
    )
    assert [text.split("(")[0].split()[-1] for text in items["palmette_solve_d"].texts] == [
        "palmette_solve_d",
        "palmette_solve_z",
    ]
    assert "num_rhs columns" in items["palmette_solve_d"].doc
    assert len(items["palmette_status"].members) == 9


def test_every_function_of_the_c_header_is_in_the_reference(built):
    header = re.sub(r"/\*.*?\*/", "", (pages.ROOT / reference_pages.C_HEADER).read_text(), flags=re.DOTALL)
    names = re.findall(r"\b(palmette_\w+)\(", header)
    text = (built / "reference/c.html").read_text()
    assert len(names) > 25 and [name for name in names if f'id="c.{name}"' not in text] == []


def documented_names(header):
    """Names of types below a docstring at the beginning of a line, found without the parser."""
    text = (pages.ROOT / header).read_text()
    found = re.findall(r"^///(?!<).*\n(?:template.*\n)?(?:class|struct|enum class) (\w+)(?!\w|;)", text, re.M)
    return set(found)


# The entry of a type, not a mention of it.
TYPE = re.compile(
    r'(?:class|struct)</span></span><span class="w"> </span><span class="sig-name descname"><span class="n">'
    r'<span class="pre">(\w+)<'
)


def test_every_documented_type_of_a_door_is_in_the_reference(built):
    missing = []
    rooms = [row for row in reference_pages.rooms_of_the_house() if row[0] != "capi"]
    assert len(rooms) > 15
    for room, _, door in rooms:
        text = (built / f"reference/cpp/{room}.html").read_text()
        for header in reference_pages.headers_of_door(door):
            if "_detail {" not in (pages.ROOT / header).read_text():
                missing += [
                    f"{header}: {name}" for name in documented_names(header) - set(TYPE.findall(text))
                ]
    assert missing == []


def test_every_public_name_of_python_is_in_the_reference(built):
    for module, names in reference_pages.python_modules().items():
        text = (built / f"reference/python/{module}.html").read_text()
        assert [name for name in names if f'id="{module}.{name}"' not in text] == []


def test_methods_that_users_call_have_their_docstrings(built):
    text = (built / "reference/python/palmette.html").read_text()
    tree = ast.parse((pages.ROOT / "python/palmette/_solver.py").read_text())
    solver = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Solver")
    public = [
        node.name
        for node in solver.body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    ]
    assert len(public) > 4 and [name for name in public if f'id="palmette.Solver.{name}"' not in text] == []


def test_every_subcommand_shows_its_help(built):
    text = (built / "reference/command.html").read_text()
    subcommands = re.findall(
        r"^Command add_(\w+)\(", (pages.ROOT / "cli/commands.hpp").read_text(), re.MULTILINE
    )
    assert len(subcommands) > 10
    for name in subcommands:
        assert f"Usage: palmette {name.replace('_', '-')}" in text
