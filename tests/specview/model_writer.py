"""A process that writes sentences and keeps each part at once, to be killed: `python -m tests.specview.model_writer URL TESTS FILE`."""

import json
import os
import sys
from pathlib import Path

from service_harness.model_runs import SHOP, generator, part, subjects


def kept(file: Path) -> dict[str, str]:
    """What an earlier process has kept; a line that was cut off by its death is none."""
    lines = file.read_text(encoding="utf-8").split("\n")[:-1] if file.exists() else []
    return {name: said for line in lines for name, said in json.loads(line)}


def main() -> None:
    url, count, file = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
    done = kept(file)
    if file.exists():  # the next line must not go on where a death cut one off
        with file.open("r+b") as out:
            out.truncate(file.read_bytes().rfind(b"\n") + 1)
    left = [one for one in subjects(count) if one.name not in done]
    with file.open("a", encoding="utf-8") as out:
        for phrased in generator(url, parallel=3).phrase([part(*left, place=SHOP)], "en"):
            out.write(json.dumps([(one.name, said) for one, said in phrased.sentences]) + "\n")
            out.flush()
            os.fsync(out.fileno())
            print(len(phrased.sentences), flush=True)


if __name__ == "__main__":
    main()
