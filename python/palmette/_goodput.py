"""Closed forms of [Muthukrishnan 2022]: what stores cost on a wire, and how copies limit scaling."""

from __future__ import annotations

from typing import Any, Dict, Sequence, Union

import numpy as np

from . import _core as _bindings
from ._interconnects import as_fabric

Interconnect = Union[str, Dict[str, Any]]


def store_goodput(interconnect: Interconnect, store_bytes: Union[int, Sequence[int]]) -> np.ndarray:
    """Payload over bytes on the wire for stores of these sizes, each a packet of its own (figure 2.2)."""
    fabric = as_fabric(interconnect)
    return np.array([_bindings.store_goodput(fabric, int(one)) for one in np.atleast_1d(store_bytes)])


def packed_goodput(
    interconnect: Interconnect, store_bytes: int, stores: int, *, subheader_bytes: int = 5
) -> float:
    """The same for one packet of FinePack with this many stores, each behind a sub-header (section 5.3.1)."""
    return _bindings.packed_goodput(as_fabric(interconnect), store_bytes, subheader_bytes, stores)


def configuration_packet_loss(
    interconnect: Interconnect, store_bytes: int, stores: int, *, subheader_bytes: int = 4
) -> float:
    """By which fraction a packet that configures those that follow it has less goodput than FinePack's, if
    each of them still carries 10 bytes of sequence number and checks (section 5.5.3)."""
    return _bindings.configuration_packet_loss(
        as_fabric(interconnect), store_bytes, subheader_bytes, stores
    )


def packet_window_bytes(subheader_bytes: int) -> int:
    """The range of addresses that one packet of FinePack reaches (table 5.2)."""
    return _bindings.packet_window_bytes(subheader_bytes)


def most_stores_per_packet(
    interconnect: Interconnect, store_bytes: int, *, subheader_bytes: int = 5
) -> int:
    """The most stores of this size in one packet of FinePack."""
    return _bindings.most_stores_per_packet(as_fabric(interconnect), subheader_bytes, store_bytes)


def gps_tables(gpus: int = 4, tracked_bytes: int = 32 << 30) -> Dict[str, int]:
    """Sizes of GPS's structures (table 4.1): ``queue_bytes``, ``page_entry_bits``, ``bitmap_bytes``."""
    sizes = _bindings.gps_table_sizes(gpus, tracked_bytes)
    return dict(zip(("queue_bytes", "page_entry_bits", "bitmap_bytes"), sizes))


def copy_law(copy_share: float, gpus: float, limit: float = 0) -> Dict[str, float]:
    """Speed-ups over one GPU if each GPU copies to all others in turn after computing (``copies``), and if
    copies are hidden behind computing (``hidden``), which they no longer are from ``crossover`` GPUs on
    (section 3.4.1).

    Parameters
    ----------
    copy_share : float
        Time of one GPU's exchange with one other, in units of the computing on one GPU.
    gpus : float
    limit : float
        Speed-up without copies; 0: as many as there are GPUs.
    """
    found = _bindings.copy_law(copy_share, gpus, limit or gpus)
    return dict(zip(("copies", "hidden", "crossover"), found))
