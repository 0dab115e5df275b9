"""Pictures of docs/results/transfers.md: simulated figures of [Muthukrishnan 2022], with the values that its
text publishes as hollow diamonds or dashed lines. Uses matplotlib and the installed package palmette.
"""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from palmette import plots, transfers  # noqa: E402
from palmette._transfer_plots import STYLE, geometric_mean  # noqa: E402

PUBLISHED = {"marker": "D", "markersize": 8, "markerfacecolor": "none", "markeredgecolor": "black",
             "linestyle": "none", "zorder": 5}  # fmt: skip
BAND = {"color": "0.5", "linestyle": "--", "linewidth": 1}
SIZES = [4, 8, 16, 32, 64, 128]
WIDTH = 10.5


def page(columns, height=4.0):
    return plt.subplots(1, columns, figsize=(WIDTH, height), layout="constrained", squeeze=False)[1][0]


def finish(axes, title, name, folder):
    for plot, text in zip(axes, title if isinstance(title, list) else [title]):
        plot.set_title(text, fontsize=10)
        plot.spines[["top", "right"]].set_visible(False)
    axes[0].figure.savefig(folder / f"transfers_{name}.png", dpi=110)
    plt.close(axes[0].figure)


def goodput(folder):
    """Figure 2.2."""
    axes = page(1)
    plot = axes[0]
    sizes = [4 * 2**k for k in range(11)]
    for name, color, mark in (("pcie4", "#0072B2", "o"), ("nvlink2", "#D55E00", "s")):
        plot.plot(sizes, 100 * transfers.store_goodput(name, sizes), color=color, marker=mark, label=name)
    plot.plot([4, 4], [14, 8], **PUBLISHED, label="published")
    plot.set_xscale("log", base=2)
    plot.set_xticks(sizes, labels=[str(size) for size in sizes])
    plot.set_xlabel("bytes of a store")
    plot.set_ylabel("goodput, %")
    plot.set_ylim(0, 100)
    plot.grid(axis="y", color="0.9")
    plot.legend(frameon=False)
    finish(axes, "Goodput of single stores (figure 2.2; closed form)", "goodput", folder)


def chunks(data, folder):
    """Figure 2.6."""
    axes = page(1)
    plot, found = axes[0], data["micro"]
    plot.plot(list(found), list(found.values()), color=STYLE["proact"][0], marker="o",
              label="simulated, PCIe 4")  # fmt: skip
    plot.axhline(2, **BAND)
    plot.text(min(found), 2.03, "bound", fontsize=8)
    plot.axhspan(1.5, 1.9, color="0.93", zorder=0)
    plot.text(max(found), 1.86, "published peaks, three systems", fontsize=8, va="top", ha="right")
    plot.axhline(1, color="0.4", linewidth=0.8)
    plot.set_xscale("log", base=2)
    plot.set_xticks(list(found), labels=[str(chunk) for chunk in found])
    plot.set_xlabel("chunk, KB")
    plot.set_ylabel("speed over copies (simulated)")
    plot.set_ylim(0, 2.2)
    plot.legend(frameon=False, loc="lower right")
    finish(axes, "Chunks of PROACT, 4 MB computed as long as they travel (figure 2.6)", "chunks", folder)


def scaling(data, folder):
    """Figures 2.10 and 3.6."""
    axes = page(2)
    left, right = axes
    plots.transfer_sweep(data["devices"], axes=left, label="GPUs on NVSwitch")
    # The text gives PROACT as 90, 87 and 77 % of its limit, and 1.2, 2.2 and 5.3 times copies; 11.0 at 16.
    proact = {4: 3.24, 8: 6.26, 16: 11.0}
    left.plot(list(proact), list(proact.values()), **PUBLISHED, label="published PROACT")
    left.plot(list(proact), [proact[4] / 1.2, proact[8] / 2.2, proact[16] / 5.3],
              **{**PUBLISHED, "marker": "o"}, label="published copies")  # fmt: skip
    left.legend(frameon=False, fontsize=8)
    gpus = range(1, 33)
    for share, color, name in ((0.00778, "#0072B2", "PCIe 3"), (0.00194, "#D55E00", "PCIe 5")):
        laws = [transfers.copy_law(share, n) for n in gpus]
        right.plot(gpus, [law["copies"] for law in laws], color=color, label=f"copies, {name}")
        right.plot(gpus, [law["hidden"] for law in laws], color=color, linestyle=":", label=f"PROACT, {name}")
    right.plot([10, 20], [6, 12], **{**PUBLISHED, "marker": "o"}, label="published: copies saturate")
    right.plot([12, 24], [12, 24], **PUBLISHED, label="published: PROACT leaves the ideal")
    right.set_xlabel("GPUs")
    right.set_ylabel("speed-up over one GPU (closed form)")
    right.grid(axis="y", color="0.9")
    right.legend(frameon=False, fontsize=8)
    titles = ["Number of GPUs (figure 2.10), mean of five programs", "Tomography (figure 3.6)"]
    finish(axes, titles, "scaling", folder)


