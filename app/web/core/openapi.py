"""The OpenAPI document: APIFlask's, with our errors and our security, and without data of this host."""

from __future__ import annotations

import threading
from typing import Any

from apiflask import APIFlask

from app.web.core import openapi_examples
from app.web.core.shapes import ProblemShape

PATH = "/api/v1/openapi.json"
PROBLEM = "application/problem+json"
DOCUMENT = "fairlane openapi"
_MAKING = threading.Lock()
EVERYWHERE = {
    "401": "The token is unknown, or one is needed",
    "403": "The token lacks the scope",
    "429": "Too many requests; see Retry-After",
    "503": "The database or the queue is unavailable, or too many requests are running; see Retry-After",
}
SUBMIT = {
    "402": "The quota of this period is used up or reserved",
    "404": "No such repository or commit, or not visible",
    "409": "The first request with this Idempotency-Key is still being processed",
}
WITH_BODY = {
    "400": "Not JSON",
    "413": "The body is longer than 1 MB",
    "415": "Not application/json",
    "422": "Not valid; `errors` says where and what is allowed",
}
KEY_PARAMETER = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "Kept for 24 hours: the same request gets the stored answer",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255},
}
#: Of answers that were counted; see rate_limits.py.
HEADERS = {
    "RateLimit": {
        "description": "What is left: `r` requests; the limit is whole again in `t` seconds, or grants the refused one",
        "schema": {"type": "string"},
        "example": '"reads";r=2999;t=1',
    },
    "RateLimit-Policy": {
        "description": "The limit that was counted: `q` requests in `w` seconds",
        "schema": {"type": "string"},
        "example": '"reads";q=3000;w=60',
    },
    "Retry-After": {"description": "Seconds", "schema": {"type": "integer", "minimum": 0}},
}
LIMITED = ("RateLimit", "RateLimit-Policy")
DELAYED = ("429", "503")


def init(app: APIFlask) -> None:
    """Describe the API as a whole."""
    app.config |= {
        "OPENAPI_VERSION": "3.1.0",
        "AUTO_SERVERS": False,  # otherwise it keeps the first client's Host header for all others
        "SERVERS": [{"url": "/"}],
        "AUTO_VALIDATION_ERROR_RESPONSE": False,
        "AUTO_404_RESPONSE": False,
        "DESCRIPTION": "Lists the tests of Git repositories without running them. See /docs/api.",
        "SECURITY_SCHEMES": {"token": {"type": "http", "scheme": "bearer", "description": "fl_…"}},
        "TAGS": ["Analyses", "Results", "Specifications", "Repositories", "Quota", "Account", "Webhooks", "Operator"],
    }
    app.spec_processor(_finish)


def document(app: APIFlask) -> dict[str, Any]:
    """The document, built once per process: `app.spec` builds it again at each access, 60 ms (2026-11)."""
    with _MAKING:
        if DOCUMENT not in app.extensions:
            app.extensions[DOCUMENT] = app.spec
    found: dict[str, Any] = app.extensions[DOCUMENT]
    return found


def _finish(spec: dict[str, Any] | str) -> dict[str, Any] | str:
    if isinstance(spec, str):  # only where SPEC_FORMAT is yaml
        return spec
    spec["components"]["schemas"].pop("HTTPError", None)
    _name(spec)
    schemas = spec["components"]["schemas"]
    schemas["Problem"] = ProblemShape.model_json_schema() | {"title": "Problem"}
    spec["components"]["headers"] = HEADERS
    for operations in spec["paths"].values():
        for operation in operations.values():
            _complete(operation)
    openapi_examples.add(spec)
    # reading public results needs no token; the empty object says so
    spec["security"] = [{"token": []}, {}]
    return spec


def _name(spec: dict[str, Any]) -> None:
    """One component for each kind of object, by a name that does not say where it was found.

    `JobShape.WaitShape` and `BatchShape.WaitShape` are `Wait`; a Whole is the value that it wraps.
    """
    schemas = spec["components"]["schemas"]
    wrapped = {name: schema["$ref"].rpartition("/")[2] for name, schema in schemas.items() if "$ref" in schema}
    kinds: dict[str, dict[str, Any]] = {}
    short: dict[str, str] = {}
    for name, schema in schemas.items():
        if name not in wrapped:
            short[name] = name.rpartition(".")[2].removesuffix("Shape")
            if kinds.setdefault(short[name], schema)["title"] != schema["title"]:
                raise ValueError(f"{name} and {kinds[short[name]]['title']} would have one name")
    short |= {name: short[inner] for name, inner in wrapped.items()}
    spec["components"]["schemas"] = dict(sorted(kinds.items()))
    _lead(spec, {f"#/components/schemas/{name}": f"#/components/schemas/{new}" for name, new in short.items()})


def _lead(node: Any, ways: dict[str, str]) -> None:
    if isinstance(node, dict):
        if node.get("$ref") in ways:
            node["$ref"] = ways[node["$ref"]]
        for inner in node.values():
            _lead(inner, ways)
    elif isinstance(node, list):
        for inner in node:
            _lead(inner, ways)


def _complete(operation: dict[str, Any]) -> None:
    refusals = dict(EVERYWHERE)
    parameters = operation["parameters"]
    for parameter in parameters:
        if parameter["in"] == "path" and parameter["name"].endswith("_id"):
            parameter["schema"] = {"type": "string", "format": "uuid"}
    if any(parameter["in"] == "path" for parameter in parameters):
        refusals["404"] = "Not found, or not visible to you"
    if any(parameter["in"] == "query" for parameter in parameters):
        refusals["422"] = WITH_BODY["422"]
    if "requestBody" in operation:
        operation["requestBody"]["required"] = True
        refusals |= WITH_BODY
    if operation["operationId"].startswith("submit"):
        refusals |= SUBMIT
    if operation["operationId"] in ("submitAnalysis", "submitSpecification"):
        parameters.append(KEY_PARAMETER)
    _refuse(operation["responses"], refusals)


def _refuse(responses: dict[str, Any], refusals: dict[str, str]) -> None:
    """Add the answers that any operation may give, and turn all refusals into problems."""
    for status, text in refusals.items():
        responses.setdefault(status, {"description": text})
    for status, response in responses.items():
        headers = [
            *(LIMITED if status < "300" or status == "429" else ()),
            *(["Retry-After"] if status in DELAYED else []),
        ]
        if headers:
            response["headers"] = {name: {"$ref": f"#/components/headers/{name}"} for name in headers}
        if status >= "400":
            response["content"] = {PROBLEM: {"schema": {"$ref": "#/components/schemas/Problem"}}}
        elif status == "200" and "202" in responses and "content" not in response:  # the same answer with less work
            response["content"] = responses["202"]["content"]
