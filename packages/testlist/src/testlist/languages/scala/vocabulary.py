"""Names that readers of Scala look for, whatever framework has them."""

import re
from typing import Final

#: between a title and a test
TESTS: Final = frozenset({"in", "ignore", "is", ">>", "!", "-"})
#: of these, those that are written with a text on the left, as others use them for much else
STRICT: Final = frozenset({">>", "!", "is"})
#: between a subject and what it does: in front of a text, or of a block with tests
VERBS: Final = frozenset({"should", "must", "can"})
GROUPS: Final = VERBS | {"when", "that", "which"}
#: operators with tests on both sides
JOINS: Final = frozenset({"^", "+", "++", "::", ":::", "&&"})
ASPECT: Final = "@@"
TAGGED: Final = "taggedAs"
#: calls whose title and tests are read; those whose bodies hold tests
TITLED: Final = frozenset(
    {"test", "it", "they", "ignore", "property", "scenario", "Scenario", "checkAll", "pureTest", "loggedTest",
     "simpleTest", "testM", "propertyWithSeed"}
)  # fmt: skip
HOLDING: Final = frozenset({"describe", "feature", "Feature", "suite", "suiteM", "suiteAll"})
#: methods that go through a collection
LOOPS: Final = frozenset({"foreach", "forEach", "map", "flatMap", "foreachEntry", "traverse", "collect"})
#: statements of a body that say what becomes of the test
SAYS: Final = frozenset(
    {"pending", "pendingUntilFixed", "cancel", "assume", "assumeTrue", "assumeFalse", "skipped", "todo", "ignore"}
)  # fmt: skip
#: what a method asks for whose tests others may write: `body: => Any`, `body: () => Any`
LAZY: Final = "lazy_parameter_type"
BODIES: Final = frozenset({LAZY, "function_type"})
#: what tests give; a type of one letter is anybody's
GIVES: Final = re.compile(r"(?:Any|Unit|Assertion|Future\w*|IO|ZIO|Task|Result|Expectations?|MatchResult|Prop|[A-Z])\b")
#: what is put into the text of a specs2 specification and is no example
NO_EXAMPLES: Final = frozenset(
    {"p", "br", "end", "t", "tab", "step", "action", "link", "see", "tag", "section", "include", "title", "s2", "text",
     "skipAllIf", "sequential", "isolated", "stopOnFail", "args", "fullStackTrace", "plan", "xonly"}
)  # fmt: skip
