"""Write what the image installs: the third parties of constraints.txt that running needs, each with its hashes.

    python tools/requirements.py

pip refuses a file whose hash is not listed (`--require-hashes`).  Hashes of all files of a version are listed, so the
list is good for every processor.  It has all that is needed, so it is installed with `--no-deps`: pip would look for a
requirement with extras, as pydantic[email], under that name.  Our own packages are not in it: the image builds them.
"""

import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROJECTS = [ROOT, *sorted(path.parent for path in (ROOT / "packages").glob("*/pyproject.toml"))]
#: of the image (docker/Dockerfile)
PYTHON = "3.13"
#: of the service, which the image has: settings that need them can be set there
EXTRAS = ("s3",)
HEAD = "# Written by `make requirements` from constraints.txt.\n"


def main() -> int:
    """Write both files; the exit code."""
    declared = [tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8")) for project in PROJECTS]
    ours = {one["project"]["name"] for one in declared}
    running = {need for one in declared for need in one["project"]["dependencies"] if _name(need) not in ours}
    running |= {need for extra in EXTRAS for need in declared[0]["project"]["optional-dependencies"][extra]}
    building = {need for one in declared for need in one["build-system"]["requires"]}
    for file, needs in {"requirements.txt": running, "requirements-build.txt": building}.items():
        (ROOT / "docker" / file).write_text(HEAD + _locked(needs), encoding="utf-8")
    return 0


def _name(need: str) -> str:
    return re.split(r"[^A-Za-z0-9._-]", need, maxsplit=1)[0]


def _locked(needs: set[str]) -> str:
    """The versions and hashes of these and of what they need, without a word about where they were found."""
    pins = [line for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines() if "@" not in line]
    with tempfile.TemporaryDirectory() as folder:
        constraints = Path(folder, "constraints.txt")
        constraints.write_text("\n".join(pins))
        argv = ["uv", "pip", "compile", "-", "--constraints", str(constraints), "--python-version", PYTHON]
        argv += ["--python-platform", "linux", "--generate-hashes", "--no-header", "--no-annotate", "--quiet"]
        done = subprocess.run(
            [sys.executable, "-m", *argv], input="\n".join(sorted(needs)), capture_output=True, text=True, check=False
        )
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