def pages(data, folder):
    """Figures 4.8 and 4.9."""
    axes = page(2)
    left, right = axes
    found = data["main"]["greedy"]
    names = list(found)
    colors = ["#EEEEEE", "#56B4E9", "#009E73", "#E69F00", "#D55E00"]
    bottom = [0.0] * len(names)
    for count in range(5):
        shares = []
        for name in names:
            of = found[name]["gps"]["pages_by_subscribers"]
            shares.append(100 * of[count] / max(1, sum(of)))
        left.bar(names, shares, 0.75, bottom, color=colors[count], edgecolor="0.3", linewidth=0.4,
                 label=f"{count} subscriber" + ("s" if count != 1 else ""))  # fmt: skip
        bottom = [a + b for a, b in zip(bottom, shares)]
    left.set_ylabel("pages that are stored to, %")
    left.legend(frameon=False, fontsize=8, ncol=3, loc="upper center", bbox_to_anchor=(0.5, -0.3))
    for shift, paradigm in ((-0.19, "broadcast"), (0.19, "gps")):
        ratios = [found[name][paradigm]["wire_bytes"] / found[name]["copies"]["wire_bytes"] for name in names]
        right.bar([k + shift for k in range(len(names))], ratios, 0.36, color=STYLE[paradigm][0],
                  edgecolor="0.3", linewidth=0.4, label="GPS" if paradigm == "gps" else paradigm)  # fmt: skip
    right.axhline(1, color="0.4", linewidth=0.8)
    right.set_yscale("log")
    right.set_xticks(range(len(names)), labels=names)
    right.set_ylabel("bytes on the wire, copies = 1")
    right.legend(frameon=False, fontsize=8)
    for plot in axes:
        plot.tick_params(axis="x", rotation=60)
    finish(axes, ["Subscribers of pages (figure 4.8)", "Bytes of GPS (figure 4.9)"], "pages", folder)


def paradigms(data, folder):
    """Figures 4.10 and 5.7."""
    figure, axes = plt.subplots(2, 1, figsize=(WIDTH, 7.4), layout="constrained")
    five = ["jacobi", "pagerank", "sssp", "als", "ct"]
    for plot, (order, text) in zip(axes, (("greedy", "greedy issue"), ("in_turn", "issue in turn"))):
        found = {name: data["main"][order][name] for name in five}
        plots.transfer_speedups(found, axes=plot)
        plot.legend(frameon=False, fontsize=8, ncol=5, loc="upper left")
        plot.set_ylim(0, 5.2)
        # The text states means: GPS 2.5; infinite bandwidth 3.6; FinePack 77 % of it, 1.5 times copies.
        for paradigm, value in (("infinite", 3.6), ("gps", 2.5), ("finepack", 0.77 * 3.6), ("copies", 1.85)):
            k = list(found["jacobi"]).index(paradigm)
            count = len(found["jacobi"])
            place = 5 + (k - (count - 1) / 2) * 0.84 / count
            plot.plot([place], [value], **PUBLISHED)
        title = f"Paradigms on four GPUs, PCIe 4, {text} (figures 4.10, 5.7); diamonds: published means"
        plot.set_title(title, fontsize=10)
    figure.savefig(folder / "transfers_paradigms.png", dpi=110)
    plt.close(figure)


def bandwidth(data, folder):
    """Figures 4.11 and 5.11."""
    axes = page(1)
    rates = {"pcie3": 16, "pcie4": 32, "pcie5": 64, "pcie6": 128}
    runs = {rates[name]: found for name, found in data["links"].items()}
    plots.transfer_sweep(runs, axes=axes[0], label="GB/s of a link, each way (PCIe 3 to 6)")
    axes[0].set_xscale("log", base=2)
    axes[0].set_xticks(list(runs), labels=[str(rate) for rate in runs])
    axes[0].set_ylim(bottom=0)
    axes[0].plot([32], [2.5], **PUBLISHED, label="published GPS on PCIe")
    axes[0].legend(frameon=False, fontsize=8)
    finish(axes, "Width of the interconnect (figures 4.11, 5.11), mean of five programs", "bandwidth", folder)


