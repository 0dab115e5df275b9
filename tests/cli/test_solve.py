"""palmette solve: answers, report, and that every option changes something."""
import pytest
from conftest import DATA, coordinate, dense, grid, methods_at, read_dense

SCHEMA = {
    "matrix": {"rows": int, "cols": int, "nnz": int, "scalar": str, "symmetry": str},
    "order": {"method": str, "seconds": float},
    "analyze": {
        "seconds": float,
        "nnz_factor": int,
        "flops": float,
        "supernodes": int,
        "memory_bytes_predicted": int,
    },
    "factorize": {
        "kind": str,
        "seconds": float,
        "gflops": float,
        "perturbed_pivots": int,
        "inertia": (dict, type(None)),
    },
    "solve": {
        "method": str,
        "threads": int,
        "num_rhs": int,
        "seconds": float,
        "bytes": (int, float),
        "bandwidth_gbs": float,
        "stream_gbs": (float, type(None)),
        "roofline_fraction": (float, type(None)),
    },
    "verify": {
        "backward_error": float,
        "componentwise_backward_error": float,
        "condition_1norm": (float, type(None)),
        "forward_error_bound": (float, type(None)),
        "refine_steps": int,
        "verified": bool,
        "singular_distance": (float, type(None)),
        "null_directions": (int, type(None)),
        "least_squares_error": (float, type(None)),
    },
}


def close(found, expected):
    pairs = zip(found, expected)
    return len(found) == len(expected) and all(abs(a - b) <= 1e-14 * max(1, abs(b)) for a, b in pairs)


def report(palmette, *arguments, code=0, **more):
    done = palmette("solve", *arguments, "--json", "-", **more)
    assert done.code == code, done.err
    return done.json


def test_json_has_every_field_of_the_schema(palmette, spd):
    document = report(palmette, spd)
    for section, fields in SCHEMA.items():
        for name, kind in fields.items():
            value = document[section][name]
            numbers = (int, float) if kind is float else kind
            assert isinstance(value, numbers), (section, name, value)
    assert isinstance(document["peak_memory_bytes"], int) and document["peak_memory_bytes"] > 0
    assert document["version"] == palmette("--version").out.split()[1]
    assert document["matrix"] == {
        "rows": 144,
        "cols": 144,
        "nnz": 672,
        "scalar": "float64",
        "symmetry": "symmetric",
    }
    assert document["factorize"]["kind"] == "llt" and document["verify"]["verified"] is True
    assert document["factorize"]["inertia"] == {"positive": 144, "negative": 0, "zero": 0}


def test_table_shows_the_phases_within_80_columns(palmette, spd):
    done = palmette("solve", spd, "--condition", "--out", "x.mtx")
    assert done.code == 0 and done.err == ""
    for word in [
        "read",
        "order",
        "analyze",
        "factorize",
        "solve",
        "verify",
        "write",
        "total",
        "Verified",
        "condition",
    ]:
        assert word in done.out
    assert max(map(len, done.out.splitlines())) <= 80 or "spd.mtx" in max(done.out.splitlines(), key=len)


def test_default_right_hand_side_is_ones(palmette, unsymmetric, tmp_path):
    palmette("solve", unsymmetric, "--out", "x.mtx")
    x = read_dense(tmp_path / "x.mtx")[0]
    # A x = [4x + y, 3y + z, 2x + 5z]
    assert close([4 * x[0] + x[1], 3 * x[1] + x[2], 2 * x[0] + 5 * x[2]], [1, 1, 1])


def test_solution_goes_out_and_comes_back_as_a_right_hand_side(palmette, unsymmetric, tmp_path):
    (tmp_path / "b.mtx").write_text(dense([[6.0, 9.0, 17.0], [4.0, 0.0, 2.0]]))
    assert palmette("solve", unsymmetric, "--rhs", "b.mtx", "--out", "x.mtx").code == 0
    x = read_dense(tmp_path / "x.mtx")
    # [4, 1, 0; 0, 3, 1; 2, 0, 5] times [1, 2, 3] is [6, 9, 17]; its first column is [4, 0, 2]
    assert close(x[0], [1, 2, 3]) and close(x[1], [1, 0, 0])
    assert palmette("solve", unsymmetric, "--rhs", "x.mtx").code == 0


