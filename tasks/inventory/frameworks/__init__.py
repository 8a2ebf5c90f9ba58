"""The test frameworks this engine knows: one line each, one file each."""

from typing import Final

from . import gotesting, pytest, unittest
from .interface import Claim, Framework, Scope

FRAMEWORKS: Final[tuple[Framework, ...]] = (
    pytest.PYTEST,
    unittest.UNITTEST,
    gotesting.GO_TESTING,
)

__all__ = ["FRAMEWORKS", "Claim", "Framework", "Scope"]
