#!/usr/bin/env python3
"""Looks into a wheel: `wheel_contents.py join WHEEL FOLDER` adds the modules of other Pythons that lie in
FOLDER, and names the wheel for all of them; `wheel_contents.py notices WHEEL` adds the licences of the
bundled libraries, as Debian's packages have them; `wheel_contents.py check WHEEL FOLDER` fails if the wheel
is larger than 25 MB or if a program of it, installed in FOLDER, needs a library that neither the wheel nor
every Linux system has.
"""

import argparse
import base64
import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

LARGEST_MB = 25.0
# The first minor version of Python 3 whose stable ABI has all that nanobind needs.
FIRST_STABLE = 12
# What a manylinux wheel may expect of the system, of all that the tag allows.
ALLOWED = {"libc.so.6", "libm.so.6", "libdl.so.2", "librt.so.1", "libpthread.so.0", "libgcc_s.so.1",
           "libstdc++.so.6", "libz.so.1", "ld-linux-x86-64.so.2", "linux-vdso.so.1"}


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def notice_of(library):
    """Name and text of the licence of a library that auditwheel copied under a name with a checksum."""
    name = re.sub(r"-[0-9a-f]{8,}(?=[.-])", "", library, count=1)
    found = subprocess.run(["dpkg-query", "-S", f"*/{name}"], capture_output=True, text=True).stdout
    packages = {line.split(":")[0] for line in found.splitlines()}
    if not packages:
        sys.exit(f"no Debian package has {name}, so its licence is unknown")
    package = sorted(packages, key=len)[0]
    return package, Path("/usr/share/doc", package, "copyright").read_text()


def record_line(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"


def rewrite(wheel, added, path):
    """The wheel with these files (name → bytes) added, or in place of those of their names, as `path`."""
    with zipfile.ZipFile(wheel) as old, tempfile.TemporaryDirectory() as work:
        record = dist_info(old) + "RECORD"
        kept = [item for item in old.infolist() if item.filename != record and item.filename not in added]
        lines = [line for line in old.read(record).decode().splitlines(keepends=True)
                 if line.split(",")[0] not in added]
        lines += [record_line(name, data) for name, data in added.items()]
        part = Path(work, path.name)
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as new:
            for item in kept:
                new.writestr(item, old.read(item), zipfile.ZIP_DEFLATED, 9)
            for name, data in {**added, record: "".join(lines).encode()}.items():
                new.writestr(name, data)
        wheel.unlink()
        shutil.move(part, path)


def dist_info(archive):
    record = next(name for name in archive.namelist() if name.endswith(".dist-info/RECORD"))
    return record[: -len("RECORD")]


def add_notices(wheel):
    """The wheel with a folder of licences in its dist-info; one for each bundled library."""
    with zipfile.ZipFile(wheel) as old:
        libraries = [name for name in old.namelist() if re.match(r"palmette\.libs/.", name)]
        folder = dist_info(old) + "licenses/bundled/"
    notices = {folder + package: text.encode()
               for package, text in map(notice_of, (Path(name).name for name in libraries))}
    rewrite(wheel, notices, wheel)
    print(f"{wheel.name}: licences of {', '.join(sorted(Path(name).name for name in notices))}")


def python_tag(modules):
    """The tag of a wheel with these modules: one for each minor version of Python 3 below 12, and one with
    the stable ABI, which serves version 12 and later. "abi3" in a tag promises every version from its first,
    so none may be missing between."""
    suffixes = [name.split(".", 1)[1] for name in modules]
    minors = sorted(int(found[1]) for suffix in suffixes if (found := re.match(r"cpython-3(\d+)-", suffix)))
    if "abi3.so" not in suffixes:
        tags = ".".join(f"cp3{minor}" for minor in minors)
        return f"{tags}-{tags}"
    wanted = range(min(minors, default=FIRST_STABLE), FIRST_STABLE)
    if missing := [f"3.{minor}" for minor in wanted if minor not in minors]:
        sys.exit(f"modules for Python {', '.join(f'3.{m}' for m in minors)} and 3.12 on: {missing} between")
    return f"cp3{min(minors, default=FIRST_STABLE)}-abi3"


def join(wheel, folder):
    """The wheel with the folder's modules palmette/_core.*.so; every Python takes the one with its suffix."""
    name, version, *_, platform = wheel.stem.split("-")
    added = {f"palmette/{path.name}": path.read_bytes() for path in sorted(folder.glob("_core.*.so"))}
    with zipfile.ZipFile(wheel) as old:
        own = [file for file in old.namelist() if re.match(r"palmette/_core\..*so$", file)]
        facts = dist_info(old) + "WHEEL"
        text = old.read(facts).decode()
    tag = f"{python_tag({Path(file).name for file in [*own, *added]})}-{platform}"
    pythons, abis, _ = tag.split("-")
    tags = "".join(f"Tag: {p}-{abi}-{platform}\n" for p in pythons.split(".") for abi in abis.split("."))
    added[facts] = (re.sub(r"^Tag: .*\n", "", text, flags=re.M).rstrip("\n") + "\n" + tags).encode()
    rewrite(wheel, added, wheel.with_name(f"{name}-{version}-{tag}.whl"))
    print(f"{name}-{version}-{tag}.whl: {', '.join(sorted(Path(file).name for file in [*own, *added]))}")


def programs_in(folder):
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink() and path.open("rb").read(4) == b"\x7fELF":
            yield path


def foreign_libraries(program, folder):
    """Libraries of a program that neither lie in the folder nor are allowed."""
    for line in run("ldd", str(program)).splitlines():
        name, _, place = line.strip().partition(" => ")
        name = Path(name.split(" (")[0]).name
        place = place.split(" (")[0]
        if name not in ALLOWED and not Path(place).resolve().is_relative_to(folder.resolve()):
            yield f"{name} ({place or 'nowhere'})"


def check(wheel, folder):
    megabytes = wheel.stat().st_size / 1e6
    print(f"{wheel.name}: {megabytes:.1f} MB, at most {LARGEST_MB:g}")
    failed = megabytes > LARGEST_MB
    programs = [path for part in ("palmette", "palmette.libs") for path in programs_in(folder / part)]
    if len(programs) < 6:
        sys.exit(f"only {len(programs)} programs and libraries in {folder}: the wheel lacks something")
    for program in programs:
        for library in foreign_libraries(program, folder):
            print(f"{program.relative_to(folder)} needs {library}")
            failed = True
    print(f"{len(programs)} programs and libraries; they need of the system only {', '.join(sorted(ALLOWED))}"
          if not failed else "not a wheel for other machines")
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["join", "notices", "check"])
    parser.add_argument("wheel", type=Path)
    parser.add_argument("folder", type=Path, nargs="?",
                        help="of join: where the modules lie; of check: the site-packages with the wheel")
    arguments = parser.parse_args()
    if arguments.what == "join":
        join(arguments.wheel, arguments.folder)
    elif arguments.what == "notices":
        add_notices(arguments.wheel)
    elif check(arguments.wheel, arguments.folder):
        sys.exit(1)


if __name__ == "__main__":
    main()
