#!/usr/bin/env python3
"""Solves over many GPUs in grids and layers, on simulated clusters: docs/results/many_gpus_layers.md.

    PYTHON tools/results_many_gpus_layers.py [--build FOLDER] [--keep FOLDER]

Runs `palmette simulate-cluster` and `bench_many_gpus` of FOLDER (default build/release). Times are virtual:
they do not depend on what else this machine does. --keep: a folder from which outputs are read, or to which
they are written.
"""

import json
import pathlib

from results_reproduction import write_by_runs

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROBLEMS = [("poisson2d9", 320), ("poisson3d27", 26)]
LAYERS = [1, 2, 4, 8, 16, 32, 64]
GRIDS = [(1, 1), (2, 1), (4, 1), (8, 1), (16, 1), (32, 1), (1, 4), (2, 2), (1, 8), (4, 2), (1, 16), (4, 4)]


def changed_machine(run, machine, name, change):
    """A copy of a shipped machine file, for an experiment: what a contradiction hangs on."""
    path = run.keep / f"{name}.json"
    description = json.loads((ROOT / f"data/machines/{machine}.json").read_text())
    change(description)
    path.write_text(json.dumps(description))
    return path


def on_cores(run, problem, layers, num_rhs, machine="perlmutter-cpu"):
    """The rank programs of cores, 1 x 1 x LAYERS."""
    of_machine = "" if machine == "perlmutter-cpu" else f"_{pathlib.Path(machine).stem}"
    name = f"cores_{problem[0]}_{problem[1]}_{layers}_{num_rhs}{of_machine}.json"
    words = ["simulate-cluster", run.matrix(*problem), "--order", "nd", "--machine", str(machine)]
    words += ["--ranks", str(layers), "--grid", "1x1", "--layers", str(layers)]
    words += ["--method", "one_sync_3d" if layers > 1 else "message_driven", "--num-rhs", str(num_rhs)]
    return run.document(name, "cli/palmette", *words, "--json", "-", "--quiet")["simulations"][0]


def on_gpus(run, problem, machine, grids, num_rhs=1):
    """The programs of the kernels, by grid."""
    of_machine = pathlib.Path(machine).stem
    name = f"gpus_{problem[0]}_{problem[1]}_{of_machine}_{num_rhs}_{'_'.join(grids).replace('/', '-')}.json"
    words = [str(machine), problem[0], str(problem[1]), str(num_rhs), *grids]
    return {row["grid"]: row for row in run.rows(name, "bench/bench_many_gpus", *words)}


def us(found, phase="seconds"):
    return f"{found[phase] * 1e6:.0f}"


def chapter_of_processors(run):
    """L4: 1 x 1 x Pz layers of GPUs and of cores."""
    lines = [
        "## L4: layers of one GPU, and of one core",
        "",
        "Published ([Liu et al. 2023](../REFERENCES.md), figures 9 and 10, measured, 1 × 1 × Pz): on",
        "Perlmutter a GPU is up to 6.5, 4.6, 4.8 and 5 times as fast as a core of the CPU with one",
        "right-hand side, and up to 5.2, 3.7, 4.1 and 4 times with 50; a die of Crusher 1.6 to 1.8 and",
        "2.2 to 2.9 times. From one layer to 16, dielFilterV3real gains 9.5 on cores and 7 on GPUs. Our",
        "Crusher has no file of its cores, so only its own scaling is shown.",
        "",
    ]
    for problem in PROBLEMS:
        for num_rhs in (1, 50):
            lines += table_of_processors(run, problem, num_rhs)
    return lines + table_of_fifty(run)


