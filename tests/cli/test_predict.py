"""palmette predict and palmette measure: forms of tables, JSON and plots, and rejected options. The library's
tests check the figures."""

import json

import pytest

MACHINES = ["cori-haswell", "cori-knl", "crusher", "dgx-1", "dgx-2", "perlmutter", "perlmutter-cpu"]
DEVICES = ["a100", "h100", "h200", "mi250x"]


@pytest.mark.parametrize("machine", MACHINES)
def test_every_shipped_machine_predicts(palmette, spd, machine):
    done = palmette("predict", spd, "--machine", machine, "--ranks", "1,2:4", "--json", "-")
    assert done.code == 0, done.err
    rows = done.json["predictions"]
    assert [row["ranks"] for row in rows] == [1, 2, 4]
    for row in rows:
        assert 0 < row["bound"]["seconds"] <= row["seconds"] * (1 + 1e-9)
        model = row["path_model"]
        assert model["compute_lower_seconds"] <= model["compute_upper_seconds"] * (1 + 1e-9)
        assert row["factor_bytes"]["least"] <= row["factor_bytes"]["mean"] <= row["factor_bytes"]["most"]
    assert rows[0]["messages"] == 0


def test_numbers_of_shipped_machines_have_sources(palmette, tmp_path):
    from conftest import DATA

    def look(value, place):
        for number, below in enumerate(value if isinstance(value, list) else []):
            look(below, f"{place}[{number}]")
        if not isinstance(value, dict):
            return
        if "value" in value or "points" in value:
            assert len(value.get("source", "")) > 5, place
            return
        for key, below in value.items():
            look(below, f"{place}.{key}")

    names = sorted(path.stem for path in (DATA / "machines").glob("*.json"))
    assert names == sorted(MACHINES + DEVICES)
    for name in names:
        document = json.loads((DATA / "machines" / f"{name}.json").read_text())
        assert document["name"] == name
        look(document, name)


def test_devices_are_predicted_and_nothing_is_called_measured(palmette, spd):
    done = palmette("predict", spd, "--device", ",".join(DEVICES), "--num-rhs", "3", "--json", "-")
    assert done.code == 0, done.err
    rows = done.json["devices"]
    assert [row["device"] for row in rows] == DEVICES and not any(row["measured"] for row in rows)
    for row in rows:
        assert row["seconds"] >= row["bound_seconds"] * (1 - 1e-12)
        assert row["bound_seconds"] >= row["latency_seconds"] > 0
        assert row["bound_seconds"] == max(row["roofline_seconds"], row["path_seconds"])
    table = palmette("predict", spd, "--device", "h100")
    assert "not measured" in table.out and max(map(len, table.out.splitlines())) <= 80
    palmette("predict", spd, "--device", "h1000").fails_with(2, "--device", "did you mean 'h100'")
    palmette("predict", spd, "--device", "h100", "--plot", "a.svg").fails_with(2, "--plot")


def test_a_solve_over_several_devices_is_predicted_and_simulated(palmette, spd):
    palmette("generate", "poisson3d7", "--n", "12", "--out", "p.mtx", "--quiet")
    options = ("p.mtx", "--device", "a100", "--gpus", "1:4", "--grid", "auto", "--json", "-")
    hosts = (*options, "--method", "message_driven")
    predicted = palmette("predict", *hosts)
    simulated = palmette("simulate-cluster", *hosts)
    assert predicted.code == 0 and simulated.code == 0, predicted.err + simulated.err
    for one, real in zip(predicted.json["predictions"], simulated.json["simulations"], strict=True):
        assert one["ranks"] == real["ranks"] and one["messages"] == real["messages"]
        assert abs(real["seconds"] / one["seconds"] - 1) < 0.1
        assert real["backward_error"] < 1e-14
    for command in ("predict", "simulate-cluster"):
        palmette(command, "p.mtx", "--gpus", "2").fails_with(2, "--device")
        palmette(command, "p.mtx", "--gpus", "2", "--device", "a100,h100").fails_with(2, "alike")
        palmette(command, "p.mtx", "--gpus", "2", "--device", "a100", "--machine", "dgx-1").fails_with(
            2, "--machine"
        )
    palmette("simulate-cluster", "p.mtx", "--device", "a100").fails_with(2, "--gpus")


