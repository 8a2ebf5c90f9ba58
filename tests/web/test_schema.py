"""The API against its own document: generated requests, right and wrong ones."""

from __future__ import annotations

from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)
from service_harness.application import Web

from app.web.jobs.shapes import JobShape, WaitShape
from tests.tiers import proofs

pytestmark = pytest.mark.proof

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    negative_data_rejection,
]


@pytest.mark.parametrize("mode", proofs(GenerationMode, but=[GenerationMode.POSITIVE]))
def test_every_answer_is_one_that_the_document_names(web: Web, mode: GenerationMode) -> None:
    web.completed(web.submit("shop").json["id"])
    # its client in this process offers encodings and decodes none
    headers = web.token() | {"Accept-Encoding": "identity"}
    document = schemathesis.openapi.from_wsgi("/api/v1/openapi.json", web.app).exclude(path_regex="events")
    for found in document.get_all_operations():
        operation = found.ok()

        # one of our own loops: schemathesis 4.32's fixture does not know pytest 9.2
        @settings(
            max_examples=8, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
        )
        @given(case=operation.as_strategy(generation_mode=mode))
        def answers_as_described(case: Any) -> None:
            case.call_and_validate(headers=headers, checks=CHECKS)

        if mode is GenerationMode.POSITIVE or operation.body or operation.query:
            answers_as_described()


def test_the_document_names_every_member_of_a_job(web: Web) -> None:
    waiting = web.submit("shop").json
    web.completed(waiting["id"])
    done = web.client.get(f"/api/v1/analyses/{waiting['id']}").json
    assert waiting.keys() | done.keys() == JobShape.model_fields.keys()
    assert waiting["wait"].keys() == WaitShape.model_fields.keys()
