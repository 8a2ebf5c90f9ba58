"""Quick in Objective-C: examples with a title between `QuickSpecBegin` and its end."""

from typing import Final

from testlist.languages.cpp.collect_cases import examples
from testlist.languages.cpp.scope_cases import framework

QUICK: Final = framework("quick-objc", examples("quick-objc"))
