"""The test frameworks of C#: a line each, a file each."""

from typing import Final

from testlist.interface import Framework
from testlist.languages.csharp.frameworks import mstest, nunit, tunit, xunit

FRAMEWORKS: Final[tuple[Framework, ...]] = (
    nunit.NUNIT,
    xunit.XUNIT,
    mstest.MSTEST,
    tunit.TUNIT,
)
