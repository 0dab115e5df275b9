"""Descriptions of interconnects: files that come with the package, and others of their form."""

from __future__ import annotations

import json
import os
import pathlib
from typing import Any, Dict, List, Union

from .errors import IoError, UsageError

FOLDER = pathlib.Path(__file__).parent / "interconnects"
WHOLE = {"credit_bytes", "header_bytes", "unit_bytes", "max_payload_bytes", "partial_bytes", "group"}


def interconnects() -> List[str]:
    """Names of the descriptions that come with this package."""
    return sorted(path.stem for path in FOLDER.glob("*.json"))


def interconnect(name: Union[str, os.PathLike], **changes: Any) -> Dict[str, Any]:
    """A description of what joins the GPUs, as `simulate` takes it.

    Parameters
    ----------
    name : str or path
        One of `interconnects`, or a file like theirs.
    **changes
        Fields with other values, such as ``gbs=25`` or ``latency_us=2``.

    Raises
    ------
    UsageError, IoError

    Examples
    --------
    >>> from palmette import transfers
    >>> transfers.interconnect("pcie5", latency_us=2)["gbs"]
    64
    """
    path = FOLDER / f"{name}.json"
    if not path.is_file():
        path = pathlib.Path(name)
    if not path.is_file():
        known = ", ".join(interconnects())
        raise UsageError(f"'{name}' is neither a file nor a known interconnect; those are {known}")
    fields = _fields_of(path)
    wrong = sorted(set(changes) - set(fields))
    if wrong:
        raise UsageError(f"an interconnect has no field {wrong[0]!r}; fields are {', '.join(fields)}")
    return {**fields, **changes}


def _fields_of(path: pathlib.Path) -> Dict[str, Any]:
    try:
        document = json.loads(path.read_text())
        numbers = {**document, **document["packet"]}
        fields: Dict[str, Any] = {key: document[key] for key in ("name", "description", "topology")}
        for key in ("gbs", "latency_us", "copy_start_us", *sorted(WHOLE - {"group"})):
            fields[key] = numbers[key]["value"]
        for key in ("group", "root_gbs"):
            fields[key] = numbers[key]["value"] if key in document else 0
    except (ValueError, KeyError, TypeError) as fault:
        raise IoError(f"{path}: this describes no interconnect ({fault}); see data/interconnects") from None
    return fields


def as_fabric(given: Union[str, os.PathLike, Dict[str, Any]]) -> Dict[str, Any]:
    fields = dict(given) if isinstance(given, dict) else interconnect(given)
    try:
        return {
            key: str(value) if isinstance(value, str) else int(value) if key in WHOLE else float(value)
            for key, value in fields.items()
        }
    except (TypeError, ValueError):
        raise UsageError("an interconnect is a name, a file, or what palmette.transfers.interconnect gives")