def test_layouts_of_devices_go_by_the_programs_of_kernels(palmette):
    palmette("generate", "poisson2d9", "--n", "40", "--out", "p.mtx", "--quiet")
    gpus = ("p.mtx", "--device", "a100", "--json", "-", "--gpus")

    def rows(*options, command="predict"):
        done = palmette(command, *gpus, *options)
        assert done.code == 0, done.err
        return done.json["predictions" if command == "predict" else "simulations"]

    for row in rows("1:4"):
        assert (row["grid_rows"], row["grid_cols"], row["layers"]) == (row["ranks"], 1, 1)
        assert row["method"] == "devices_fan_out" and row["simulated"] and not row["measured"]
        assert (row["messages"] > 0) == (row["ranks"] > 1) and row["polls"] > 0
    assert rows("1:4") == rows("1:4", command="simulate-cluster")
    (best,) = rows("4", "--layers", "auto")
    given = rows("4", "--layers", "1,2,4")
    assert best["seconds"] <= min(row["seconds"] for row in given)
    assert [row["method"] for row in given] == ["devices_fan_out"] + 2 * ["devices_one_sync_3d"]
    (levels,) = rows("4", "--layers", "4", "--method", "devices_baseline_3d")
    assert levels["method"] == "devices_baseline_3d" and levels["messages"] > given[2]["messages"]
    square, wide = rows("4", "--grid", "2x2"), rows("4", "--grid", "1x4")
    (flat,) = rows("4", "--grid", "auto")
    assert flat["layers"] == 1 and flat["seconds"] <= min(square[0]["seconds"], wide[0]["seconds"])
    table = palmette("predict", "p.mtx", "--device", "a100", "--gpus", "1:256", "--layers", "auto")
    assert "Not measured" in table.out and max(map(len, table.out.splitlines())) <= 80
    refused = {
        ("--method", "devices_one_sync_3d"): "several layers of devices",
        ("--method", "devices_solve_wait"): "not predicted",
        ("--map", "subtree_to_subcube"): "--map",
        ("--grid", "3x1"): "--grid 3x1",
        ("--layers", "3"): "several layers of equal size",
        ("--method", "serial"): "serial",
    }
    for options, words in refused.items():
        palmette("predict", *gpus, "4", *options).fails_with(2, words)
    palmette("simulate-cluster", *gpus, "4", "--trace", "t.json").fails_with(2, "message_driven")
    palmette("simulate-cluster", *gpus, "4", "--packing", "auto").fails_with(2, "--packing")
    palmette("predict", *gpus, "4", "--plot", "p.svg").fails_with(2, "--plot")


def test_small_messages_are_packed_where_that_is_predicted_to_pay(palmette):
    palmette("generate", "poisson2d9", "--n", "60", "--out", "p.mtx", "--quiet")
    run = ("simulate-cluster", "p.mtx", "--machine", "cori-haswell", "--ranks", "16", "--json", "-")
    split = ("--subtrees", "split", "--map", "block_cyclic")
    alone, packed, chosen = (
        palmette(*run, *split, "--packing", packing).json["simulations"][0]
        for packing in ("never", "16", "auto")
    )
    assert alone["packing_max_age_tasks"] is None and packed["packing_max_age_tasks"] == 16
    assert packed["messages"] < alone["messages"] / 2 and packed["backward_error"] == alone["backward_error"]
    assert chosen["seconds"] < alone["seconds"] / 1.1
    assert palmette(*run, "--packing", "auto").json["simulations"][0]["packing_max_age_tasks"] is None
    palmette(*run, "--packing", "some").fails_with(2, "--packing")
    palmette(*run, "--subtrees", "some").fails_with(2, "--subtrees")


def test_a_factorization_is_shared_with_a_device_that_is_not_here(palmette, tmp_path):
    palmette("generate", "elasticity3d", "--n", "12", "--out", "e.mtx", "--quiet")
    options = ("predict", "e.mtx", "--kind", "llt", "--machine", "perlmutter-cpu", "--offload")
    done = palmette(*options, ",".join(DEVICES), "--json", "-")
    assert done.code == 0, done.err
    for row in done.json["offload"]:
        assert row["device"] in DEVICES and row["host"] == "perlmutter-cpu" and row["measured"] is False
        calls = {one["operation"]: one for one in row["operations"]}
        for name in ("trsm", "syrk", "gemm"):
            assert calls[name]["host_calls"] > calls[name]["device_calls"] > 0
            assert calls[name]["device_flops"] > calls[name]["host_flops"]
        assert row["host_seconds"] + row["device_seconds"] + row["bus_seconds"] < row["host_alone_seconds"]
    table = palmette(*options, "a100")
    assert "no GPU ran" in table.out and max(map(len, table.out.splitlines())) <= 80
    palmette(*options, "perlmutter-cpu").fails_with(2, "bus_gbs")
    palmette(*options, "a100", "--plot", "a.svg").fails_with(2, "--plot")


