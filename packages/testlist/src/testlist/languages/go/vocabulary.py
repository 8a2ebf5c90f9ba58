"""Names that frameworks of specs give to things: Ginkgo's, and GoConvey's."""

import re
from typing import Final

#: what a call declares: a group of specs, a spec, a table of entries, a group for each entry, a measurement, or one of
#: GoConvey's, which is a test if it stands around none
GROUP, SPEC, TABLE, SUBTREE, MEASURE, EITHER = "group", "spec", "table", "subtree", "measure", "either"
#: by the end of its name, as repositories have their own `SIGDescribe` and `ConformanceIt`
ROLES: Final = {
    "DescribeTableSubtree": SUBTREE, "DescribeTable": TABLE, "Describe": GROUP, "Context": GROUP, "When": GROUP,
    "It": SPEC, "Specify": SPEC, "Measure": MEASURE,
}  # fmt: skip
OWN: Final = re.compile(rf"(?P<prefix>[FPX]?)(?P<name>{'|'.join(ROLES)})")
SIMILAR: Final = re.compile(rf"\w*?(?P<name>{'|'.join(ROLES)})")
ENTRY: Final = re.compile(r"(?P<prefix>[FPX]?)Entry")
#: first letter of a name, or a decorator -> status
STATUS: Final = {"F": "focused", "P": "skipped", "X": "skipped", "Focus": "focused", "Pending": "skipped"}
#: arguments that are decorators, and so no body and no list of entries
DECORATORS: Final = frozenset(
    {"Focus", "Pending", "Serial", "Ordered", "ContinueOnFailure", "OncePerOrdered", "SuppressProgressReporting",
     "Label", "FlakeAttempts", "MustPassRepeatedly", "NodeTimeout", "SpecTimeout", "GracePeriod", "PollProgressAfter",
     "PollProgressInterval", "Offset", "CodeLocation", "EntryDescription", "SpecPriority", "SemVerConstraint",
     "ComponentSemVerConstraint", "GinkgoHelper"}
)  # fmt: skip
#: calls whose function runs before each spec of a group
SETUP: Final = frozenset({"BeforeEach", "JustBeforeEach", "BeforeAll"})
#: further calls that are given functions which hold no specs
ASIDE: Final = frozenset(
    {"AfterEach", "AfterAll", "JustAfterEach", "BeforeSuite", "AfterSuite", "SynchronizedBeforeSuite",
     "SynchronizedAfterSuite", "ReportBeforeEach", "ReportAfterEach", "ReportBeforeSuite", "ReportAfterSuite",
     "DeferCleanup", "By", "AroundNode"}
)  # fmt: skip
#: GoConvey's
CONVEYS: Final = {"Convey": None, "SkipConvey": "skipped", "FocusConvey": "focused"}
#: paths of packages
GINKGO: Final = re.compile(r"github\.com/onsi/ginkgo(?:/v\d+)?(?:/extensions/table|/dsl/\w+)?")
GOCONVEY: Final = re.compile(r"github\.com/(?:smartystreets|smarty)/goconvey/convey")
