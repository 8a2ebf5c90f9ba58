"""Names of Mockito and MockK."""

import re
from typing import Final

#: Mockito: what begins a chain with a mock, and what follows `then(mock)`
VERIFIERS: Final = frozenset({"verify", "verifyBlocking"})
SHOULDS: Final = frozenset({"should"})
#: functions that say that something was not called
NOTHING_CALLED: Final = frozenset(
    {"verifyNoInteractions", "verifyZeroInteractions", "verifyNoMoreInteractions", "shouldHaveNoInteractions",
     "shouldHaveNoMoreInteractions"}
)  # fmt: skip
#: a mode that forbids the call
NEVER: Final = re.compile(r"\bnever\(\)|\btimes\(0\)|\bnoInteractions\(\)")
#: an argument that may be anything
ANY: Final = re.compile(r"(?:\w+\.)*any\w*\((?:[\w.:]*)\)|any<[\w.<>?, ]*>\(\)")
#: MockK: functions with a block of calls
BLOCKS: Final = frozenset(
    {"verify", "coVerify", "verifyAll", "coVerifyAll", "verifyOrder", "coVerifyOrder", "verifySequence",
     "coVerifySequence"}
)  # fmt: skip
#: in such a block: what says that a mock was not used, and calls that are about no mock
UNUSED: Final = "wasNot"
WHOLE: Final = frozenset({"let", "apply", "run", "also", "forEach"})
