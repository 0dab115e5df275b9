"""[Muthukrishnan 2022]: PROACT, GPS and FinePack. Exact figures by closed forms, models, and bands of the
simulator; the data are those of docs/results/transfers.md."""

import pathlib

BEGIN = "# [Muthukrishnan 2022]: PROACT, GPS and FinePack"


def exact_rows():
    """(figure, published, what its numbers give, ours): the last two must agree in every digit shown."""
    from palmette import transfers

    pcie, nvlink = "pcie4", "nvlink2"
    goodput = {name: transfers.store_goodput(name, [4, 32, 128]) for name in (pcie, nvlink)}
    ratio = {name: goodput[name][1] / goodput[name][2] for name in goodput}
    windows = [transfers.packet_window_bytes(h) for h in range(2, 7)]
    gps = transfers.gps_tables()
    packed = {
        (h, size): 100 * transfers.packed_goodput(pcie, size, 64, subheader_bytes=h)
        for h in (4, 5)
        for size in (4, 8)
    }
    full = [transfers.most_stores_per_packet(pcie, 128, subheader_bytes=h) for h in (4, 5)]
    loss = transfers.configuration_packet_loss(pcie, 40, 38, subheader_bytes=4)
    return [
        ("stores of 4 bytes, PCIe and NVLink, % (figure 2.2)", "14 and 8", "14.3 and 8.3",
         f"{100 * goodput[pcie][0]:.1f} and {100 * goodput[nvlink][0]:.1f}"),
        ("stores of 32 over those of 128 bytes (figure 5.1)", "", "0.68 and 0.625",
         f"{ratio[pcie]:.2f} and {ratio[nvlink]:.3f}"),
        ("windows of sub-headers of 2 to 6 bytes (table 5.2)", "64 B to 256 GB",
         "64 B, 16 KB, 4 MB, 1 GB, 256 GB",
         f"{windows[0]} B, {windows[1] >> 10} KB, {windows[2] >> 20} MB, {windows[3] >> 30} GB,"
         f" {windows[4] >> 30} GB"),
        ("a configuration packet, stores of 40 bytes (§5.5.3)", "about 18 % worse", "18.3 %",
         f"{100 * loss:.1f} %"),
        ("queue, page entry, bitmap of GPS (table 4.1)", "the same", "8,640 B, 126 bits, 64 KB",
         f"{gps['queue_bytes']:,} B, {gps['page_entry_bits']} bits, {gps['bitmap_bytes'] >> 10} KB"),
        ("whole lines in a packet, h = 4 and 5", "", "31 and 30", f"{full[0]} and {full[1]}"),
        ("isolated stores of 4 and 8 bytes, 64 a packet, h = 4, %", "", "47.8 and 64.65",
         f"{packed[4, 4]:.1f} and {packed[4, 8]:.2f}"),
        ("the same, h = 5, %", "", "42.7 and 59.8", f"{packed[5, 4]:.1f} and {packed[5, 8]:.1f}"),
    ]  # fmt: skip


def model_rows():
    """(figure, published, ours, how far apart, how far is allowed)."""
    from palmette import transfers

    image, subset = 4.0 * 512**3, 4.0 * 7256 / 24 * 64 * 888
    step = 3.46 * 11.25 * 60 / 480
    rows = []
    for name, gbs, ideal, saturated in (("PCIe 3", 16, 12, 6), ("PCIe 5", 64, 24, 12)):
        share = (image + subset) / (gbs * 1e9) / step
        rows.append((f"GPUs to which PROACT is ideal, {name} (figure 3.6)", ideal,
                     transfers.copy_law(share, 2)["crossover"], 0.05))  # fmt: skip
        most = max(transfers.copy_law(share, n)["copies"] for n in range(1, 33))
        rows.append((f"largest speed-up of copies, {name} (figure 3.6)", saturated, most, 0.05))
    # PROACT reaches 90, 87 and 77 % of a limit of 0.9 a GPU, and of 11.0 / 0.77 for 16.
    cases = ((4, 0.90, 3.6, 1.2), (8, 0.87, 7.2, 2.2), (16, 0.77, 11 / 0.77, 5.3))
    for gpus, of_limit, limit, published in cases:
        ours = of_limit * limit / transfers.copy_law(0.0295, gpus, limit)["copies"]
        what = f"PROACT over copies, {gpus} GPUs, one fitted share 0.0295 (figure 2.10)"
        rows.append((what, published, ours, 0.08))
    best = max(range(1, 17), key=lambda gpus: transfers.copy_law(0.0295, gpus)["copies"])
    rows.append(("GPUs at which copies peak, the same share (figure 2.10)", 5.5, best, 0.1))
    return rows


def verdict(published, ours, allowed):
    apart = abs(ours / published - 1)
    return f"{100 * apart:.1f} %: " + ("met" if apart <= allowed else "**missed**")


def chapter(run, folder):
    """@param run  of results_reproduction; its keep holds the answers of the command too"""
    import results_transfers as simulated

    data = simulated.figures(simulated.Runs(run.build, pathlib.Path(run.keep)))
    bands = simulated.band_rows(data)
    met = sum(row[4] == "met" for row in bands)
    exact = [[*row, "met" if row[2] == row[3] else "**missed**"] for row in exact_rows()]
    models = [
        [what, "5–6" if published == 5.5 else f"{published:g}", f"{ours:.3g}",
         verdict(published, ours, allowed)]
        for what, published, ours, allowed in model_rows()
    ]
    return [
        BEGIN,
        "",
        "**Closed forms and simulated times; no GPU ran**, and nothing is claimed of PROACT's measured times."
        " Pictures, tables and parameters are in",
        "[transfers.md](transfers.md).",
        "",
        "## Exact",
        "",
        "Held by `tests/transfer/goodput_test.cpp` and `tests/python/test_transfers.py`.",
        "",
        simulated.table(["figure", "published", "by its numbers", "ours", ""], exact),
        "## Models",
        "",
        simulated.table(["figure", "published", "ours", "apart"], models),
        "## Bands",
        "",
        f"{met} of {len(bands)} are met with greedy issue of warps, the default. Computing per byte is"
        " calibrated once, on copies. A missed band stays missed,",
        "and its row says where the reason was sought.",
        "",
        simulated.table(["figure", "published", "ours, greedy", "ours, in turn", ""], bands).rstrip("\n"),
    ]
