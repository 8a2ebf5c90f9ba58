"""Specta: examples with a title between `SpecBegin` and its end."""

from typing import Final

from testlist.languages.cpp.collect_cases import examples
from testlist.languages.cpp.scope_cases import framework

SPECTA: Final = framework("specta", examples("specta"))
