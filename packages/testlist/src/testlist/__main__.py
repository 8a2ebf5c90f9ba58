"""`python -m testlist`."""

import sys

from testlist.cli import program

if __name__ == "__main__":
    sys.exit(program())
