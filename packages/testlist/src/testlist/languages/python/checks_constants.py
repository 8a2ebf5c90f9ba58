"""Whether a relation of values that are written out holds."""

import operator
from collections.abc import Callable, Iterable
from typing import Any, Final

OPERATIONS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "equal": operator.eq, "greater": operator.gt, "greater_equal": operator.ge, "less": operator.lt,
    "less_equal": operator.le, "contains": operator.contains,
}  # fmt: skip


def is_true(relation: str, *, negated: bool, sides: Iterable[Any]) -> bool:
    """Whether it is known to hold.  sides: subject and expected, as values."""
    values = list(sides)
    try:
        if relation == "truthy" and len(values) == 1:
            found = bool(values[0])
        elif relation in OPERATIONS and len(values) == 2:
            found = bool(OPERATIONS[relation](*values))
        else:
            return False
    except TypeError:
        return False
    return found != negated