def test_out_dash_prints_the_solution_alone(palmette, unsymmetric, tmp_path):
    done = palmette("solve", unsymmetric, "--out", "-")
    (tmp_path / "copy.mtx").write_text(done.out)
    assert done.code == 0 and len(read_dense(tmp_path / "copy.mtx")[0]) == 3


def test_out_can_be_compressed(palmette, spd, tmp_path):
    assert palmette("solve", spd, "--out", "x.mtx.gz").code == 0
    assert (tmp_path / "x.mtx.gz").read_bytes()[:2] == b"\x1f\x8b"


def test_transpose_and_adjoint_differ_on_a_complex_matrix(palmette, complex_matrix, tmp_path):
    found = {}
    for option in ["", "--transpose", "--adjoint"]:
        assert palmette("solve", complex_matrix, *option.split(), "--out", "x.mtx").code == 0
        found[option] = read_dense(tmp_path / "x.mtx")[0]
    a, b, d = 2 + 1j, 1j, 3 - 1j
    # A = [a b; 0 d]: A x = 1 has x2 = 1/d, x1 = (1 − b x2)/a; Aᵀ x = 1 has x1 = 1/a, x2 = (1 − b x1)/d
    assert close(found[""], [(1 - b / d) / a, 1 / d])
    assert close(found["--transpose"], [1 / a, (1 - b / a) / d])
    ac, bc, dc = a.conjugate(), b.conjugate(), d.conjugate()
    assert close(found["--adjoint"], [1 / ac, (1 - bc / ac) / dc])


def test_a_complex_right_hand_side_makes_the_solve_complex(palmette, unsymmetric, tmp_path):
    (tmp_path / "b.mtx").write_text(dense([[4 + 4j, 0j, 2 + 2j]], field="complex"))
    document = report(palmette, unsymmetric, "--rhs", "b.mtx", "--out", "x.mtx")
    assert document["matrix"]["scalar"] == "complex128"
    assert close(read_dense(tmp_path / "x.mtx")[0], [1 + 1j, 0, 0])


def test_every_method_is_taken_and_gives_the_same_bits(palmette, spd, tmp_path):
    found = {}
    for name in methods_at(palmette, "one machine"):
        document = report(
            palmette, spd, "--method", name, "--threads", 2, "--rhs", "random:3", "--out", "x.mtx"
        )
        assert document["solve"]["method"] == name
        found[name] = (tmp_path / "x.mtx").read_text()
    assert len(found) > 1 and all(text == found["serial"] for text in found.values())


def test_every_ordering_is_taken(palmette, spd):
    built = palmette("info", "--json", "-").json["build"]["orderings"]
    for name, is_available in built.items():
        if name in ("auto", "user"):
            continue
        done = palmette("solve", spd, "--order", name, "--json", "-")
        if is_available:
            assert done.code == 0 and done.json["order"]["method"] == name
        else:
            done.fails_with(2, name)
    assert built["amd"] and built["natural"]


def test_orderings_change_the_factor(palmette, spd):
    natural = report(palmette, spd, "--order", "natural")["analyze"]["nnz_factor"]
    assert report(palmette, spd, "--order", "amd")["analyze"]["nnz_factor"] < natural


def test_an_ordering_can_be_a_file(palmette, spd, tmp_path):
    (tmp_path / "p.txt").write_text("\n".join(str(144 - place) for place in range(144)) + "\n")
    assert report(palmette, spd, "--order", "p.txt")["order"]["method"] == "user"


@pytest.mark.parametrize("kind", ["llt", "ldlt", "lu"])
def test_every_kind_is_taken(palmette, spd, kind):
    assert report(palmette, spd, "--kind", kind)["factorize"]["kind"] == kind


def test_auto_goes_on_to_ldlt_and_lu(palmette, indefinite, unsymmetric):
    document = report(palmette, indefinite)
    assert document["factorize"]["kind"] == "ldlt"
    assert document["factorize"]["inertia"] == {"positive": 2, "negative": 1, "zero": 0}
    assert report(palmette, unsymmetric)["factorize"]["kind"] == "lu"


