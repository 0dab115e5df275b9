"""The user's cache folder, which stores the measured bandwidth of this machine. The library itself never
looks it up."""

import os


def cache_folder() -> str:
    """$XDG_CACHE_HOME/palmette, or ~/.cache/palmette; empty if there is no home."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):  # the XDG standard: relative paths count as not set
        home = os.path.expanduser("~")
        if not os.path.isabs(home):
            return ""
        base = os.path.join(home, ".cache")
    return os.path.join(base, "palmette")
