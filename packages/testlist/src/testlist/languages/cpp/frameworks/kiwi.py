"""Kiwi: examples with a title between `SPEC_BEGIN` and its end."""

from typing import Final

from testlist.languages.cpp.collect_cases import examples
from testlist.languages.cpp.scope_cases import framework

KIWI: Final = framework("kiwi", examples("kiwi"))
