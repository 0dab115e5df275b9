"""order, analyze, info, generate, convert, bench, and the help texts."""
import gzip
import sys

import pytest
from conftest import DATA, ROOT, coordinate, methods_at

sys.path.insert(0, str(ROOT / "tools"))
import results_gpu  # noqa: E402

COMMANDS = [
    "solve", "trisolve", "inverse", "schur", "order", "analyze", "info", "generate", "convert", "bench",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_teaches_within_80_columns(palmette, command):
    done = palmette(command, "--help")
    assert done.code == 0 and done.err == ""
    for word in [
        f"Usage: palmette {command}",
        "Examples:",
        f"  palmette {command} ",
        "Exit codes:",
        "--json FILE|-",
        "--quiet",
    ]:
        assert word in done.out
    assert max(map(len, done.out.splitlines())) <= 90
    assert "default" in done.out or command in ("convert",)


def test_overview_names_every_command(palmette):
    done = palmette("--help")
    assert done.code == 0
    for command in COMMANDS:
        assert f"\n  {command} " in done.out
    assert palmette("--version").out.startswith("palmette ")


def test_help_of_solve_names_every_method_and_ordering(palmette):
    text = "".join(palmette("solve", "--help").out.split())
    methods = [
        f"for{where}:" + ",".join(methods_at(palmette, where))
        for where in ["one machine", "ranks in one layer", "several layers of ranks", "a device",
                      "several devices"]
    ]
    for word in [
        "auto(default);" + ";".join(methods).replace(" ", ""),
        "loopback|threads:N|mpi_two_sided|mpi_rma|mpi_rma_counter",
        "auto|amd|nd|metis|scotch|natural|FILE",
        "random[:SEED]",
    ]:
        assert word in text


def test_every_method_of_the_list_solves_where_it_says_and_is_named_in_the_report(palmette, spd):
    places = {
        "one machine": [],
        "ranks in one layer": ["--transport", "threads:2"],
        "several layers of ranks": ["--transport", "threads:2", "--grid", "1x1x2"],
        "a device": ["--device", "emulated"],
        "several devices": ["--device", "emulated", "--gpus", "2x1"],
        "several layers of devices": ["--device", "emulated", "--gpus", "1x1x2"],
    }
    # the method says whether layers meet once or at each level
    places["several layers of devices that meet at each level"] = places["several layers of devices"]
    rows = palmette("info", "--json", "-").json["build"]["solve_methods"]
    # The last place is that of triangles alone: solve refuses its methods everywhere.
    assert {row["where"] for row in rows} == {*places, "columns of several devices"}
    for row in rows:
        for options in places.values():
            done = palmette("solve", spd, *options, "--method", row["name"], "--json", "-")
            if options is not places.get(row["where"]):
                done.fails_with(2, f"{row['name']} is for {row['where']}")
            elif row["available"]:
                assert done.code == 0 and done.json["solve"]["method"] == row["name"]


def test_order_reports_what_the_ordering_leads_to(palmette, spd):
    natural = palmette("order", spd, "--method", "natural", "--json", "-").json
    amd = palmette("order", spd, "--order", "amd", "--json", "-").json
    assert natural["order"]["method"] == "natural" and amd["order"]["method"] == "amd"
    assert amd["analyze"]["nnz_factor"] < natural["analyze"]["nnz_factor"] and amd["analyze"]["flops"] > 0
    done = palmette("order", spd)
    assert done.code == 0 and "factor entries" in done.out


def test_order_of_another_kind_counts_other_entries(palmette, spd):
    entries = {
        kind: palmette("order", spd, "--method", "amd", "--kind", kind, "--json", "-").json["analyze"][
            "nnz_factor"
        ]
        for kind in ["llt", "lu"]
    }
    assert entries["lu"] != entries["llt"]


def test_order_writes_a_permutation_that_solve_takes(palmette, spd, tmp_path):
    assert palmette("order", spd, "--method", "amd", "--out", "p.txt").code == 0
    assert sorted(map(int, (tmp_path / "p.txt").read_text().split())) == list(range(1, 145))
    assert palmette("order", spd, "--method", "amd", "--out", "-").out == (tmp_path / "p.txt").read_text()
    given = palmette("solve", spd, "--order", "p.txt", "--json", "-").json["analyze"]["nnz_factor"]
    assert given == palmette("order", spd, "--method", "amd", "--json", "-").json["analyze"]["nnz_factor"]


def test_order_compares_all_orderings_of_the_build(palmette, spd):
    document = palmette("order", spd, "--compare", "--json", "-").json
    methods = [each["method"] for each in document["orderings"]]
    assert {"amd", "natural"} <= set(methods) and all(
        each["nnz_factor"] > 0 for each in document["orderings"]
    )
    text = palmette("order", spd, "--compare").out
    assert all(method in text for method in methods)
    palmette("order", spd, "--compare", "--out", "p.txt").fails_with(2, "--compare", "--method")


def test_analyze_predicts_structure_tasks_and_memory(palmette, spd):
    document = palmette("analyze", spd, "--order", "natural", "--json", "-").json
    structure = document["structure"]
    # In natural order column j of a 12 × 12 grid reaches row j + 12 once filled: the tree is a chain of 144.
    assert structure["column_tree_height"] == 144
    assert sum(each["supernodes"] for each in structure["widths"]) == document["analyze"]["supernodes"]
    assert document["tasks"]["parallelism"] >= 1 and document["tasks"]["tasks"] >= 1
    assert document["memory"]["factor_bytes"] >= 8 * document["analyze"]["nnz_factor"]
    assert document["analyze"]["memory_bytes_predicted"] > document["memory"]["factor_bytes"]
    text = palmette("analyze", spd).out
    for word in ["elimination tree", "supernodes", "critical path", "predicted"]:
        assert word in text


def test_analyze_agrees_with_solve(palmette, spd):
    solved = palmette("solve", spd, "--order", "amd", "--json", "-").json["analyze"]
    analyzed = palmette("analyze", spd, "--json", "-").json["analyze"]
    assert all(analyzed[name] == solved[name] for name in ["nnz_factor", "flops", "supernodes"])


def test_analyze_options_change_the_figures(palmette, spd):
    def figures(*options):
        return palmette("analyze", spd, "--order", "amd", *options, "--json", "-").json
    assert figures("--kind", "lu")["analyze"]["flops"] > figures("--kind", "llt")["analyze"]["flops"]
    more, one = figures("--num-rhs", 50), figures()
    assert more["memory"]["solve_workspace_bytes"] > one["memory"]["solve_workspace_bytes"]
    assert (
        figures("--threads", 4)["memory"]["factorize_workspace_bytes"]
        >= figures("--threads", 1)["memory"]["factorize_workspace_bytes"]
    )


def test_info_tells_header_symmetry_and_diagonal(palmette, tmp_path):
    (tmp_path / "m.mtx").write_text(
        coordinate(3, 3, [(1, 1, 2.0), (2, 1, -1.0), (1, 2, -1.0), (2, 2, 0.0), (3, 1, 0.5), (1, 3, 0.5)])
    )
    found = palmette("info", "m.mtx", "--json", "-").json["matrix"]
    expected = {
        "declared_symmetry": "general",
        "detected_symmetry": "symmetric",
        "missing_diagonal": 1,
        "zero_diagonal": 1,
        "positive_diagonal": 1,
        "explicit_zeros": 1,
        "smallest_modulus": 0.5,
        "largest_modulus": 2.0,
        "lower_bandwidth": 2,
        "upper_bandwidth": 2,
        "empty_rows": 0,
        "most_in_a_row": 3,
        "nnz": 6,
        "field": "real",
        "norm_1": 3.5,
        "dominant_rows": 1,
    }
    # rows: |2| ≥ 1.5 is dominant; row 2 has a zero diagonal, row 3 none. 1-norm: column 1 is 2 + 1 + 0.5.
    assert {name: found[name] for name in expected} == expected
    text = palmette("info", "m.mtx").out
    assert "declared general, found symmetric" in text and "LDL^T" in text


def test_info_of_a_triangle_points_to_trisolve(palmette, tmp_path):
    (tmp_path / "t.mtx").write_text(coordinate(2, 2, [(1, 1, 1.0), (2, 1, 1.0), (2, 2, 1.0)]))
    assert "trisolve" in palmette("info", "t.mtx").out


def test_info_reads_every_small_file(palmette):
    files = [
        path
        for path in sorted(DATA.iterdir())
        if path.is_file() and "permutation" not in path.name and path.suffix != ".md"
    ]
    assert len(files) > 20
    for path in files:
        assert palmette("info", path).code == 0, path


def test_info_without_a_file_tells_of_build_and_machine(palmette):
    document = palmette("info", "--json", "-").json
    assert document["build"]["orderings"]["amd"] is True
    assert set(document["build"]["transports"]) >= {"loopback", "threads", "mpi_rma"}
    methods = {row["name"]: row for row in document["build"]["solve_methods"]}
    assert methods["serial"]["where"] == "one machine" and methods["baseline_3d"]["available"] is True
    assert document["machine"]["stream_bandwidth_gbs"] > 0 and document["machine"]["processors"] >= 1
    text = palmette("info").out
    for word in ["BLAS", "orderings", "processor", "stream"]:
        assert word in text
    assert palmette("info", "--threads", 1, "--json", "-").json["machine"]["threads"] == 1


def test_generate_lists_and_makes_every_problem(palmette, tmp_path):
    problems = palmette("generate", "--list", "--json", "-").json["problems"]
    text = palmette("generate", "--list").out
    assert len(problems) >= 15
    for problem in problems:
        assert problem["name"] in text
        done = palmette("generate", problem["name"], "--n", 6, "--out", "g.mtx")
        assert done.code == 0, (problem["name"], done.err)
        assert palmette("info", "g.mtx").code == 0


def test_generate_follows_seed_and_parameter(palmette):
    def text(*options):
        return palmette("generate", "random_triangular", "--n", 40, *options, "--out", "-").out.split(
            "\n", 2
        )[2]
    assert text("--seed", 1) == text() != text("--seed", 2)
    assert text("--parameter", 2) != text("--parameter", 20)


def test_generated_matrix_can_be_piped_into_solve(palmette):
    made = palmette("generate", "poisson2d9", "--n", 8, "--out", "-")
    assert made.out.startswith("%%MatrixMarket") and palmette("solve", "-", stdin=made.out).code == 0


def test_convert_writes_matrix_market(palmette, tmp_path):
    source = DATA / "real_symmetric.rsa.rb"
    assert (
        palmette("convert", source, "a.mtx").code == 0 and palmette("convert", source, "a.mtx.gz").code == 0
    )
    text = (tmp_path / "a.mtx").read_text()
    assert text.startswith("%%MatrixMarket matrix coordinate real symmetric")
    assert gzip.decompress((tmp_path / "a.mtx.gz").read_bytes()).decode() == text
    assert palmette("convert", source, "-").out == text
    palmette("convert", source, "a.rb").fails_with(2, "a.rb", ".mtx")


def test_convert_gives_values_to_patterns(palmette, tmp_path):
    for values in ["ones", "laplacian"]:
        assert (
            palmette(
                "convert", DATA / "pattern_symmetric.mtx", f"{values}.mtx", "--pattern-values", values
            ).code
            == 0
        )
    assert (tmp_path / "ones.mtx").read_text() != (tmp_path / "laplacian.mtx").read_text()


def test_bench_counts_on_the_emulated_device_and_times_nothing(palmette, spd):
    done = palmette("bench", spd, "--device", "emulated", "--num-rhs", "1,3", "--json", "-")
    bench = done.json["device_bench"]
    assert bench["device"]["emulated"] and "not timed" in bench["note"]
    engines = {"device_tree", "device_level_set", "device_sync_free"}
    assert {row["solver"] for row in bench["rows"]} >= engines | {"serial"}
    assert all(row["seconds"] is None and row["device_seconds"] is None for row in bench["rows"])
    for row in bench["rows"]:
        assert row["backward_error"] < 1e-14
        assert row["solver"] == "serial" or (row["launches"] > 0 and row["bytes_in"] > 0)
    done = palmette("bench", spd, "--device", "emulated", "--num-rhs", 1)
    assert "not timed" in " ".join(done.out.split())


def test_page_of_a_gpu_is_made_of_what_bench_writes_and_not_of_the_emulated_device(palmette, spd):
    document = palmette("bench", spd, "--device", "emulated", "--num-rhs", "1,50", "--json", "-").json
    parts = {"about": {}, "parts": {}}
    with pytest.raises(results_gpu.Refused, match="not of a GPU"):
        results_gpu.page({"bench-0.json": document}, parts)
    bench = document["device_bench"]
    bench["device"] |= {"name": "Made-up device of a test", "emulated": False}
    for row in bench["rows"]:
        row["seconds"] = row["device_seconds"] = 0.25
    text = results_gpu.page({"bench-0.json": document}, parts)
    entries = document["analyze"]["nnz_factor"]
    assert text.count(f"| {entries:,} |" + 7 * " 250 |" + "  |") == 2 and "50 right-hand sides" in text


@pytest.mark.parametrize("matrix", [[], ["no-such.mtx"]])
def test_bench_on_an_absent_device_ends_with_5_before_it_reads_the_matrix(palmette, matrix):
    if "cuda (absent" not in " ".join(palmette("bench", "--help").out.split()):
        pytest.skip("there is a GPU")
    palmette("bench", *matrix, "--device", "cuda").fails_with(5, "cuda")


@pytest.mark.parametrize("device", [[], ["--device", "emulated"]])
def test_bench_needs_a_matrix_but_on_a_gpu(palmette, device):
    palmette("bench", *device).fails_with(2, "A.mtx")


def test_bench_times_every_method(palmette, spd):
    document = palmette("bench", spd, "--threads", 2, "--num-rhs", "1,3", "--repeat", 2, "--json", "-").json
    lines = {(each["method"], each["threads"], each["num_rhs"]) for each in document["measurements"]}
    for method in set(methods_at(palmette, "one machine")) - {"serial"}:
        assert {(method, threads, rhs) for threads in (1, 2) for rhs in (1, 3)} <= lines
    assert ("serial", 1, 1) in lines and ("serial", 2, 1) not in lines
    assert all(each["seconds"] > 0 and each["bandwidth_gbs"] > 0 for each in document["measurements"])
    done = palmette("bench", spd, "--threads", 1, "--num-rhs", 1, "--repeat", 1)
    assert "speed-up" in done.out and "serial" in done.out


@pytest.mark.parametrize("arguments", [
    ["order"], ["analyze"], ["info"], ["bench", "--repeat", 1, "--num-rhs", 1, "--threads", 1],
])
def test_quiet_is_silent_everywhere(palmette, spd, arguments):
    command, *options = arguments
    done = palmette(command, spd, *options, "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")


def test_quiet_generate_and_convert_are_silent(palmette, spd):
    for arguments in [["generate", "poisson2d5", "--n", 3, "--out", "g.mtx"], ["convert", spd, "c.mtx"]]:
        done = palmette(*arguments, "--quiet")
        assert (done.code, done.out, done.err) == (0, "", "")


@pytest.mark.parametrize("arguments", [
    ["order"], ["analyze"], ["info"], ["bench", "--repeat", 1, "--num-rhs", 1, "--threads", 1],
])
def test_json_goes_to_a_file_everywhere(palmette, spd, tmp_path, arguments):
    command, *options = arguments
    assert palmette(command, spd, *options, "--json", "out.json").out != ""
    assert '"version"' in (tmp_path / "out.json").read_text()
