"""Reads the tables of ARCHITECTURE.md: the rooms with their doors, and the outside libraries with their
places."""

import re
from dataclasses import dataclass, field
from pathlib import PurePosixPath

ROOM_COLUMNS = ["room", "makes or holds", "may include", "door"]
LIBRARY_COLUMNS = ["library", "marks", "only in"]


@dataclass
class Room:
    name: str
    may_include: list  # the rooms named in its row
    doors: list  # relative paths
    line: int  # in ARCHITECTURE.md


@dataclass
class Library:
    name: str
    headers: list  # patterns of include paths
    symbols: list  # patterns of identifiers
    places: list  # rooms, folders or file patterns


@dataclass
class Architecture:
    rooms: dict = field(default_factory=dict)  # name → Room, in the order of the table
    libraries: list = field(default_factory=list)

    def room_of(self, path):
        """The room that a file belongs to, tests of a room included; None for a file outside all rooms."""
        for room in self.rooms.values():
            if path in room.doors:
                return room.name
        parts = PurePosixPath(path).parts
        if len(parts) > 2 and parts[0] in ("palmette", "tests") and parts[1] in self.rooms:
            return parts[1]
        return None

    def reach(self, name):
        """All rooms whose doors a room may include: its row, and what those may include."""
        found, waiting = set(), list(self.rooms[name].may_include)
        while waiting:
            other = waiting.pop()
            if other in self.rooms and other not in found:
                found.add(other)
                waiting += self.rooms[other].may_include
        return found


def read_architecture(text):
    """The Architecture in the text of ARCHITECTURE.md; a missing table is empty."""
    result = Architecture()
    for line, cells in _rows(text, ROOM_COLUMNS):
        names = _words(cells[0])
        if names:
            result.rooms[names[0]] = Room(names[0], _words(cells[2]), _words(cells[3]), line)
    for _, cells in _rows(text, LIBRARY_COLUMNS):
        marks = _words(cells[1])
        headers = [mark for mark in marks if mark.endswith(".h") or "/" in mark]
        symbols = [mark for mark in marks if mark not in headers]
        result.libraries.append(Library(cells[0], headers, symbols, _words(cells[2])))
    return result


def _words(cell):
    return re.findall(r"`([^`]+)`", cell)


def _rows(text, columns):
    """The rows (line number, cells) of the table with these column heads."""
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.lstrip().startswith("|"):
            inside = False
        elif cells == columns:
            inside = True
        elif inside and len(cells) == len(columns) and not set(line) <= set("|-: "):
            yield number, cells
