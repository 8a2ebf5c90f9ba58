"""The test frameworks this engine knows: one line each, one file each."""

from typing import Final

from ..interface import Framework
from . import gotesting, jest, mocha, pytest, unittest, vitest

FRAMEWORKS: Final[tuple[Framework, ...]] = (
    pytest.PYTEST,
    unittest.UNITTEST,
    jest.JEST,
    vitest.VITEST,
    mocha.MOCHA,
    gotesting.GO_TESTING,
)
