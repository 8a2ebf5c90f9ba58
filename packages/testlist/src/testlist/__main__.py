"""`python -m testlist`."""

import sys

from testlist.cli import main

if __name__ == "__main__":
    sys.exit(main())
