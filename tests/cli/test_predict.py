"""palmette predict and palmette measure: forms of tables, JSON and plots, and what is refused. Figures are the library's tests' business."""
import json

import pytest

MACHINES = ["cori-haswell", "cori-knl", "crusher", "dgx-1", "dgx-2", "perlmutter", "perlmutter-cpu"]


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
        if not isinstance(value, dict):
            return
        if "value" in value or "points" in value:
            assert len(value.get("source", "")) > 5, place
            return
        for key, below in value.items():
            look(below, f"{place}.{key}")

    names = sorted(path.stem for path in (DATA / "machines").glob("*.json"))
    assert names == sorted(MACHINES)
    for name in names:
        document = json.loads((DATA / "machines" / f"{name}.json").read_text())
        assert document["name"] == name
        look(document, name)


def test_table_and_plot(palmette, spd, tmp_path):
    done = palmette("predict", spd, "--machine", "cori-knl", "--ranks", "4", "--threads", "1,2", "--plot", "path.svg")
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

    refused(lambda one: one["network"].pop("latency_us"), "network.latency_us", "missing")
    refused(lambda one: one["network"].update(latency_us="fast"), "network.latency_us", "give a number")
    refused(lambda one: one["on_node"].update(bandwidth_gbs=0), "on_node.bandwidth_gbs is 0")
    refused(lambda one: one.update(memory_gbs=[1, 2]), "memory_gbs", "points")
    refused(lambda one: one.update(ranks_per_node=2.5), "ranks_per_node", "whole number")
    refused(lambda one: one.update(injection=3), "injection", "injection_gbs")
    (tmp_path / "bad.json").write_text('{\n"format": }')
    palmette("predict", spd, "--machine", "bad.json").fails_with(3, "bad.json:2", "not JSON")
    palmette("predict", spd, "--machine", "cori-haswel").fails_with(2, "did you mean 'cori-haswell'")


def test_wrong_numbers_of_ranks(palmette, spd):
    palmette("predict", spd, "--machine", "dgx-1", "--ranks", "4:2").fails_with(2, "--ranks 4:2")
    palmette("predict", spd, "--machine", "dgx-1", "--ranks", "4", "--grid", "3x1").fails_with(2, "--grid 3x1", "3 ranks")
    palmette("predict", spd, "--machine", "dgx-1", "--ranks", "0").fails_with(2, "--ranks")
