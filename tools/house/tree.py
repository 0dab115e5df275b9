"""The files that the rules check, and the form of a finding."""
import subprocess
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

SOURCE_ENDINGS = {".cpp", ".hpp", ".h", ".c", ".cu", ".cuh", ".py", ".pyi", ".sh", ".cmake"}
CPP_ENDINGS = {".cpp", ".hpp", ".h", ".c", ".cu", ".cuh"}
SKIPPED_FOLDERS = {".git", "build", ".venv", "__pycache__", ".pytest_cache", "bin"}


@dataclass(frozen=True)
class Finding:
    """One offence. `function` is empty except for rules about functions."""

    path: str
    line: int
    rule: str
    what: str
    remedy: str
    function: str = ""

    def __str__(self):
        return f"{self.path}:{self.line}: {self.rule}: {self.what}: {self.remedy}"


class Tree:
    """The files that git tracks or would track (all files, where the root is no git repository), by relative
    path."""

    def __init__(self, root):
        self.root = Path(root).resolve()
        self.files = sorted(path for path in self._list() if (self.root / path).is_file())

    def _list(self):
        if (self.root / ".git").exists():
            command = [
                "git",
                "-c",
                "safe.directory=*",
                "-C",
                str(self.root),
                "ls-files",
                "-z",
                "--cached",
                "--others",
                "--exclude-standard",
            ]
            names = subprocess.run(command, check=True, capture_output=True).stdout.decode()
            return {name for name in names.split("\0") if name}
        found = (path.relative_to(self.root) for path in self.root.rglob("*"))
        return {path.as_posix() for path in found if not SKIPPED_FOLDERS & set(path.parts)}

    def absolute(self, path):
        return self.root / path

    def size(self, path):
        return self.absolute(path).stat().st_size

    @lru_cache(maxsize=None)
    def text(self, path):
        """The text of a file, or None if it is no text."""
        content = self.absolute(path).read_bytes()
        if b"\0" in content[:8192]:
            return None
        return content.decode("utf-8", errors="replace")

    def is_cpp(self, path):
        return Path(path).suffix in CPP_ENDINGS

    def is_source(self, path):
        """Whether a file is program text, by its ending, its name, or its first line."""
        if Path(path).suffix in SOURCE_ENDINGS or Path(path).name == "CMakeLists.txt":
            return True
        return Path(path).suffix == "" and (self.text(path) or "").startswith("#!")

    def sources(self):
        return [path for path in self.files if self.is_source(path)]

    def cpp_files(self):
        return [path for path in self.files if self.is_cpp(path)]
