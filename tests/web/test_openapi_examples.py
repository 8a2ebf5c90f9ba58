"""The examples of the OpenAPI document: there for every body and answer, and valid."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator, FormatChecker
from service_harness.application import Web

from app.web.core import openapi_examples

#: Nobody reads an archive.
WITHOUT = {"application/zip"}


@pytest.fixture
def document(web: Web) -> dict[str, Any]:
    found: dict[str, Any] = web.client.get("/api/v1/openapi.json").json
    return found


def contents(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            bodies = [("body", operation.get("requestBody", {})), *operation["responses"].items()]
            for what, answer in bodies:
                if what < "300" or what == "body":
                    for media_type, content in answer.get("content", {}).items():
                        yield f"{method} {path} {what}", media_type, content


def test_every_body_and_answer_has_an_example_that_its_schema_allows(document: dict[str, Any]) -> None:
    faults, seen = [], 0
    for where, media_type, content in contents(document):
        if media_type in WITHOUT:
            continue
        if "example" not in content:
            faults.append(f"{where} {media_type}: no example")
            continue
        seen += 1
        schema = content["schema"] | {"components": document["components"]}
        validator = Draft202012Validator(schema, format_checker=FormatChecker())
        faults += [f"{where}: {error.json_path} {error.message}" for error in validator.iter_errors(content["example"])]
    assert faults == []
    assert seen > 60


def test_no_example_of_a_request_is_left_over(document: dict[str, Any]) -> None:
    used = {content["schema"]["$ref"].rpartition("/")[2] for where, _, content in contents(document) if "body" in where}
    assert used == set(openapi_examples.REQUESTS)


def test_the_example_of_a_submission_is_accepted_and_shown(web: Web, document: dict[str, Any]) -> None:
    operation = document["paths"]["/api/v1/analyses"]["post"]
    sent = operation["requestBody"]["content"]["application/json"]["example"]
    answer = web.client.post("/api/v1/analyses", json=sent)
    assert answer.status_code == 202
    shown = operation["responses"]["202"]["content"]["application/json"]["example"]
    assert shown.keys() == answer.json.keys()
    assert shown["status"] == answer.json["status"] == "queued"
    page = web.client.get("/docs/api").text
    assert sent["repository"] in page
