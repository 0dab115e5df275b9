"""A program runs once, and its stored output is read afterwards."""
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import kept_output  # noqa: E402

PRINTS = (sys.executable, "-c", "import sys; print('words'); print('{\"at\": %s}' % sys.argv[1])")


def test_a_kept_output_is_read_and_the_program_not_run_again(tmp_path):
    kept = tmp_path / "output.txt"
    assert kept_output.rows_of(kept, *PRINTS, 1) == [{"at": 1}]
    assert kept.read_text() == 'words\n{"at": 1}\n'
    assert kept_output.rows_of(kept, *PRINTS, 2) == [{"at": 1}]
    assert kept_output.text_of(kept, "no such program") == kept.read_text()


def test_without_a_file_the_program_runs_each_time():
    assert kept_output.rows_of(None, *PRINTS, 1) == [{"at": 1}]
    assert kept_output.rows_of(None, *PRINTS, 2) == [{"at": 2}]


def test_what_a_program_that_fails_printed_is_not_kept(tmp_path):
    with pytest.raises(subprocess.CalledProcessError):
        kept_output.text_of(
            tmp_path / "output.txt", sys.executable, "-c", "print('half'); raise SystemExit(3)"
        )
    assert not (tmp_path / "output.txt").exists()
