"""Cedar: examples with a title between `SPEC_BEGIN` and its end, in files that include it, or as most do."""

from typing import Final

from testlist.languages.cpp.collect_cases import examples
from testlist.languages.cpp.scope_cases import framework

CEDAR: Final = framework("cedar", examples("cedar"))
