"""Run the tests of all languages with the oldest grammars: `make prove-grammars`.  Options go to pytest."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from testlist.version import OLDEST

TESTS = Path(__file__).parents[1] / "tests"
#: Those that read files of languages.
READING = ("test_corpus.py", "sandbox/test_parsing_stack.py", "languages", "checks", "reports")


def main() -> int:
    """The command; ends as pytest does."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)  # parsing children have another user
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", folder]
        subprocess.run([*pip, *(f"{name}=={version}" for name, version in OLDEST.items())], check=True)
        places = os.pathsep.join(filter(None, (folder, os.environ.get("PYTHONPATH"))))
        argv = [sys.executable, "-m", "pytest", "-q", *sys.argv[1:], *(str(TESTS / name) for name in READING)]
        return subprocess.run(argv, check=False, env=os.environ | {"PYTHONPATH": places}).returncode


if __name__ == "__main__":
    sys.exit(main())