def test_table_and_plot(palmette, spd, tmp_path):
    done = palmette(
        "predict", spd, "--machine", "cori-knl", "--ranks", "4", "--threads", "1,2", "--plot", "path.svg"
    )
    assert done.code == 0, done.err
    assert "critical path" in done.out and "bound" in done.out and "2 threads" in done.out
    assert max(map(len, done.out.splitlines())) <= 80
    assert (tmp_path / "path.svg").read_text().startswith("<svg")


def test_what_is_wrong_with_a_machine_file_is_said_with_its_place(palmette, spd, tmp_path):
    from conftest import DATA
    good = json.loads((DATA / "machines" / "cori-haswell.json").read_text())

    def refused(change, *words):
        document = json.loads(json.dumps(good))
        change(document)
        (tmp_path / "bad.json").write_text(json.dumps(document))
        palmette("predict", spd, "--machine", "bad.json").fails_with(3, "bad.json", *words)

    refused(lambda one: one["links"][1].pop("latency_us"), "links[1].latency_us", "missing")
    refused(lambda one: one["links"][1].update(latency_us="fast"), "links[1].latency_us", "give a number")
    refused(lambda one: one["links"][0].update(bandwidth_gbs=0), "links[0].bandwidth_gbs is 0")
    refused(lambda one: one["links"][0].update(ranks=2.5), "links[0].ranks", "whole number")
    refused(lambda one: one["links"][0].update(injection=3), "links[0].injection", "injection_gbs")
    refused(lambda one: one.update(links=3), "links", "list of levels")
    refused(lambda one: one["links"][0].update(pairs={"bandwidth_gbs": [[1]]}), "links[0].pairs", "table")
    refused(lambda one: one.update(format="palmette machine 1"), "format", "palmette measure")
    refused(lambda one: one.update(memory_gbs=[1, 2]), "memory_gbs", "points")
    refused(lambda one: one.update(ranks_per_memory=2.5), "ranks_per_memory", "whole number")
    refused(lambda one: one.update(worker=3), "worker", "did you mean 'workers'")
    refused(lambda one: one.update(rank_overheads={"task_us": 1}), "rank_overheads.panel_us", "missing")
    refused(
        lambda one: one.update(rank_overheads={"task_us": 1, "panel_us": 1, "row_ns": 1, "column_ns": -1}),
        "rank_overheads.column_ns is -1",
    )
    refused(lambda one: one.update(lone_cache_bytes=-1), "lone_cache_bytes is -1")
    (tmp_path / "bad.json").write_text('{\n"format": }')
    palmette("predict", spd, "--machine", "bad.json").fails_with(3, "bad.json:2", "not JSON")
    palmette("predict", spd, "--machine", "cori-haswel").fails_with(2, "did you mean 'cori-haswell'")


def test_ranks_and_engines_may_have_overheads_of_their_own(palmette, spd, tmp_path):
    from conftest import DATA
    machine = json.loads((DATA / "machines" / "cori-haswell.json").read_text())

    def seconds(**more):
        (tmp_path / "mine.json").write_text(json.dumps({**machine, **more}))
        done = palmette(
            "predict", spd, "--machine", "mine.json", "--ranks", "1", "--threads", "2", "--json", "-"
        )
        assert done.code == 0, done.err
        return done.json["predictions"][0]["seconds"], done.json["threads"][0]["seconds"]

    ranks, threads = seconds()
    slow = {**machine["overheads"], "column_ns": 1e6}
    assert seconds(rank_overheads=slow)[0] > 2 * ranks and seconds(rank_overheads=slow)[1] == threads
    assert seconds(overheads=slow, rank_overheads=machine["overheads"])[0] == ranks
    handing = seconds(overheads={**machine["overheads"], "handoff_us": 1000})
    assert handing[0] == ranks and handing[1] > threads