def test_number_of_right_hand_sides(palmette, spd, tmp_path):
    assert report(palmette, spd, "--num-rhs", 3)["solve"]["num_rhs"] == 3
    (tmp_path / "b.mtx").write_text(dense([[1.0] * 144, [2.0] * 144]))
    assert report(palmette, spd, "--rhs", "b.mtx")["solve"]["num_rhs"] == 2
    assert report(palmette, spd, "--rhs", "b.mtx", "--num-rhs", 1)["solve"]["num_rhs"] == 1
    assert report(palmette, spd, "--num-rhs", 0)["verify"]["verified"] is True


def test_random_right_hand_sides_follow_their_seed(palmette, spd, tmp_path):
    texts = []
    for seed in ["random", "random:1", "random:2"]:
        palmette("solve", spd, "--rhs", seed, "--out", "x.mtx")
        texts.append((tmp_path / "x.mtx").read_text())
    assert texts[0] == texts[1] != texts[2]


def test_threads_are_used(palmette, spd):
    assert report(palmette, spd, "--threads", 1)["solve"]["threads"] == 1
    assert report(palmette, spd, "--threads", 2, "--method", "task_driven")["solve"]["threads"] <= 2


def test_precision_float_computes_in_float(palmette, spd, complex_matrix):
    document = report(palmette, spd, "--precision", "float")
    assert document["matrix"]["scalar"] == "float32" and document["verify"]["verified"]
    assert report(palmette, complex_matrix, "--precision", "float")["matrix"]["scalar"] == "complex64"


def test_precision_mixed_factors_in_float_and_refines(palmette, spd):
    document = report(palmette, spd, "--precision", "mixed")
    assert document["factorize"]["scalar"] == "float32" and document["matrix"]["scalar"] == "float64"
    assert document["verify"]["refine_steps"] >= 1 and document["verify"]["backward_error"] <= 1e-14


def test_refine_off_leaves_mixed_precision_unverified(palmette, spd, tmp_path):
    done = palmette(
        "solve",
        spd,
        "--precision",
        "mixed",
        "--refine",
        "off",
        "--rhs",
        "random",
        "--json",
        "-",
        "--out",
        "x.mtx",
    )
    done.fails_with(6, "not verified", "backward error")
    assert done.json["verify"]["refine_steps"] == 0 and done.json["verify"]["verified"] is False
    assert done.json["error"]["exit_code"] == 6 and done.json["error"]["kind"] == "not_verified"
    assert len(read_dense(tmp_path / "x.mtx")[0]) == 144


def test_refine_bounds_the_steps(palmette, spd):
    assert report(palmette, spd, "--precision", "mixed", "--refine", "5", "--rhs", "random")["verify"][
        "refine_steps"
    ] in range(1, 6)


def test_condition_is_estimated_on_request(palmette, spd):
    assert report(palmette, spd)["verify"]["condition_1norm"] is None
    verify = report(palmette, spd, "--condition")["verify"]
    assert verify["condition_1norm"] > 1 and verify["forward_error_bound"] < 1e-10


def test_repeat_takes_more_solves(palmette, spd):
    assert report(palmette, spd, "--repeat", 5)["solve"]["seconds"] > 0


def test_pattern_values_change_the_matrix(palmette, tmp_path):
    (tmp_path / "pattern.mtx").write_text(
        coordinate(2, 2, [(1, 1), (2, 1), (2, 2)], field="pattern", symmetry="symmetric")
    )
    palmette("solve", "pattern.mtx").fails_with(4)  # [1 1; 1 1] is singular
    assert palmette("solve", "pattern.mtx", "--pattern-values", "laplacian").code == 0


def test_quiet_is_silent(palmette, spd):
    done = palmette("solve", spd, "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")


def test_json_goes_to_a_file_beside_the_table(palmette, spd, tmp_path):
    done = palmette("solve", spd, "--json", "report.json")
    assert "Verified" in done.out and '"verified": true' in (tmp_path / "report.json").read_text()


