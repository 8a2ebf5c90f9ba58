"""That the endpoint which the bench compares an accept with answers as an accept does (bench/accept/bare.py)."""

from __future__ import annotations

from service_harness.application import Web

from app.web.jobs.shapes import JobShape
from bench.accept.bare import fresh_job


def test_the_endpoint_without_a_database_answers_as_an_accept(web: Web) -> None:
    accepted = web.submit("shop").json
    answer = fresh_job(accepted["commit"])
    assert answer.keys() == accepted.keys()
    assert answer["wait"].keys() == accepted["wait"].keys()
    assert answer["repository"].keys() == accepted["repository"].keys()
    JobShape.model_validate(answer)
