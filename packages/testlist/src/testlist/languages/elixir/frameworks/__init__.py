"""The test frameworks of Elixir: a line each, a file each."""

from typing import Final

from testlist.interface import Framework
from testlist.languages.elixir.frameworks import exunit

FRAMEWORKS: Final[tuple[Framework, ...]] = (exunit.EXUNIT,)
