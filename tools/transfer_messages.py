"""Messages of solves over ranks, replayed as stores: what packing would save. For results_transfers.py."""

import json
import pathlib
import tempfile

from kept_output import text_of

SPLIT = ["--map", "block_cyclic", "--subtrees", "split"]
CASES = [
    ("poisson2d9", 128, []),
    ("poisson2d9", 128, SPLIT),
    ("poisson3d27", 16, []),
    ("poisson3d27", 16, SPLIT),
]


def replayed(palmette, keep, case):
    """Facts of the messages, and results of their replay."""
    problem, side, layout = case
    name = f"messages_{problem}_{side}_{'split' if layout else 'default'}"

    def ask(what, *words):
        known = keep / f"{name}_{what}.json" if keep else None
        return json.loads(text_of(known, palmette, *words, "--json", "-", "--quiet"))

    with tempfile.TemporaryDirectory() as folder:
        matrix, stores = pathlib.Path(folder) / "A.mtx", pathlib.Path(folder) / "stores.bin"
        text_of(None, palmette, "generate", problem, "--n", str(side), "--out", matrix)
        facts = ask("run", "simulate-cluster", matrix, "--machine", "cori-haswell", "--ranks", "16", *layout,
                    "--write-stores", stores)["simulations"][0]  # fmt: skip
        program = ask("replay", "simulate-transfers", stores, "--interconnect", "pcie4",
                      "--paradigm", "copies,peer_stores,finepack")["programs"][0]  # fmt: skip
    return facts, {one["paradigm"]: one for one in program["results"]}


def rows(palmette, keep):
    found = []
    for case in CASES:
        facts, by = replayed(palmette, keep, case)
        stores = by["peer_stores"]
        if any(one["different_bytes"] for one in by.values()):
            raise SystemExit(f"{case}: memory images differ")
        found.append([
            f"{case[0]} {case[1]}",
            "block-cyclic, split" if case[2] else "default",
            facts["messages"],
            f"{facts['message_bytes'] / max(1, facts['messages']):.0f}",
            f"{stores['store_bytes'] / max(1, stores['stores']):.0f}",
            f"{stores['wire_bytes'] / by['finepack']['wire_bytes']:.2f}",
            f"{stores['wire_bytes'] / by['copies']['wire_bytes']:.2f}",
        ])  # fmt: skip
    return found


HEAD = ["problem", "layout", "messages", "bytes a message", "bytes a store",
        "bytes of stores over FinePack's", "over those of copies"]  # fmt: skip
