"""What a page of results says about the machine that made it."""

import os
import platform
from pathlib import Path


def processor():
    """The processor's name, as the system gives it, with family and model on x86: virtual machines often give
    generations that differ by a factor of two the same name."""
    said = {}
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        key, _, value = line.partition(":")
        said.setdefault(key.strip(), value.strip())
    name = said.get("model name") or platform.processor()
    if "cpu family" in said:
        name += f" (family {said['cpu family']}, model {said.get('model')})"
    return name


def cores():
    return os.cpu_count()
