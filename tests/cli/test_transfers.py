"""simulate-transfers and advise-transfers: tables, files, and errors that say what to do."""

import json

from conftest import DATA

SMALL = ["--scale", "0.05"]


def test_all_paradigms_of_an_application(palmette):
    run = palmette("simulate-transfers", "jacobi", *SMALL, "--interconnect", "pcie4", "--gpus", "4")
    assert run.code == 0
    for word in ["simulated", "copies", "finepack", "gps", "proact", "infinite", "equal"]:
        assert word in run.out, word
    assert "DIFFER" not in run.out


def test_json_says_that_times_are_simulated_and_bytes_add_up(palmette):
    report = palmette("simulate-transfers", "jacobi,als", *SMALL, "--json", "-").json
    assert report["simulated"] and report["interconnect"] == "pcie4"
    assert [program["program"] for program in report["programs"]] == ["jacobi", "als"]
    for program in report["programs"]:
        assert len(program["results"]) == 10
        for row in program["results"]:
            assert row["simulated"] and row["different_bytes"] == 0
            assert row["wire_bytes"] == row["useful_bytes"] + row["wasted_bytes"] + row["overhead_bytes"]


def test_every_interconnect_is_read(palmette):
    message = palmette("simulate-transfers", "jacobi", "--interconnect", "pcie7").err
    assert "did you mean" in message
    names = message.split("known interconnects are ")[1].strip().rstrip(".").split(", ")
    assert len(names) >= 13
    times = {}
    for name in names:
        report = palmette(
            "simulate-transfers",
            "transpose",
            *SMALL,
            "--interconnect",
            name,
            "--paradigm",
            "copies,infinite",
            "--json",
            "-",
        ).json
        copies, infinite = report["programs"][0]["results"]
        assert copies["seconds"] > infinite["seconds"], name
        times[name] = copies["seconds"]
    assert times["pcie3"] > times["pcie4"] > times["pcie5"]
    assert times["pcie5"] > times["nvlink5"]


def test_a_trace_written_is_the_trace_that_is_read(palmette, tmp_path):
    for name in ["trace.txt", "trace.bin"]:
        palmette("simulate-transfers", "pagerank", *SMALL, "--write-trace", tmp_path / name, "--quiet")
    options = ["--paradigm", "finepack,gps,peer_loads", "--json", "-"]
    direct = palmette("simulate-transfers", "pagerank", *SMALL, *options).json["programs"][0]["results"]
    for name in ["trace.txt", "trace.bin"]:
        read = palmette("simulate-transfers", tmp_path / name, *options).json["programs"][0]["results"]
        for ours, theirs in zip(direct, read):
            assert ours["wire_bytes"] == theirs["wire_bytes"]
            assert abs(ours["seconds"] - theirs["seconds"]) < 1e-9


def test_a_trace_of_ones_own(palmette, tmp_path):
    trace = tmp_path / "mine.txt"
    lines = ["palmette trace 1", "name mine", "devices 2", "memory 65536", "phase", "kernel 0 100000 128"]
    lines += [f"s {k} 0 {64 * k} 8 {k} 0x2" for k in range(512)]
    lines += ["copy 0 32768 0x2", "phase", "kernel 1 100000 128"]
    lines += [f"l {k} 0 {64 * k} 8" for k in range(512)]
    trace.write_text("\n".join(lines) + "\n")
    report = palmette("simulate-transfers", trace, "--paradigm", "peer_stores", "--json", "-").json
    row = report["programs"][0]["results"][0]
    assert row["packets"] == 512 and row["wire_bytes"] == 512 * 32 and row["useful_bytes"] == 4096
    advice = palmette("advise-transfers", trace, "--json", "-").json["programs"][0]
    times = [one["seconds"] for one in advice["candidates"]]
    assert times == sorted(times) and advice["winner"] == advice["candidates"][0]["paradigm"]
    assert abs(advice["margin"] - times[1] / times[0]) < 1e-12
    assert {one["factor"] for one in advice["sensitivity"]} == {0.5, 2.0}


def test_calibration_makes_copies_as_fast_as_asked(palmette):
    report = palmette(
        "simulate-transfers",
        "jacobi,ct",
        "--scale",
        "0.3",
        "--calibrate",
        "1.5",
        "--paradigm",
        "copies",
        "--json",
        "-",
    ).json
    product = 1
    for program in report["programs"]:
        product *= program["results"][0]["speedup"]
    assert abs(product**0.5 - 1.5) < 0.02
    palmette("simulate-transfers", "jacobi", *SMALL, "--calibrate", "5").fails_with(
        2, "no rate of local memory"
    )


def test_csv_has_a_line_for_each_program_and_paradigm(palmette, tmp_path):
    csv = tmp_path / "table.csv"
    palmette(
        "simulate-transfers", "jacobi,ct", *SMALL, "--paradigm", "copies,finepack", "--csv", csv, "--quiet"
    )
    lines = csv.read_text().splitlines()
    assert len(lines) == 5 and lines[0].startswith("program,devices,paradigm,simulated_seconds")


