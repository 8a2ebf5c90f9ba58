"""Problems: each has a slug of its own, a status that fits, and its place in the documentation of the API."""

import re

import pytest

from app import errors
from app.errors import Problem
from app.web.site import docs_pages as docs

OWN = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Problem)]


def test_no_two_problems_share_a_slug() -> None:
    slugs = [kind.slug for kind in OWN]
    assert len(slugs) > 10
    assert sorted(slugs) == sorted(set(slugs))


@pytest.mark.parametrize("kind", OWN, ids=lambda kind: kind.slug)
def test_a_problem_says_what_it_is(kind: type[Problem]) -> None:
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", kind.slug)
    assert 400 <= kind.status < 600
    assert kind.title
    assert not kind.title.endswith(".")
    assert kind().detail == kind.title
    assert (kind("Why.").detail, str(kind("Why."))) == ("Why.", "Why.")


def test_every_problem_a_client_may_meet_is_on_the_page_of_the_api() -> None:
    assert {kind.slug for kind in docs._problems()} == {kind.slug for kind in OWN} - {"bad-setting"}


def test_facts_travel_with_the_problem_and_errors_only_when_there_are_some() -> None:
    assert errors.QuotaExceeded("Spent.", used=50, limit=50).extensions == {"used": 50, "limit": 50}
    assert errors.InvalidInput("No.").extensions == {}
    assert errors.InvalidInput("No.", errors=[{"pointer": "/a", "detail": "b"}], code="x").extensions == {
        "code": "x", "errors": [{"pointer": "/a", "detail": "b"}],
    }  # fmt: skip