def test_more_ranks_than_this_machine_has_processors_are_said_to_be_on_several(palmette, spd, tmp_path):
    from conftest import DATA
    machine = json.loads((DATA / "machines" / "cori-haswell.json").read_text())
    (tmp_path / "palmette").mkdir()
    (tmp_path / "palmette" / "machine-4.json").write_text(
        json.dumps({**machine, "name": "this", "ranks_per_memory": 2})
    )
    known = {"XDG_CACHE_HOME": str(tmp_path)}
    more = palmette("predict", spd, "--machine", "this", "--ranks", "2,4", env=known)
    assert more.code == 0 and "2 processors" in more.out and "several" in more.out, more.err
    assert "several" not in palmette("predict", spd, "--machine", "this", "--ranks", "1,2", env=known).out


def test_wrong_numbers_of_ranks(palmette, spd):
    palmette("predict", spd, "--machine", "dgx-1", "--ranks", "4:2").fails_with(2, "--ranks 4:2")
    palmette("predict", spd, "--machine", "dgx-1", "--ranks", "4", "--grid", "3x1").fails_with(
        2, "--grid 3x1", "3 ranks"
    )
    palmette("predict", spd, "--machine", "dgx-1", "--ranks", "0").fails_with(2, "--ranks")


def test_simulated_clusters_solve_by_every_method(palmette, spd, tmp_path):
    done = palmette(
        "simulate-cluster",
        spd,
        "--machine",
        "cori-haswell",
        "--ranks",
        "1:8",
        "--layers",
        "1,2",
        "--trace",
        "t.json",
        "--json",
        "-",
    )
    assert done.code == 0, done.err
    rows = done.json["simulations"]
    assert [(row["ranks"], row["layers"]) for row in rows] == [
        (1, 1),
        (2, 1),
        (2, 2),
        (4, 1),
        (4, 2),
        (8, 1),
        (8, 2),
    ]
    for row in rows:
        assert row["simulated"] is True and row["seconds"] > 0 and row["backward_error"] < 1e-14
        assert row["method"] in (["message_driven"] if row["layers"] == 1 else ["one_sync_3d", "baseline_3d"])
        assert row["times"]["forward"]["work"]["least"] <= row["times"]["forward"]["work"]["most"]
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    assert (
        sum(event["ph"] == "s" for event in events)
        == sum(event["ph"] == "f" for event in events)
        == rows[-1]["messages"]
    )
    assert all(event["dur"] >= 0 for event in events if event["ph"] == "X")
    table = palmette(
        "simulate-cluster",
        spd,
        "--machine",
        "cori-haswell",
        "--ranks",
        "4",
        "--layers",
        "2",
        "--method",
        "baseline_3d",
    )
    assert table.code == 0 and "baseline_3d" in table.out and "backward" in table.out


def test_a_simulated_cluster_refuses_what_cannot_be(palmette, spd):
    palmette("simulate-cluster", spd, "--machine", "dgx-1", "--ranks", "3", "--layers", "2").fails_with(
        2, "--layers"
    )
    palmette(
        "simulate-cluster",
        spd,
        "--machine",
        "dgx-1",
        "--ranks",
        "4",
        "--layers",
        "2",
        "--method",
        "message_driven",
    ).fails_with(2, "message_driven")
    palmette("simulate-cluster", spd, "--machine", "dgx-1", "--method", "one_sync").fails_with(
        2, "one_sync_3d"
    )


def test_a_solve_over_ranks_says_where_its_time_goes(palmette, spd):
    times = palmette("solve", spd, "--transport", "threads:2", "--json", "-").json["ranks"]["times"]
    for phase in ["forward", "backward"]:
        for part in ["work", "messages", "waiting"]:
            figure = times[phase][part]
            assert 0 <= figure["least"] <= figure["mean"] * (1 + 1e-9) and figure["mean"] <= figure[
                "most"
            ] * (1 + 1e-9)


def test_auto_takes_a_grid_that_no_other_beats(palmette, spd):
    def seconds(grid):
        done = palmette(
            "predict", spd, "--machine", "cori-knl", "--ranks", "6", "--grid", grid, "--json", "-"
        )
        assert done.code == 0, done.err
        return done.json["predictions"][0]["seconds"]

    assert seconds("auto") == min(seconds(grid) for grid in ["6x1", "3x2", "2x3", "1x6"])