def test_advice_is_a_sentence_with_a_margin(palmette):
    run = palmette("advise-transfers", "jacobi", *SMALL, "--interconnect", "nvswitch", "--machine", "dgx-2")
    assert run.code == 0
    assert "times as fast as the next best (simulated)" in run.out


def test_misuse_is_one_sentence(palmette, tmp_path):
    palmette("simulate-transfers", "jacoby").fails_with(
        2, "neither a file nor an application", "did you mean 'jacobi'"
    )
    palmette("simulate-transfers", "jacobi,foo").fails_with(2, "neither a file")
    palmette("simulate-transfers", "jacobi", "--paradigm", "magic").fails_with(2, "--paradigm")
    palmette("simulate-transfers", "jacobi", "--gpus", "17").fails_with(2, "--gpus")
    palmette("simulate-transfers", "jacobi", "--subheader", "7").fails_with(2, "--subheader")
    bad = tmp_path / "bad.txt"
    bad.write_text("palmette trace 1\ndevices 2\nphase\nkernel 5 0 32\n")
    palmette("simulate-transfers", bad).fails_with(3, "bad.txt:4", "no such device")
    broken = tmp_path / "broken.json"
    broken.write_text(
        json.dumps({"format": "palmette interconnect 1", "name": "x", "description": "", "gbs": 3})
    )
    palmette("simulate-transfers", "jacobi", "--interconnect", broken).fails_with(3, "gbs", "source")


def test_a_timeline_has_each_kernel_and_link_once(palmette, tmp_path):
    file = tmp_path / "time.json"
    report = palmette(
        "simulate-transfers", "jacobi", *SMALL, "--paradigm", "copies,finepack,unified_memory,infinite",
        "--trace", file, "--json", "-",
    ).json  # fmt: skip
    events = json.loads(file.read_text())["traceEvents"]
    names = [event["args"]["name"] for event in events if event["name"] == "process_name"]
    assert names == [
        f"jacobi, {way} (simulated)" for way in ("copies", "finepack", "unified_memory", "infinite")
    ]
    for process, row in enumerate(report["programs"][0]["results"]):
        mine = [event for event in events if event["pid"] == process and event["ph"] == "X"]
        kernels = [event for event in mine if event["name"] == "kernel"]
        assert len(kernels) == 4 * report["programs"][0]["phases"]
        assert max(event["ts"] + event["dur"] for event in mine) <= 1e6 * row["seconds"] * (1 + 1e-6)
        # A packet crosses the link out of its device, and the link into the other one.
        sent = [event["args"] for event in mine if event["name"] == "send"]
        if row["paradigm"] in ("copies", "finepack"):
            assert sum(one["bytes"] for one in sent) == row["wire_bytes"]
            assert sum(one["packets"] for one in sent) == row["packets"]
            received = [event["args"]["bytes"] for event in mine if event["name"] == "receive"]
            assert sum(received) == row["wire_bytes"]
        for thread in {event["tid"] for event in mine if event["name"] in ("send", "receive")}:
            busy = sorted((event["ts"], event["dur"]) for event in mine if event["tid"] == thread)
            for (begin, length), (following, _) in zip(busy, busy[1:]):
                assert begin + length <= following + 1e-3


def test_als_runs_on_a_file_of_ratings(palmette, tmp_path):
    sample = DATA / "ratings/sample.csv"
    report = palmette(
        "simulate-transfers", "als", "--ratings", sample, "--paradigm", "finepack", "--json", "-"
    ).json
    row = report["programs"][0]["results"][0]
    assert row["different_bytes"] == 0 and row["packets"] > 0
    bad = tmp_path / "bad.txt"
    bad.write_text("ann film 3\nann film\n")
    failed = palmette("simulate-transfers", "als", "--ratings", bad)
    assert failed.code != 0 and "bad.txt" in failed.err and "2" in failed.err
    assert "--ratings is for als" in palmette("simulate-transfers", "jacobi", "--ratings", sample).err


def test_messages_of_a_solve_are_replayed_as_stores(palmette, tmp_path):
    matrix, stores = tmp_path / "A.mtx", tmp_path / "stores.bin"
    palmette("generate", "poisson2d9", "--n", "24", "--out", matrix)
    simulated = palmette(
        "simulate-cluster", matrix, "--machine", "dgx-2", "--ranks", "4", "--write-stores", stores,
        "--json", "-",
    ).json["simulations"][0]  # fmt: skip
    rows = palmette(
        "simulate-transfers", stores, "--paradigm", "copies,peer_stores,finepack", "--json", "-"
    ).json["programs"][0]["results"]
    assert simulated["messages"] > 0
    for row in rows:
        assert row["different_bytes"] == 0
        assert row["useful_bytes"] == simulated["message_bytes"]
    assert palmette(
        "simulate-cluster", matrix, "--machine", "dgx-2", "--ranks", "32", "--write-stores", stores
    ).err.count("1 to 16 ranks")
