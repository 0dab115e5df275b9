"""palmette.transfers: the same figures as the command's, traces in and out as arrays, and pictures."""

import json

import numpy as np
import pytest

import palmette
from palmette import transfers
from palmette.transfers import ACCESS, Kernel, Trace


def scattered(count=1000, stride=256):
    """GPU 0 stores 8 bytes in every 256 for GPU 1, which loads them in the second phase."""
    stores = np.zeros(count, ACCESS)
    stores["thread"] = np.arange(count)
    stores["address"] = stride * np.arange(count)
    stores["bytes"], stores["value"], stores["to"] = 8, np.arange(count) + 1, 0b10
    loads = stores.copy()
    loads["kind"], loads["to"], loads["value"] = 1, 0, 0
    idle = Kernel(0, 128, np.zeros(0, ACCESS), [])
    copies = [(0, stride * count, 0b10)]
    return Trace("mine", [[Kernel(1e5, 128, stores, copies), idle], [idle, Kernel(1e5, 128, loads, [])]])


def test_bytes_are_those_of_the_packets():
    # A packet of PCIe has a header of 24 bytes; FinePack puts 64 stores of 8 + 5 bytes into one.
    results = transfers.simulate(scattered(), ["peer_stores", "finepack", "copies"], "pcie4")
    assert results["peer_stores"]["wire_bytes"] == 1000 * (24 + 8)
    assert results["finepack"]["wire_bytes"] == 15 * (24 + 64 * 13) + 24 + 40 * 13
    assert results["copies"]["useful_bytes"] == 8000
    assert results["peer_stores"]["stores_by_size"] == [0, 1000, 0, 0, 0, 0]
    for result in results.values():
        assert result["simulated"] and result["different_bytes"] == 0
        parts = result["useful_bytes"] + result["wasted_bytes"] + result["overhead_bytes"]
        assert parts == result["wire_bytes"]


def test_a_trace_comes_out_as_it_went_in(tmp_path):
    trace = scattered(5)
    assert (trace.name, trace.gpus, trace.num_phases, trace.num_accesses) == ("mine", 2, 2, 10)
    for name in ("trace.txt", "trace.bin"):
        trace.write(tmp_path / name)
        read = transfers.read_trace(tmp_path / name)
        for phase in range(2):
            for gpu in range(2):
                ours, theirs = trace.kernel(phase, gpu), read.kernel(phase, gpu)
                assert np.array_equal(ours.accesses[list(ACCESS.names)], theirs.accesses[list(ACCESS.names)])
                assert ours[:2] == theirs[:2] and ours.copies == theirs.copies
    assert trace.kernel(0, 0).accesses["value"].tolist() == [1, 2, 3, 4, 5]
    again = Trace("mine", [[trace.kernel(phase, gpu) for gpu in range(2)] for phase in range(2)])
    options = (["gps"], "nvlink3")
    assert transfers.simulate(again, *options) == transfers.simulate(trace, *options)


def test_applications_run_and_options_reach_the_simulator():
    assert {"jacobi", "als", "trisolve"} <= set(transfers.applications())
    trace = transfers.run_application("als", gpus=2, scale=0.2)
    assert trace.gpus == 2
    greedy = transfers.simulate(trace, "gps", issue="greedy")["gps"]
    in_turn = transfers.simulate(trace, "gps", issue="in_turn")["gps"]
    assert greedy["wire_bytes"] < in_turn["wire_bytes"]
    wide = transfers.interconnect("pcie4", gbs=1000, root_gbs=1000, latency_us=0)
    narrow, free = (transfers.simulate(trace, "copies", on)["copies"] for on in ("pcie4", wide))
    assert free["seconds"] < narrow["seconds"] and free["wire_bytes"] == narrow["wire_bytes"]
    chunks = transfers.simulate(trace, "proact", chunk_bytes=4096)["proact"]
    assert chunks["chunk_bytes"] == 4096 and chunks["chunks"] > 0


def test_all_paradigms_and_advice():
    trace = scattered()
    results = transfers.simulate(trace)
    assert list(results) == transfers.paradigms() and results["single"]["speedup"] == 1
    advice = transfers.advise(trace, "nvswitch")
    times = [one["seconds"] for one in advice["candidates"]]
    assert times == sorted(times) and advice["winner"] == advice["candidates"][0]["paradigm"]
    assert advice["margin"] == pytest.approx(times[1] / times[0])
    assert {row["factor"] for row in advice["sensitivity"]} == {0.5, 2.0}


