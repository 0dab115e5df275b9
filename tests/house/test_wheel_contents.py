"""tools/wheel_contents.py: the modules of several Pythons in one wheel, and the name of that wheel."""
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import wheel_contents  # noqa: E402

STABLE = "_core.abi3.so"
INFO = "palmette-0.1.0.dist-info"


def module(minor):
    return f"_core.cpython-3{minor}-x86_64-linux-gnu.so"


def made_wheel(folder):
    """As scikit-build-core makes one for Python 3.11."""
    files = {f"palmette/{module(11)}": "eleven", f"{INFO}/WHEEL":
             "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: cp311-cp311-linux_x86_64\n\n"}
    record = "".join(wheel_contents.record_line(name, text.encode()) for name, text in files.items())
    path = folder / "palmette-0.1.0-cp311-cp311-linux_x86_64.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for name, text in {**files, f"{INFO}/RECORD": record + f"{INFO}/RECORD,,\n"}.items():
            wheel.writestr(name, text)
    return path


@pytest.mark.parametrize("modules, tag", [
    ([module(11)], "cp311-cp311"),
    ([module(9), module(11)], "cp39.cp311-cp39.cp311"),
    ([STABLE], "cp312-abi3"),
    ([STABLE, module(11), module(9), module(10)], "cp39-abi3"),
])
def test_the_tag_names_the_pythons_whose_modules_are_there(modules, tag):
    assert wheel_contents.python_tag(set(modules)) == tag


def test_a_stable_module_does_not_serve_a_python_that_is_left_out():
    with pytest.raises(SystemExit, match="3.10"):
        wheel_contents.python_tag({STABLE, module(11), module(9)})


def test_joined_modules_are_in_the_wheel_its_record_and_its_tags(tmp_path):
    modules = tmp_path / "modules"
    modules.mkdir()
    for name in (module(10), STABLE):
        (modules / name).write_text(name)
    wheel_contents.join(made_wheel(tmp_path), modules)
    [path] = tmp_path.glob("*.whl")
    assert path.name == "palmette-0.1.0-cp310-abi3-linux_x86_64.whl"
    with zipfile.ZipFile(path) as wheel:
        texts = {name: wheel.read(name).decode() for name in wheel.namelist()}
    assert {f"palmette/{module(10)}", f"palmette/{module(11)}", f"palmette/{STABLE}"} <= set(texts)
    assert texts[f"{INFO}/WHEEL"].split("\n")[2:] == ["Tag: cp310-abi3-linux_x86_64", ""]
    record = texts.pop(f"{INFO}/RECORD")
    assert f"{INFO}/RECORD,," in record.splitlines()
    for name, text in texts.items():
        assert wheel_contents.record_line(name, text.encode()) in record
