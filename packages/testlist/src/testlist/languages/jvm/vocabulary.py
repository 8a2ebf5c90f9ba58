"""Names of the JVM's frameworks that its readers look for."""

from typing import Final

#: factories of specifications; what is in them counts wherever they stand
BUILDERS: Final = frozenset(
    {"funSpec", "describeSpec", "stringSpec", "shouldSpec", "behaviorSpec", "wordSpec", "freeSpec", "featureSpec",
     "expectSpec"}
)  # fmt: skip
