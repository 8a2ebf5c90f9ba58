"""The test frameworks of PHP: a line each, a file each."""

from typing import Final

from testlist.interface import Framework
from testlist.languages.php.frameworks import pest, phpunit

FRAMEWORKS: Final[tuple[Framework, ...]] = (
    phpunit.PHPUNIT,
    pest.PEST,
)