def test_every_interconnect_is_described():
    assert len(transfers.interconnects()) >= 13
    for name in transfers.interconnects():
        assert transfers.interconnect(name)["gbs"] > 0
    # Figure 2.2: stores of 4 bytes reach 14.3 % on PCIe and 8.3 % on NVLink.
    assert transfers.store_goodput("pcie4", 4) == pytest.approx(4 / 28)
    assert transfers.store_goodput("nvlink2", [4, 128])[0] == pytest.approx(4 / 48)


def test_closed_forms_give_the_published_figures():
    assert transfers.packed_goodput("pcie4", 4, 64, subheader_bytes=4) == pytest.approx(0.478, abs=5e-4)
    assert transfers.configuration_packet_loss("pcie4", 40, 38) == pytest.approx(0.183, abs=5e-4)
    assert [transfers.packet_window_bytes(h) for h in (2, 4)] == [64, 4 << 20]
    assert transfers.most_stores_per_packet("pcie4", 128, subheader_bytes=4) == 31
    assert transfers.gps_tables() == {"queue_bytes": 8640, "page_entry_bits": 126, "bitmap_bytes": 65536}
    law = transfers.copy_law(0.00778, 11)
    assert law["crossover"] == pytest.approx(11.85, abs=0.01) and law["hidden"] == pytest.approx(11)


def test_misuse_is_told(tmp_path):
    trace = scattered(3)
    with pytest.raises(palmette.UsageError, match="did you mean|pcie4"):
        transfers.simulate(trace, "copies", "pcie7")
    with pytest.raises(palmette.UsageError, match="finepack"):
        transfers.simulate(trace, "finepak")
    with pytest.raises(palmette.UsageError, match="no option 'chunk'"):
        transfers.simulate(trace, chunk=4)
    with pytest.raises(palmette.UsageError, match="no field 'rate'"):
        transfers.interconnect("pcie4", rate=3)
    with pytest.raises(palmette.UsageError, match="jacobi"):
        transfers.run_application("jacoby")
    with pytest.raises(palmette.UsageError, match="no phase 2"):
        trace.kernel(2, 0)
    kernel = trace.kernel(0, 0)
    with pytest.raises(palmette.UsageError, match="address 256 lies outside 100 bytes"):
        Trace("small", [[kernel, kernel]], memory_bytes=100)
    with pytest.raises(palmette.UsageError, match="type palmette.transfers.ACCESS"):
        Trace("floats", [[Kernel(0, 128, np.zeros(3), [])]])
    wrong = kernel.accesses.copy()
    wrong["kind"] = 3
    with pytest.raises(palmette.UsageError, match="kind from 0 to 2"):
        Trace("kinds", [[kernel._replace(accesses=wrong), kernel]])
    bad = tmp_path / "bad.txt"
    bad.write_text("palmette trace 1\nnonsense\n")
    with pytest.raises(palmette.IoError) as told:
        transfers.read_trace(bad)
    assert told.value.line == 2
    bad.write_text(json.dumps({"name": "half"}))
    with pytest.raises(palmette.IoError, match="describes no interconnect"):
        transfers.interconnect(bad)


def test_pictures_show_the_figures():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    import palmette.plots as plots

    results = transfers.simulate(scattered(), ["copies", "peer_stores", "finepack"])
    programs = {"one": results, "two": results}
    axes = plots.transfer_speedups(programs)
    heights = [bar.get_height() for bar in axes.patches]
    assert len(heights) == 9 and heights[0] == pytest.approx(results["copies"]["speedup"])
    assert heights[2] == pytest.approx(results["copies"]["speedup"])  # the mean of two equal programs
    stacked = [bar.get_height() for bar in plots.transfer_bytes(programs).patches]
    assert sum(stacked[:3]) == pytest.approx(1)  # copies are the unit
    lines = plots.transfer_sweep({4: programs, 5: programs}, "wire_bytes", label="bytes").lines
    assert list(lines[0].get_ydata()) == pytest.approx([results["copies"]["wire_bytes"]] * 2)
    with pytest.raises(palmette.UsageError, match="simulate 'copies' too"):
        plots.transfer_bytes({"one": {"gps": results["copies"]}})
    plt.close("all")
