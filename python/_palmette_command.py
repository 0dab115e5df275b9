"""Starts the command palmette, which lies in the package's folder bin.

A module beside the package, so that neither NumPy nor SciPy is imported.
"""

import os
import sys
from pathlib import Path


def main() -> None:
    """Replace this process by the command, with the same arguments."""
    program = Path(__file__).with_name("palmette") / "bin" / "palmette"
    if not program.exists():
        sys.exit("palmette: this installation has no command; build it with PALMETTE_CLI=ON")
    os.execv(program, [sys.argv[0], *sys.argv[1:]])