def table_of_fifty(run):
    """Why 50 right-hand sides gain more here than published."""

    def free_rows(machine):
        machine["overheads"]["row_ns"]["value"] = 0

    def slow_products(machine):
        machine["kernel_gflops"]["points"] = machine["kernel_gflops"]["points"][:1]

    free = changed_machine(run, "perlmutter-cpu", "rows_free", free_rows)
    slow = changed_machine(run, "perlmutter", "slow_products", slow_products)
    lines = [
        "### Why 50 right-hand sides gain more here than published",
        "",
        "One layer. Rates are flops of the factor's entries, both sweeps, over the simulated seconds. Two",
        "**experiments** on copies of the machine files: a core that pays nothing for gathering rows, and a",
        "GPU whose products with 50 columns are no faster than with one (1,000 Gflop/s).",
        "",
        "| problem | core, Gflop/s | A100, Gflop/s | ratio | rows free | and slow products |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for problem in PROBLEMS:
        core, core_free = on_cores(run, problem, 1, 50), on_cores(run, problem, 1, 50, free)
        gpu = on_gpus(run, problem, "perlmutter", ["1x1"], 50)["1x1"]
        gpu_slow = on_gpus(run, problem, slow, ["1x1"], 50)["1x1"]
        flops = gpu["panel_bytes"] / 8 * 2 * 50
        rates = [flops / one["seconds"] / 1e9 for one in (core, gpu)]
        ratios = [
            over["seconds"] / under["seconds"]
            for over, under in ((core, gpu), (core_free, gpu), (core_free, gpu_slow))
        ]
        cells = [f"{problem[0]} {problem[1]}", *(f"{rate:.0f}" for rate in rates)]
        lines.append("| " + " | ".join(cells + [f"{ratio:.1f}" for ratio in ratios]) + " |")
    return lines + [""]


def table_of_processors(run, problem, num_rhs):
    cores = {layers: on_cores(run, problem, layers, num_rhs) for layers in LAYERS}
    grids = [f"1x1x{layers}" for layers in LAYERS]
    gpus = on_gpus(run, problem, "perlmutter", grids, num_rhs)
    dies = on_gpus(run, problem, "crusher", grids, num_rhs)
    sides = "one right-hand side" if num_rhs == 1 else f"{num_rhs} right-hand sides"
    lines = [
        f"### {problem[0]} {problem[1]}, {sides}",
        "",
        "| Pz | core, us | A100, us | A100 over core | polls | die of MI250X, us |",
        "| ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for layers in LAYERS:
        gpu = gpus[f"1x1x{layers}"]
        ratio = cores[layers]["seconds"] / gpu["seconds"]
        lines.append(
            f"| {layers} | {us(cores[layers])} | {us(gpu)} | {ratio:.2f} | {gpu['polls']:,} |"
            f" {us(dies[f'1x1x{layers}'])} |"
        )
    gains = [cores[1]["seconds"] / cores[16]["seconds"]]
    gains += [found["1x1x1"]["seconds"] / found["1x1x16"]["seconds"] for found in (gpus, dies)]
    return lines + [
        "",
        f"Simulated, from one layer to 16: cores {gains[0]:.2f}, A100 {gains[1]:.2f}, dies of MI250X"
        f" {gains[2]:.2f} times as fast.",
        "",
    ]


def chapter_of_nodes(run):
    """L5: grids over nodes, and layers inside them."""
    lines = [
        "## L5: grids that leave their node, and layers that do not",
        "",
        "Published (section 4.2.2 and figure 11, measured on Perlmutter: 300 GB/s between the four A100",
        "of a node, 12.5 GB/s beyond): one layer stops scaling where it leaves its node, one column of",
        "GPUs (Py = 1) is best, and layers inside nodes scale to 256 GPUs.",
        "",
    ]
    for problem in PROBLEMS:
        lines += tables_of_nodes(run, problem)
    return lines


def tables_of_nodes(run, problem):
    grids = all_grids()
    whole = on_gpus(run, problem, "perlmutter", grids)
    spread = on_gpus(run, problem, "perlmutter", [f"{grid}/spread" for grid in grids])
    lines = [
        f"### {problem[0]} {problem[1]}",
        "",
        "One layer: our kernels, which keep subtrees of at most 1/64 of the factor whole, and the same",
        "kernels with every supernode distributed over the grid, as in the paper.",
        "",
        "| GPUs | grid | ours, us | messages | bytes | polls "
        "| distributed, us | messages | bytes | polls |",
        "| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for rows, cols in sorted(GRIDS, key=lambda one: (one[0] * one[1], one[1])):
        cells = [str(rows * cols), f"{rows} × {cols}"]
        for one in (whole[f"{rows}x{cols}"], spread[f"{rows}x{cols}/spread"]):
            cells += [us(one), f"{one['messages']:,}", f"{one['message_bytes']:,}", f"{one['polls']:,}"]
        lines.append("| " + " | ".join(cells) + " |")
    layered = on_gpus(
        run, problem, "perlmutter", [f"{rows}x1x{layers}" for rows in (1, 2, 4) for layers in LAYERS]
    )
    lines += ["", "Layers of Px × 1 GPUs, microseconds:", "", "| Pz | Px = 1 | Px = 2 | Px = 4 |"]
    lines.append("| ---: | ---: | ---: | ---: |")
    lines += [
        f"| {layers} | " + " | ".join(us(layered[f"{rows}x1x{layers}"]) for rows in (1, 2, 4)) + " |"
        for layers in LAYERS
    ]
    named = {"ours": whole, "distributed": {name.split("/")[0]: one for name, one in spread.items()}}
    return lines + ["", *judgement(named, layered), ""]


def chapter_of_kernels(run):
    """Ours and the paper's kernels on one machine; what Py = 1 and the network cost."""
    lines = [
        "## Our kernels and the paper's on the same machine",
        "",
        "The paper's design ([Ding et al. 2020](../REFERENCES.md), and one layer of it in each layer of",
        "[Liu et al. 2023](../REFERENCES.md)) on the machine file `perlmutter`: every supernode",
        "distributed; a kernel of one block that waits for messages and passes them on, a thread for each,",
        "beside the kernel that solves (ours of that name, `devices_solve_wait`, takes messages one by one",
        "and is not priced). Ours: one kernel, subtrees of at most 1/64 of the factor whole. Both by",
        "`element_program`; microseconds, one right-hand side.",
        "",
    ]
    for problem in PROBLEMS:
        lines += table_of_kernels(run, problem)
    lines += ["### Why Py = 1 is best in the paper, and not always here", ""]
    lines += [
        "With every supernode distributed, in one kernel: both sweeps of a column of devices (P × 1) and of",
        "a row (1 × P). In the paper's layout P × 1 broadcasts in both sweeps and adds up nothing over",
        "devices. We keep U by the columns of L's structure, so our P × 1 broadcasts forward and adds up",
        "backward; 1 × P is the reverse.",
        "",
        "| problem | GPUs | forward, P × 1 | forward, 1 × P | backward, P × 1 | backward, 1 × P |"
        " messages, P × 1 | messages, 1 × P |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for problem in PROBLEMS:
        spread = on_gpus(run, problem, "perlmutter", [f"{grid}/spread" for grid in all_grids()])
        for ranks in (4, 8, 16):
            column, row = spread[f"{ranks}x1/spread"], spread[f"1x{ranks}/spread"]
            cells = [f"{problem[0]} {problem[1]}", str(ranks)]
            cells += [us(one, phase) for phase in PHASES for one in (column, row)]
            cells += [f"{one['messages']:,}" for one in (column, row)]
            lines.append("| " + " | ".join(cells) + " |")
    return lines + ["", *table_of_network(run)]


PHASES = ("forward_seconds", "backward_seconds")


def table_of_kernels(run, problem):
    grids = ["1x1", "2x1", "4x1", "8x1", "16x1", "1x1x4", "4x1x4", "1x1x16", "4x1x16"]
    ours = on_gpus(run, problem, "perlmutter", grids)
    papers = on_gpus(run, problem, "perlmutter", [f"{grid}/spread/wait" for grid in grids])
    flat = on_gpus(run, problem, "perlmutter", [f"{grid}/spread/wait/flat" for grid in grids])
    lines = [
        f"### {problem[0]} {problem[1]}, both designs",
        "",
        "| grid | ours | polls | paper's, binary trees | polls | paper's, flat trees | paper's over ours |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for grid in grids:
        one, other, third = ours[grid], papers[f"{grid}/spread/wait"], flat[f"{grid}/spread/wait/flat"]
        best = min(other["seconds"], third["seconds"])
        lines.append(
            f"| {grid.replace('x', ' × ')} | {us(one)} | {one['polls']:,} | {us(other)} |"
            f" {other['polls']:,} | {us(third)} | {best / one['seconds']:.1f} |"
        )
    return lines + [""]


def table_of_network(run):
    """What leaving the node costs: the same programs with all GPUs in one node."""

    def one_node(machine):
        machine["links"][0]["ranks"]["value"] = 64

    inside = changed_machine(run, "perlmutter", "one_node", one_node)
    lines = [
        "### What leaving the node costs",
        "",
        "An **experiment**: P × 1 on `perlmutter`, four GPUs a node, and on a copy of the file with all",
        "GPUs in one node; microseconds.",
        "",
        "| problem | GPUs | ours | in one node | distributed | in one node |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for problem in PROBLEMS:
        wanted = [f"{ranks}x1{kind}" for ranks in (4, 8, 16, 32) for kind in ("", "/spread")]
        there, here = (on_gpus(run, problem, machine, wanted) for machine in ("perlmutter", inside))
        for ranks in (4, 8, 16, 32):
            cells = [f"{problem[0]} {problem[1]}", str(ranks)]
            cells += [us(one[f"{ranks}x1{kind}"]) for kind in ("", "/spread") for one in (there, here)]
            lines.append("| " + " | ".join(cells) + " |")
    return lines + [""]


def all_grids():
    return [f"{rows}x{cols}" for rows, cols in GRIDS]


def chapter_of_memory(run):
    """Y1: messages between devices of two nodes, natively and by way of the hosts."""
    sizes = [2**power for power in range(3, 25, 3)] + [8192]
    rows = run.rows("memory.json", "bench/bench_many_gpus", "memory", "perlmutter", "a100", *map(str, sizes))
    lines = [
        "## Y1: memory kinds",
        "",
        "Published ([Bellavita et al. 2023](../REFERENCES.md), figure 5, measured on Perlmutter): copies",
        "between nodes are 5.9 times as fast natively as by way of the hosts with 8 KiB, and 2.3 beyond",
        "1 MiB. **Predicted**, from estimates: the network of `perlmutter` (4 us, 12.5 GB/s), and by way of",
        "the hosts a copy over the bus of an A100 before and one behind (10 us, 20 GB/s each), one after the",
        "other. The estimates are older than this comparison; nothing was fitted.",
        "",
        "| bytes | native, us | by way of the hosts, us | ratio |",
        "| ---: | ---: | ---: | ---: |",
    ]
    for row in sorted(rows, key=lambda one: one["bytes"]):
        native, staged = row["native_seconds"], row["reference_seconds"]
        times = f"{native * 1e6:.1f} | {staged * 1e6:.1f} | {staged / native:.2f}"
        lines.append(f"| {row['bytes']:,} | {times} |")
    return lines + [""]


READ_TOGETHER = [
    "## What holds, and what does not",
    "",
    "- Holds (L5): ours are 1.6 to 2.5 times as fast as the paper's design on the same simulated machine,",
    "  with one GPU and with 64: small supernodes of a whole subtree need no tasks and sums of their own,",
    "  and fewer messages are waited for. A second kernel that waits makes the paper's design 1.06 to",
    "  1.20 times as fast with four GPUs and more as the same tasks in one kernel; flat trees up to 1.18",
    "  times. These prices favour the paper's design: each of the 256 threads that take messages at once",
    "  is priced as a whole block that has one task.",
    "- Holds in part (L5): one column of GPUs (Py = 1) is faster than one row, where subtrees stay whole,",
    "  with 4, 8 and 16 GPUs for the 3D problem, and with two of the three for the 2D one. With every",
    "  supernode distributed, as in the paper, with one of three. The reason sought: our U lies by the",
    "  columns of L, so P × 1 broadcasts forward and adds up backward, where the paper's broadcasts in",
    "  both sweeps. For the 3D problem P × 1 is 1.04 to 1.31 times as fast forward, and 1 × P 1.12 to",
    "  1.31 times backward, where it broadcasts: broadcasts are faster, as the paper says. The 2D problem",
    "  does not show it. Forward 1 × P is ahead, where it adds up (1.05 to 1.18 times): P × 1 sends 1.4",
    "  to 1.9 times as many messages, and each is a task of 0.8 us for a block that waits. That is not",
    "  all, for backward with 4 GPUs P × 1 is ahead, where it adds up and sends 1.85 times as many",
    "  messages (957 us and 1110); why is not known. With 8 and 16 GPUs 1 × P is ahead backward, too.",
    "- Holds in part (L5): for the 3D problem one layer of ours is fastest with the four GPUs of a node, and",
    "  then gets slower. The network is not all of the reason: with eight GPUs in one node it would take 411",
    "  us in place of 504, and still not be faster than with four (409), since the path through the tree is",
    "  what is left. Missed for the 2D problem: it goes on gaining up to 32 GPUs. There the network costs",
    "  ours 7 to 12 % (827 us and 772 in one node with 8 GPUs), so leaving the node stops nothing. Figure 11",
    "  of the paper has none of its planar problem either.",
    "- Holds in part (L5): with a fixed number of GPUs, more layers are as fast as a larger grid, or",
    "  faster, always for the 3D problem (4 GPUs: 331 us as 1 × 1 × 4, 382 as 2 × 1 × 2, 409 as 4 × 1 ×",
    "  1) and up to 8 GPUs for the 2D one (541 us as 1 × 1 × 8, 613 as 2 × 1 × 4, 716 as 4 × 1 × 2). With",
    "  more, layers of grids are ahead there: 16 GPUs take 467 us as 1 × 1 × 16 and 462 as 2 × 1 × 8, 32",
    "  take 409 as 1 × 1 × 32 and 404 as 4 × 1 × 8, 64 take 415 as 1 × 1 × 64, 414 as 2 × 1 × 32 and 400",
    "  as 4 × 1 × 16, the fastest of all.",
    "- Holds in part (L5): layers gain beyond the node as long as the tree has branches to cut: up to",
    "  64 GPUs for the 2D problem, up to 4 for the 3D one, which is small. 256 GPUs run, and are no",
    "  faster than 64: these problems have no work for them.",
    "- Holds in part (L4): the 3D problem with one right-hand side and one layer is 6.2 times as fast on an",
    "  A100 as on a core (published 4.6 to 6.5). Missed for the 2D problem (2.4), whose many small",
    "  supernodes are latency here, and with layers, where cores gain more than GPUs, as published. From",
    "  one layer to 16 the 2D problem gains 5.6 on GPUs and 9.7 on cores (published 7 and 9.5).",
    "- Missed (L4): with 50 right-hand sides the ratio is 17 to 20 in one layer, published at most 5.2.",
    "  The reasons sought: without what a core pays to gather rows it would be 11 to 12, with products",
    "  of the GPU as slow as those of one column, too, 7 to 10. What is left is the rate: the simulated",
    "  A100 runs at 250 to 300 Gflop/s, 4 to 5 % of what its file says of 50 columns; the published",
    "  ratio, with cores at our 12 to 18, is a GPU at 60 to 95. How the published kernels multiply by",
    "  50 columns is not said.",
    "- The distributed programs send as many messages and bytes as the rank programs of `simulate-",
    "  cluster` with the map block_cyclic, since both execute one exchange.",
    "- Y1: the two published ratios come out as 5.5 and 2.3, although the bus is an estimate.",
    "- Cores with more than 16 ranks in all keep smaller subtrees whole, which makes many layers of one",
    "  core slower than they need be (both problems with 64 layers).",
    "",
]


def judgement(flat, layered):
    """What holds of the published observations."""
    lines = []
    for name, found in flat.items():
        rows = {grid[0]: found[f"{grid[0]}x1"]["seconds"] for grid in GRIDS if grid[1] == 1}
        best = min(rows, key=rows.get)
        ahead = sum(rows[ranks] < found[f"1x{ranks}"]["seconds"] for ranks in (4, 8, 16))
        lines.append(
            f"- {name}: P × 1 is fastest with {best} GPUs ({rows[1] / rows[best]:.2f} times one GPU;"
            f" {rows[1] / rows[4]:.2f} with 4, {rows[1] / rows[8]:.2f} with 8, {rows[1] / rows[32]:.2f} with"
            f" 32). Py = 1 is faster than 1 × P with {ahead} of 3 numbers of GPUs (4, 8, 16)."
        )
    best = min(layered, key=lambda one: layered[one]["seconds"])
    one = layered["1x1x1"]["seconds"]
    most = one / layered["4x1x64"]["seconds"]
    lines.append(
        f"- Layers are fastest as {best.replace('x', ' × ')}"
        f" ({one / layered[best]['seconds']:.2f} times one GPU);"
        f" 256 GPUs (4 × 1 × 64) reach {most:.2f} times."
    )
    return lines


def write_report(run):
    lines = [
        "# Many GPUs in grids and layers",
        "",
        "Made by `tools/results_many_gpus_layers.py`. **No GPU ran.** Tasks, messages and bytes of GPUs are",
        "**counted** from the programs that the kernels execute (`element_program`); tests hold the messages",
        "and bytes against what the emulator counts. Seconds are **simulated**: each of a GPU's workers, two",
        "blocks for each multiprocessor, takes the next ticket of the program, waits until all that the task",
        "names is there, and runs it; messages take the links of the machine; polls are the looks of waiting",
        "blocks, one for each `task_us`. A task costs its share of the factor's bytes and overheads of the",
        "machine files `perlmutter` and `crusher`, most of them estimates. Cores of `perlmutter-cpu` run the",
        "rank programs, in virtual time too. Published figures are for other matrices: read shapes, not",
        "values.",
        "",
        *chapter_of_processors(run),
        *chapter_of_nodes(run),
        *chapter_of_kernels(run),
        *chapter_of_memory(run),
        *READ_TOGETHER,
    ]
    (ROOT / "docs/results/many_gpus_layers.md").write_text("\n".join(lines).rstrip() + "\n")


if __name__ == "__main__":
    write_by_runs(__doc__, write_report)
