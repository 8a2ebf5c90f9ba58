"""The test frameworks of Python: a line each, a file each."""

from typing import Final

from testlist.interface import Framework
from testlist.languages.python.frameworks import pytest, unittest

FRAMEWORKS: Final[tuple[Framework, ...]] = (
    pytest.PYTEST,
    unittest.UNITTEST,
)