def gps(data, folder):
    """Figures 4.12 and 4.13."""
    axes = page(2)
    left, right = axes
    plots.transfer_sweep(data["queues"], axes=left, label="entries of the queue", each_program=True)
    left.axvspan(32, 128, color="0.93", zorder=0)
    left.text(34, 0.05, "published knee:\n64, asked: 32–128", fontsize=8)
    left.set_ylim(bottom=0)
    left.legend(frameon=False, fontsize=8, loc="lower right")
    colors = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00"]
    for name, mark, color in zip(["jacobi", "pagerank", "sssp", "als", "ct"], "osD^v", colors):
        rates = [100 * found[name]["gps"]["tlb_hits"] / max(1, found[name]["gps"]["tlb_lookups"])
                 for found in data["tlbs"].values()]  # fmt: skip
        right.plot(list(data["tlbs"]), rates, marker=mark, color=color, label=name)
    right.plot([32], [100], **PUBLISHED, label="published: near 100 % at 32")
    right.set_xlabel("entries of the TLB")
    right.set_ylabel("hits, %")
    right.set_ylim(94, 100.3)
    right.grid(axis="y", color="0.9")
    right.legend(frameon=False, fontsize=8)
    for plot, runs in ((left, data["queues"]), (right, data["tlbs"])):
        plot.set_xscale("log", base=2)
        plot.set_xticks(list(runs), labels=[str(entries) for entries in runs])
    finish(axes, ["Queue of GPS (figure 4.12)", "TLB of GPS (figure 4.13)"], "gps", folder)


def stores(data, folder):
    """Figures 5.4 and 5.9."""
    axes = page(2)
    left, right = axes
    found = data["main"]["greedy"]
    names = list(found)
    bottom = [0.0] * len(names)
    colors = ["#D55E00", "#E69F00", "#F0E442", "#009E73", "#56B4E9", "#0072B2"]
    for place, size in enumerate(SIZES):
        shares = []
        for name in names:
            of = found[name]["peer_stores"]["stores_by_size"]
            shares.append(100 * of[place] / max(1, sum(of)))
        left.bar(names, shares, 0.75, bottom, color=colors[place], edgecolor="0.3", linewidth=0.4,
                 label=f"to {size} bytes")  # fmt: skip
        bottom = [a + b for a, b in zip(bottom, shares)]
    left.set_ylabel("stores that leave a GPU, %")
    left.legend(frameon=False, fontsize=8, ncol=3, loc="upper center", bbox_to_anchor=(0.5, -0.3))
    for shift, order in ((-0.19, "greedy"), (0.19, "in_turn")):
        of = data["main"][order]
        counts = [of[name]["finepack"]["stores"] / max(1, of[name]["finepack"]["packets"]) for name in names]
        color = "#D55E00" if order == "greedy" else "#E69F00"
        right.bar([k + shift for k in range(len(names))], counts, 0.36, color=color, edgecolor="0.3",
                  linewidth=0.4, label=order.replace("_", " "))  # fmt: skip
    right.axhline(40, **BAND)
    right.text(len(names) - 0.4, 60, "published mean:\nclose to 40", fontsize=8, ha="right")
    right.set_yscale("log")
    right.set_xticks(range(len(names)), labels=names)
    right.set_ylabel("stores a packet of FinePack")
    right.legend(frameon=False, fontsize=8)
    for plot in axes:
        plot.tick_params(axis="x", rotation=60)
    finish(axes, ["Sizes of peer stores (figure 5.4)", "Stores a packet (figure 5.9)"], "stores", folder)


def wire(data, folder):
    """Figure 5.8."""
    axes = page(1, 4.6)
    five = ["jacobi", "pagerank", "sssp", "als", "ct"]
    shown = ["copies", "peer_stores", "finepack"]
    found = {name: {one: data["main"]["greedy"][name][one] for one in shown} for name in five}
    plots.transfer_bytes(found, axes=axes[0])
    mean = geometric_mean(found[name]["peer_stores"]["wire_bytes"] / found[name]["copies"]["wire_bytes"]
                          for name in five)  # fmt: skip
    axes[0].axhline(5.3, **BAND)
    axes[0].text(0, 5.5, f"peer stores in the mean: published ratios imply 5.3; ours {mean:.2f}", fontsize=8)
    axes[0].figure.suptitle("Bytes on the wire, greedy issue (figure 5.8)", fontsize=10)
    finish(axes, "", "bytes", folder)


def subheader(data, folder):
    """Figure 5.10."""
    axes = page(1)
    plots.transfer_sweep(data["headers"], axes=axes[0], label="bytes of a sub-header", each_program=True)
    axes[0].axvspan(3.9, 5.1, color="0.93", zorder=0)
    axes[0].text(3.95, 0.05, "published best: 4 and 5", fontsize=8)
    axes[0].set_xticks(list(data["headers"]))
    axes[0].set_ylim(bottom=0)
    finish(axes, "Sub-headers of FinePack (figure 5.10)", "subheader", folder)


def draw_all(data, folder):
    """Every picture, from what results_transfers.figures returns."""
    goodput(folder)
    for draw in (chunks, scaling, pages, paradigms, bandwidth, gps, stores, wire, subheader):
        draw(data, folder)
