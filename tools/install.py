"""Make the environment and say what is done, and for how long: `python3 tools/install.py .venv PIP_ARGUMENT...`.

Of the standard library alone: nothing else is installed yet.
"""

import os
import selectors
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import IO
from urllib.parse import quote

#: Seconds without a word, at most.
PATIENCE = 5.0
#: Lines of pip's that explain a failure.
LAST = 30


class Stages:
    """Prints a line when something new is done, and now and then while it lasts."""

    def __init__(self) -> None:
        self._began = self._said_at = time.monotonic()
        self._doing = ""

    def begin(self, doing: str) -> None:
        """Say what is done from now on."""
        self._doing = doing
        self._say(doing)

    def remind(self, more: str = "") -> None:
        """Say that it is still done, unless something was said a moment ago."""
        if time.monotonic() - self._said_at >= PATIENCE:
            self._say(f"still {self._doing}{more}")

    def _say(self, text: str) -> None:
        self._said_at = time.monotonic()
        minutes, seconds = divmod(int(self._said_at - self._began), 60)
        print(f"setup {minutes}:{seconds:02}  {text}", flush=True)


def main(folder: str, *wanted: str) -> int:
    """Make a virtual environment and install into it; the exit code of what failed, or 0."""
    stages = Stages()
    stages.begin(f"making {folder}")
    if code := subprocess.run([sys.executable, "-m", "venv", folder], check=False).returncode:
        return code
    stages.begin("looking for packages")
    pip = [f"{folder}/bin/python", "-m", "pip", "install", "--disable-pip-version-check", "--progress-bar=off"]
    if code := follow([*pip, *wanted], stages):
        return code
    stages.begin("done")
    return 0


def follow(command: list[str], stages: Stages) -> int:
    """Run pip and tell of its stages; of its own lines only the last ones, when it failed."""
    found, last = 0, deque[str](maxlen=LAST)
    # constraints.txt names our own packages by it; `make -C` would leave the caller's folder, and URLs have no spaces
    here = os.environ | {"PWD": quote(str(Path.cwd()))}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, bufsize=0, env=here) as process:
        for line in _lines(process.stdout):  # type: ignore[arg-type]  # a pipe
            if line.startswith("Collecting "):
                found += 1
            elif line.startswith("Installing collected packages: "):
                stages.begin(f"installing {line.count(',') + 1} packages")
                found = 0
            if line:
                last.append(line)
            stages.remind(f", {found} found" if found else "")
    if process.returncode:
        print(*last, sep="\n", file=sys.stderr)
    return process.returncode


def _lines(output: IO[bytes]) -> Iterator[str]:
    """The lines of a pipe, and an empty one when it is silent for long."""
    rest = b""
    with selectors.DefaultSelector() as selector:
        selector.register(output, selectors.EVENT_READ)
        while True:
            if not selector.select(PATIENCE):
                yield ""
                continue
            data = output.read(65536)
            *lines, rest = (rest + data).split(b"\n")
            yield from (line.decode(errors="replace").strip() for line in lines)
            if not data:
                yield rest.decode(errors="replace").strip()
                return


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
