"""The test frameworks of Ruby: a line each, a file each."""

from typing import Final

from testlist.interface import Framework
from testlist.languages.ruby.frameworks import minitest, rspec

FRAMEWORKS: Final[tuple[Framework, ...]] = (
    minitest.MINITEST,
    rspec.RSPEC,
)
