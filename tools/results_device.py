#!/usr/bin/env python3
"""The table of kernels in docs/results/device.md: what nvcc makes of them, and what the emulator counts.

    cmake --build build/release --target test_device bench_emulator && python3 tools/results_device.py

Rewrites one section of the page, from build/release/tests/test_device and build/release/bench/bench_emulator;
half a minute. Nothing runs on a GPU.
"""

import json
import pathlib
import re
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/release"
PAGE = ROOT / "docs/results/device.md"
HEADING = "## Kernel by kernel"
NAME = re.compile(r"(\w+)_kernel<(?:Complex<)?\w+>?, (\d+)")
RUNS = 5


def compiled_figures():
    """(kernel, right-hand sides) → figure → its values for the four scalar types, sm_80 and sm_90 apart."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "limits.json"
        subprocess.run(
            [BUILD / "tests/test_device", "--gtest_filter=*CompiledFor*", f"--gtest_output=json:{out}"],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        suites = json.loads(out.read_text())["testsuites"]
    figures = {}
    for test in (test for suite in suites for test in suite["testsuite"]):
        arch = test["name"].rsplit("/", 1)[-1]
        for key, text in test.items():
            found = NAME.match(key)
            if not found:
                continue
            of_kernel = figures.setdefault((found[1], int(found[2])), {})
            for figure, value in re.findall(r"([a-z][a-z0-9 ]*?) (\d+)(?:,|$)", text):
                of_kernel.setdefault((figure.strip(), arch), []).append(int(value))
    return figures


def emulated_figures():
    """Kernel → its row of bench_emulator, the one of median speed."""
    runs = []
    for _ in range(RUNS):
        done = subprocess.run(
            [BUILD / "bench/bench_emulator", "--kernels", "yes"], check=True, capture_output=True, text=True
        )
        runs.append(json.loads(done.stdout))
    return {
        rows[0]["kernel"]: sorted(rows, key=lambda row: row["steps_per_second"])[RUNS // 2]
        for rows in zip(*runs)
    }


def values_of(figures, figure):
    """Least and most, over scalar types and the architectures named."""
    values = [value for (name, arch), found in figures.items() if f"{name} {arch}".startswith(figure)
              for value in found]
    least, most = min(values), max(values)
    return str(least) if least == most else f"{least}–{most}"


def compiled_table(figures):
    """A row for each kernel and number of right-hand sides."""
    lines = [
        "| kernel | right-hand sides of a lane | registers, sm_80 | registers, sm_90 | bytes spilled |"
        " loads in flight | loads of 128 bits |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    columns = ("registers sm_80", "registers sm_90", "bytes spilled", "loads in flight", "of 128 bits")
    for (kernel, num_rhs), found in figures.items():
        cells = " | ".join(values_of(found, column) for column in columns)
        lines.append(f"| `{kernel}` | {num_rhs} | {cells} |")
    return lines


def emulated_table(rows):
    """A row for each kernel."""
    lines = [
        "| kernel | steps | million steps a second | sectors of all loads | sectors a request |"
        " largest load: sectors a request | bytes used of its sectors |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for kernel, row in rows.items():
        loads, largest = row["loads"], row["largest_load"]
        used = largest["bytes"] / (32 * largest["sectors"])
        lines.append(
            f"| `{kernel}` | {row['steps']:,.0f} | {row['steps_per_second'] / 1e6:.1f} |"
            f" {loads['sectors']:,} | {loads['sectors'] / loads['requests']:.1f} |"
            f" {largest['sectors'] / largest['requests']:.1f} | {100 * used:.0f} % |"
        )
    return lines


def section():
    """The section, without the heading."""
    return [
        "",
        "Made by `tools/results_device.py`. What nvcc 13.0 makes of the kernels with `-O3 -std=c++20"
        " -fmad=false`; [gpu.md](gpu.md) has what ran.",
        "`build/release/tests/test_device --gtest_filter='*CompiledFor*'` holds these figures against the"
        " limits in `tests/device/kernel_list.hpp`. Loads in flight",
        "are the most loads of global memory that are under way together when a fused multiply-add reads what"
        " one of them loads. Ranges are those of the four",
        "scalar types, and for loads of both architectures.",
        "",
        *compiled_table(compiled_figures()),
        "",
        "Panels are loaded 16 bytes at a time, in batches of eight with one right-hand side (six of complex"
        " doubles) and of four with four. Where a conjugate",
        "or a copy reads a load before the first product does, fewer are counted than are under way.",
        "",
        "The same kernels for double and one right-hand side in the emulator"
        " (`build/release/bench/bench_emulator --kernels yes`): a chain of 400 supernodes of",
        "width 16, or its rows; 8 blocks of 128 threads. Steps a second are a time of this CPU, median of"
        f" {RUNS} runs. The largest load is the one that fetches the",
        "most sectors of 32 bytes; more than 100 % of their bytes are used where lanes read the same ones.",
        "",
        *emulated_table(emulated_figures()),
        "",
    ]


def main():
    """Rewrites the section."""
    before, rest = PAGE.read_text().split(HEADING + "\n", 1)
    after = rest[rest.index("\n## ") + 1 :]
    PAGE.write_text(before + "\n".join([HEADING, *section()]) + "\n" + after)


if __name__ == "__main__":
    main()
