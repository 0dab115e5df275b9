"""Rules about rooms: the table fits the tree, doors, arrows, CMake's links, outside libraries, doors that
compile."""

import fnmatch
import posixpath
import re
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePosixPath

from house.source import code_only, includes, line_of
from house.tree import Finding

ARCHITECTURE = "ARCHITECTURE.md"


def table_fits_the_tree(tree, architecture):
    """Each row has its folder and door, rows name earlier rows only, and each folder of palmette/ has its
    row."""
    if not architecture.rooms:
        yield Finding(
            ARCHITECTURE,
            1,
            "table",
            "no table of rooms",
            "draw it: room | makes or holds | may include | door",
        )
    seen = set()
    for room in architecture.rooms.values():
        for other in room.may_include:
            if other not in seen:
                yield Finding(
                    ARCHITECTURE,
                    room.line,
                    "table",
                    f"`{room.name}` may include `{other}`, which stands not above it",
                    "arrows run down: move the row or take the arrow away",
                )
        seen.add(room.name)
        for door in room.doors:
            if door not in tree.files:
                yield Finding(ARCHITECTURE, room.line, "table", f"`{room.name}` has no door {door}",
                              "write the door, or list the room under the rooms to come")
    for folder in sorted(
        {Path(path).parts[1] for path in tree.files if path.startswith("palmette/") and path.count("/") > 1}
    ):
        if folder not in architecture.rooms:
            yield Finding(
                ARCHITECTURE,
                1,
                "table",
                f"palmette/{folder}/ is no room of the table",
                "give it a row, or move its files",
            )


def _resolved(tree, path, included):
    """The file of this tree that an include means, or None."""
    if included.startswith("palmette/"):
        return included
    beside = posixpath.normpath(posixpath.join(posixpath.dirname(path), included))
    return beside if beside in tree.files else None


def doors(tree, architecture):
    """From outside a room only its door is included."""
    all_doors = {door for room in architecture.rooms.values() for door in room.doors}
    for path in tree.cpp_files():
        here = architecture.room_of(path)
        for line, included in includes(tree.text(path) or ""):
            target = _resolved(tree, path, included)
            there = architecture.room_of(target) if target and target.startswith("palmette/") else None
            if there and there != here and target not in all_doors:
                yield Finding(path, line, "door", f"includes {target}, which is inside room {there}",
                              f"include {architecture.rooms[there].doors[0]}")


def arrows(tree, architecture):
    """A room includes only the rooms that its row allows; the library includes nothing from outside
    palmette/."""
    for path in tree.cpp_files():
        if not path.startswith("palmette/"):
            continue
        here = architecture.room_of(path)
        if here is None:
            continue
        for line, included in includes(tree.text(path) or ""):
            target = _resolved(tree, path, included)
            if target is None:
                continue
            there = architecture.room_of(target) if target.startswith("palmette/") else None
            if there is None:
                yield Finding(path, line, "arrow", f"room {here} includes {target}, which is in no room",
                              "the library stands on its rooms alone: move what is needed into one")
            elif there != here and there not in architecture.reach(here):
                yield Finding(
                    path,
                    line,
                    "arrow",
                    f"room {here} may not include room {there}",
                    "arrows run down the table in ARCHITECTURE.md: move the code, or change the table and say"
                    " why there",
                )


def cmake_links(tree, architecture):
    """palmette_room(...) in CMakeLists.txt names the rooms of the row."""
    text = tree.text("CMakeLists.txt") if "CMakeLists.txt" in tree.files else ""
    linked = {}
    for match in re.finditer(r"^palmette_room\((\w+)([^)]*)\)", text, re.MULTILINE):
        words = match[2].split()
        rooms = words[words.index("ROOMS") + 1:] if "ROOMS" in words else []
        stop = next((at for at, word in enumerate(rooms) if word in ("LIBS", "PUBLIC_LIBS")), len(rooms))
        linked[match[1]] = (set(rooms[:stop]), line_of(text, match.start()))
    for name, room in architecture.rooms.items():
        if name not in linked:
            yield Finding(
                "CMakeLists.txt", 1, "cmake", f"room {name} is not built", f"add palmette_room({name} …)"
            )
        elif linked[name][0] != set(room.may_include):
            yield Finding(
                "CMakeLists.txt",
                linked[name][1],
                "cmake",
                f"room {name} links {sorted(linked[name][0])}, the table says {sorted(room.may_include)}",
                "make both say the same",
            )
    for name in linked.keys() - architecture.rooms.keys():
        yield Finding(
            "CMakeLists.txt", linked[name][1], "cmake", f"room {name} is not in the table", "give it a row"
        )


def _may_use(path, places):
    for place in places:
        if fnmatch.fnmatch(PurePosixPath(path).name, place) or path.startswith(
                (f"{place}/", f"palmette/{place}/", f"tests/{place}/")):
            return True
    return False


def outside_libraries(tree, architecture):
    """Headers and symbols of an outside library occur only in its room."""
    for path in tree.cpp_files():
        text = tree.text(path) or ""
        code = code_only(text)
        for library in architecture.libraries:
            if _may_use(path, library.places):
                continue
            offences = [
                (line, included)
                for line, included in includes(text)
                for mark in library.headers
                if fnmatch.fnmatch(included, mark) or fnmatch.fnmatch(PurePosixPath(included).name, mark)
            ]
            for mark in library.symbols:
                pattern = r"\b" + mark.replace("*", r"\w*") + r"\b"
                offences += [(line_of(code, match.start()), match[0]) for match in re.finditer(pattern, code)]
            for line, what in sorted(set(offences)):
                yield Finding(path, line, "outside-library", f"{what} belongs to {library.name}",
                              f"only {', '.join(library.places)} may name it: ask there through a door")


def doors_compile(tree, architecture, compiler="g++"):
    """Each door compiles alone, and twice in one file; a door in C also with the C compiler."""
    present = [door for room in architecture.rooms.values() for door in room.doors if door in tree.files]

    def compile_door(door):
        languages = [("c++", "-std=c++20")] + ([("c", "-std=c11")] if door.endswith(".h") else [])
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "twice.txt"
            source.write_text(f'#include "{door}"\n#include "{door}"\n')
            for language, standard in languages:
                command = [
                    compiler,
                    standard,
                    "-fsyntax-only",
                    "-Wall",
                    "-Wextra",
                    "-I",
                    str(tree.root),
                    "-x",
                    language,
                    str(source),
                ]
                done = subprocess.run(command, capture_output=True, text=True)
                said = done.stderr.strip().splitlines()
                if done.returncode != 0 or said:
                    first = next(
                        (line for line in said if "error" in line or "warning" in line), "no message"
                    )
                    first = first.replace(f"{tree.root}/", "")
                    return Finding(
                        door,
                        1,
                        "door-compiles",
                        f"included alone and twice, {language} says: {first}",
                        "include what the door needs in the door, and guard it",
                    )
        return None

    with ThreadPoolExecutor(2) as pool:
        yield from (finding for finding in pool.map(compile_door, present) if finding)
