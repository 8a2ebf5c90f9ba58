"""What a framework's own rules raise is kept to the file, or to the framework: it harms no other."""

import logging
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Final, TypeVar

from testlist.interface import Claim, Scope
from testlist.model import Facts, FactsByPath, Test
from testlist.progress import Stopped

Given = TypeVar("Given")

#: why a file has no rows although it was read
RULES_FAILED: Final = "rules_failed"

log = logging.getLogger(__name__)


def attempt(work: Callable[[], Given], otherwise: Given, *, framework: str, path: str = "") -> Given:
    """What the work gives; a failure is logged, as it is a defect of ours.  Raises: MemoryError, Stopped."""
    try:
        return work()
    except (MemoryError, Stopped):
        raise
    except Exception:
        log.exception("event=rules_failed framework=%s path=%r", framework, path)
        return otherwise


def needed(scope: Scope, facts: FactsByPath) -> set[str]:
    """What the frameworks need, like Scope.needs."""
    return attempt(lambda: scope.needs(facts), set[str](), framework=type(scope).__name__)


def claimed(scope: Scope, path: str, facts: Facts, framework: str) -> Claim | None:
    """What the frameworks claim, like Scope.claim."""
    return attempt(lambda: scope.claim(path, facts), None, framework=framework, path=path)


def listed(scope: Scope, owned: Sequence[str], facts: FactsByPath, framework: str, failed: set[str]) -> list[Test]:
    """The tests, like Scope.tests; should it raise, file by file.

    failed: files whose rules raise even so, are added.
    """
    whole = attempt(lambda: _sound(scope.tests(owned, facts)), None, framework=framework)
    return _apart(scope, owned, facts, framework, failed) if whole is None else whole


def _apart(scope: Scope, owned: Sequence[str], facts: FactsByPath, framework: str, failed: set[str]) -> list[Test]:
    found: list[Test] = []
    for path in owned:
        part = attempt(partial(_alone, scope, path, facts), None, framework=framework, path=path)
        if part is None:
            failed.add(path)
        else:
            found += part
    return found


def _alone(scope: Scope, path: str, facts: FactsByPath) -> list[Test]:
    return _sound(scope.tests([path], facts))


def _sound(tests: Iterable[Test]) -> list[Test]:
    """The tests, if all of them are.  Raises: ValueError."""
    found = list(tests)
    if not all(test.sound for test in found):
        raise ValueError("a test with a value of the wrong kind")
    return found
