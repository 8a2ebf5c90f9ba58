"""What an attempt that raised is called: a stable code, plain words, and whether another attempt may help."""

import pytest
from celery.exceptions import SoftTimeLimitExceeded
from testlist.errors import CODES, InventoryError

from tasks.base import failure_of


@pytest.mark.parametrize(
    ("error", "code", "retryable"),
    [
        (SoftTimeLimitExceeded(), "time_limit", True),
        (MemoryError(), "out_of_memory", True),
        (ValueError("x"), "internal_error", True),
        (RecursionError(), "internal_error", True),
    ],
)
def test_each_kind_of_error_has_its_code(error: Exception, code: str, retryable: bool) -> None:
    failure = failure_of(error)
    assert (failure.code, failure.retryable) == (code, retryable)


@pytest.mark.parametrize("code", sorted(CODES))
def test_the_engines_own_errors_keep_their_code_their_words_and_whether_they_may_pass(code: str) -> None:
    failure = failure_of(InventoryError(code, "Plain words."))
    assert (failure.code, failure.message, failure.retryable) == (code, "Plain words.", CODES[code])


@pytest.mark.parametrize("code", ["repository_not_found", "access_denied", "commit_not_found", "repository_too_large"])
def test_what_cannot_pass_by_itself_is_not_tried_again(code: str) -> None:
    assert not failure_of(InventoryError(code, "Plain words.")).retryable


def test_an_unexpected_error_shows_nothing_of_itself() -> None:
    failure = failure_of(RuntimeError("password=hunter2 in /srv/secret"))
    assert failure.message == "The service failed; the error was logged."
