"""The test frameworks of Rust: a line each, a file each."""

from typing import Final

from testlist.interface import Framework
from testlist.languages.rust.frameworks import cargotest

FRAMEWORKS: Final[tuple[Framework, ...]] = (cargotest.CARGO_TEST,)