def test_matrix_and_right_hand_side_come_from_standard_input(palmette, spd, tmp_path):
    assert palmette("solve", "-", stdin=grid(3)).code == 0
    (tmp_path / "small.mtx").write_text(grid(1))
    assert palmette("solve", "small.mtx", "--rhs", "-", "--out", "x.mtx", stdin=dense([[8.0]])).code == 0
    assert read_dense(tmp_path / "x.mtx") == [[2.0]]


def test_matrices_without_rows_and_with_one_are_solved(palmette):
    document = report(palmette, DATA / "empty.mtx")
    assert document["matrix"]["rows"] == 0 and document["verify"]["verified"] is True
    assert report(palmette, DATA / "one.mtx")["matrix"]["rows"] == 1


def test_files_of_every_format_are_read(palmette):
    for name in [
        "real_symmetric.rsa.rb",
        "real_unsymmetric_with_rhs.rua",
        "complex_hermitian.mtx",
        "real_general.mtx.gz",
    ]:
        assert palmette("info", DATA / name).code == 0, name


def test_machine_measurement_is_remembered_in_the_cache_folder(palmette, spd, tmp_path):
    folder = tmp_path / "remembered"
    palmette("solve", spd, env={"XDG_CACHE_HOME": str(folder)})
    assert list((folder / "palmette").iterdir())


def test_a_device_solves_and_the_report_says_what_it_did(palmette, spd):
    done = palmette("solve", spd, "--device", "emulated", "--json", "-")
    device = done.json["solve"]["device"]
    assert done.code == 0 and device["address"] == "emulated:0" and device["launches"] == 4
    table = palmette("solve", spd, "--device", "emulated").out
    assert "device emulated:0" in table and "not of a" in table
    palmette("solve", spd, "--device", "gpu").fails_with(2, "choose one of")
    ranks = palmette("solve", spd, "--device", "emulated", "--transport", "threads:2", "--json", "-")
    assert ranks.code == 0 and ranks.json["ranks"]["num_ranks"] == 2


def test_a_device_shares_the_factorization_and_calls_are_counted(palmette, spd):
    def offload(*options):
        done = palmette("solve", spd, "--kind", "llt", "--device", "emulated", "--json", "-", *options)
        assert done.code == 0, done.err
        return done.json["factorize"]["offload"]

    everything, nothing = offload("--offload", "always"), offload("--offload", "never")
    for name in ("potrf", "trsm", "syrk", "gemm"):
        assert everything[f"device_{name}_calls"] == nothing[f"host_{name}_calls"] > 0
        assert everything[f"host_{name}_calls"] == nothing[f"device_{name}_calls"] == 0
    assert everything["bytes_in"] > 0 and everything["fallbacks"] == 0 and nothing["bytes_in"] == 0
    assert "not measured" in offload()["model"]
    palmette("solve", spd, "--offload", "always").fails_with(2, "--device")
    palmette("solve", spd, "--offload", "sometimes").fails_with(2, "--offload")


def test_a_measured_device_decides_for_later_factorizations(palmette, spd, tmp_path):
    cache = {"XDG_CACHE_HOME": str(tmp_path)}
    measured = palmette("measure", "--device", "emulated", "--json", "-", env=cache)
    assert measured.code == 0 and measured.json["emulated"] and "not of a GPU" in measured.json["source"]
    done = palmette("solve", spd, "--kind", "llt", "--device", "emulated", "--json", "-", env=cache)
    assert done.json["factorize"]["offload"]["model"] == measured.json["source"]
    palmette("measure", "--device", "none").fails_with(2, "nothing to measure")


def test_the_device_auto_is_the_host_where_there_is_no_gpu_and_says_why(palmette, spd):
    done = palmette("solve", spd, "--device", "auto", "--json", "-")
    if done.json["solve"]["device"] is None:
        assert "solved on the host: " in done.json["notes"][0]
    assert done.code == 0 and "solved on" in palmette("solve", spd, "--device", "auto").out
    palmette("solve", spd, "--device", "auto", "--method", "serial").fails_with(2, "may choose the other")
