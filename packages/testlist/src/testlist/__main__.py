"""`python -m testlist`."""

import sys

from testlist.cli import main

sys.exit(main())
