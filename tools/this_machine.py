"""What a page of results says about the machine that made it."""

import os
import platform
from pathlib import Path


def processor():
    """The processor's name, as the system gives it."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return platform.processor()


def cores():
    return os.cpu_count()