def test_layers_are_predicted_as_they_are_simulated(palmette, spd):
    arguments = [spd, "--machine", "cori-knl", "--ranks", "8", "--layers", "2,4,8"]
    for method in ["one_sync_3d", "baseline_3d"]:
        predicted = palmette("predict", *arguments, "--method", method, "--json", "-").json["predictions"]
        simulated = palmette("simulate-cluster", *arguments, "--method", method, "--json", "-").json[
            "simulations"
        ]
        assert [row["layers"] for row in predicted] == [2, 4, 8]
        for one, other in zip(predicted, simulated):
            assert [one[key] for key in ("ranks", "layers", "grid_rows", "grid_cols", "map")] == [
                other[key] for key in ("ranks", "layers", "grid_rows", "grid_cols", "map")
            ]
            assert (one["messages"], one["message_bytes"]) == (other["messages"], other["message_bytes"])
            assert 0.8 < one["seconds"] / other["seconds"] < 1.25
            assert one["method"] == other["method"] == method
            assert 0 < one["bound"]["seconds"] <= one["seconds"] and one["path_model"] is None


@pytest.mark.parametrize("grid, layers, method, words", [
    ("2x2", "1", "level_set", "for ranks in one layer choose one of auto, message_driven\n"),
    ("2x1x2", "2", "level_set", "for several layers of ranks choose one of auto, one_sync_3d, baseline_3d\n"),
    ("autoxauto", "auto", "level_set", "choose one of auto, message_driven, one_sync_3d, baseline_3d\n"),
    ("2x2", "1", "baseline_3d", "baseline_3d is for several layers of ranks"),
    ("2x2", "2,1", "baseline_3d", "for ranks in one layer choose one of auto, message_driven\n"),
])
def test_a_method_is_refused_where_it_does_not_run_as_by_solve(palmette, spd, grid, layers, method, words):
    given = [spd, "--machine", "dgx-1", "--method", method]
    error = palmette("solve", *given, "--transport", "threads:4", "--grid", grid).fails_with(2, words).err
    for command in ["predict", "simulate-cluster"]:
        assert palmette(command, *given, "--ranks", "4", "--layers", layers).fails_with(2).err == error


def test_prediction_never_chooses_one_layer_for_a_layered_method(palmette, spd):
    layered = ["--machine", "cori-knl", "--layers", "auto", "--method", "baseline_3d"]
    rows = palmette("predict", spd, *layered, "--ranks", "1,2,3,4", "--json", "-").json["predictions"]
    assert [row["ranks"] for row in rows] == [2, 4]
    assert all(row["layers"] > 1 and row["method"] == "baseline_3d" for row in rows)
    palmette("predict", spd, *layered, "--ranks", "1,3").fails_with(2, "baseline_3d needs several layers")


def test_predicted_layers_have_a_table_and_refuse_what_cannot_be(palmette, spd):
    table = palmette("predict", spd, "--machine", "cori-knl", "--ranks", "8", "--layers", "1,2")
    assert table.code == 0 and "2x2x2" in table.out and "4x2x1" in table.out and "layers" in table.out
    assert max(map(len, table.out.splitlines())) <= 80
    palmette("predict", spd, "--machine", "dgx-1", "--ranks", "3", "--layers", "2").fails_with(2, "--layers")
    palmette(
        "predict", spd, "--machine", "dgx-1", "--ranks", "4", "--layers", "2", "--method", "message_driven"
    ).fails_with(2, "message_driven")
    palmette(
        "predict", spd, "--machine", "dgx-1", "--ranks", "4", "--layers", "2", "--plot", "path.svg"
    ).fails_with(2, "--plot")


def test_auto_takes_layers_that_are_not_predicted_to_be_slower(palmette, spd):
    def row(*more):
        done = palmette(
            "simulate-cluster", spd, "--machine", "cori-knl", "--ranks", "4", *more, "--json", "-"
        )
        assert done.code == 0, done.err
        return done.json["simulations"][0]

    chosen = row("--layers", "auto")
    assert chosen["grid_rows"] * chosen["grid_cols"] * chosen["layers"] == 4
    again = row(
        "--layers",
        str(chosen["layers"]),
        "--grid",
        f"{chosen['grid_rows']}x{chosen['grid_cols']}",
        "--map",
        chosen["map"],
        "--method",
        chosen["method"],
    )
    assert again["seconds"] == chosen["seconds"]
    assert row("--layers", "auto", "--method", "message_driven")["layers"] == 1
