"""The test frameworks of shell scripts: a line each, a file each."""

from typing import Final

from testlist.interface import Framework
from testlist.languages.bats.frameworks import bats

FRAMEWORKS: Final[tuple[Framework, ...]] = (bats.BATS,)
