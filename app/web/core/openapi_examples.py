"""Examples for every operation of the OpenAPI document: requests by hand, answers from their schemas.

A member that may be null is null, unless a value is known for its name: an example is then a likely answer.
"""

from __future__ import annotations

from typing import Any

JOB, COMMIT, INSTANT = (
    "80f49471-4059-41f4-a09d-45535832d3d7",
    "0123456789abcdef" * 2 + "01234567",
    "2026-11-21T12:00:00+00:00",
)
REPOSITORY = "https://github.com/pallets/click"
#: By schema.
REQUESTS: dict[str, dict[str, Any]] = {
    "ChangeEntry": {"every_seconds": 3600, "enabled": True},
    "SubmitAnalysis": {"repository": REPOSITORY, "ref": "main"},
    "SubmitBatch": {"items": [{"repository": REPOSITORY}, {"repository": "local:shop"}], "atomic": False},
    "SubmitSpecification": {"analysis_id": JOB, "language": "en", "dry_run": True},
    "QuotaQuestion": {"event_type": "analysis", "amount": 1},
    "NewToken": {"name": "CI", "scopes": ["read", "write"], "expires_at": "2027-01-01T00:00:00Z"},
    "NewWebhook": {"url": "https://hooks.example.org/fairlane", "events": ["analysis.completed"]},
    "WholeWebhook": {"url": "https://hooks.example.org/fairlane", "events": [], "enabled": True},
    "ChangedWebhook": {"enabled": False},
    "NewLimit": {"limit": 3},
    "NewQuota": {"analyses_per_period": 100, "retention_days": None},
    "NewUserLimit": {"limit": 2},
    "NewTier": {"tier": "pro"},
    "PauseQueue": {"paused": True},
}
#: By the name of a member.  A value of another type than the member's is left out.
KNOWN: dict[str, tuple[Any, ...]] = {
    "ahead_of_you": (0,),
    "analysis_id": (JOB,),
    "answer": ("ok",),
    "attempt": (1,),
    "attempts": (1,),
    "billed": (True,),
    "by_framework": ({"pytest": 3},),
    "code": ("commit_not_found",),
    "commit": (COMMIT,),
    "done": (12,),
    "description": ("",),
    "detail": ("The repository has no such commit.",),
    "email": ("ann@example.org",),
    "event": ("completed", "analysis.completed"),
    "event_type": ("analysis",),
    "facts": ({},),
    "file": ("tests/test_cart.py",),
    "framework": ("pytest",),
    "free": (49,),
    "hints": (["stripe"],),
    "host": ("github.com",),
    "id": (JOB, 7),
    "kind": ("test",),
    "language": ("en",),
    "level": ("none", "ok"),
    "limit": (50,),
    "line": (3,),
    "links": ({"self": f"/api/v1/analyses/{JOB}", "page": f"/analyses/{JOB}"},),
    "max_attempts": (3,),
    "message": ("The repository has no such commit.",),
    "name": ("click", "test_adds"),
    "owner": ("pallets",),
    "page": (f"/analyses/{JOB}",),
    "parser_version": ("1.0.0",),
    "prefix": ("fl_AbCdEfGh",),
    "queue": ("analysis_default",),
    "ref": ("main",),
    "repository": ("github.com/pallets/click",),
    "request_id": ("5f1c",),
    "reserved": (0,),
    "secret": ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",),
    "sentence": ("A cart adds an item.",),
    "service": ("analysis",),
    "skipped": (None,),
    "started_at": (INSTANT,),
    "finished_at": (INSTANT,),
    "status": ("completed", "active", 202),
    "suites": (["TestCart"],),
    "summary": ({"files": 2, "suites": 1, "tests": 3, "by_status": {"active": 3}, "by_framework": {"pytest": 3}},),
    "tests": (3,),
    "text": ("The workers are busy.",),
    "tier": ("free",),
    "title": ("Not found",),
    "token": ("fl_AbCd…",),
    "total": (3,),
    "trigger": ("user",),
    "type": ("/problems/not-found", "analysis.completed"),
    "units": (1,),
    "url": (REPOSITORY,),
    "used": (1,),
    "user_id": (JOB,),
    "version": (1,),
}
#: What is different in a job that was just accepted.
ACCEPTED = {"status": "queued", "started_at": None, "finished_at": None, "summary": None, "billed": False, "attempt": 0}
#: Of answers that are not documents of ours, by media type.  An archive has no readable example.
TEXTS = {
    "text/csv": "file,framework,suites,name,line,status\r\ntests/test_cart.py,pytest,TestCart,test_adds,3,active\r\n",
    "application/x-ndjson": '{"file": "tests/test_cart.py", "name": "test_adds", "line": 3, "status": "active"}\n',
    "text/markdown": "# click\n\n- A cart adds an item.\n",
    "text/html": "<!doctype html><title>click</title><p>A cart adds an item.</p>",
    "application/xml": '<testsuites><testsuite name="cart"><testcase name="test_adds"/></testsuite></testsuites>',
    "image/svg+xml": '<svg xmlns="http://www.w3.org/2000/svg"><text>3 tests</text></svg>',
    "text/event-stream": 'id: 3\nevent: state\ndata: {"status": "running"}\n\n',
    "application/json": '{"language": "en", "version": 1, "domains": []}',
}
FORMATS = {"date-time": INSTANT, "uuid": JOB, "uri": REPOSITORY}
PLAIN: dict[str, Any] = {"string": "text", "integer": 1, "number": 1.5, "boolean": False, "null": None}
TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str, "integer": int, "number": (int, float), "boolean": bool, "object": dict, "array": list,
    "null": type(None),
}  # fmt: skip


def add(spec: dict[str, Any]) -> None:
    """Put an example beside the schema of each body and of each answer that succeeds."""
    schemas = spec["components"]["schemas"]
    for operations in spec["paths"].values():
        for operation in operations.values():
            for body in operation.get("requestBody", {}).get("content", {}).values():
                # a test wants every body to have one; the document is served without it as well
                if sent := REQUESTS.get(body["schema"]["$ref"].rpartition("/")[2]):
                    body["example"] = sent
            for status, response in operation["responses"].items():
                if status < "300":
                    _answers(status, response.get("content", {}), schemas)


def _answers(status: str, contents: dict[str, Any], schemas: dict[str, Any]) -> None:
    for media_type, content in contents.items():
        if content["schema"].get("type") == "string":
            if media_type in TEXTS:
                content["example"] = TEXTS[media_type]
            continue
        found = example(content["schema"], schemas)
        if status == "202" and "snoozes" in found:
            found |= ACCEPTED
        content.setdefault("example", found)


def example(schema: dict[str, Any], schemas: dict[str, Any], name: str = "") -> Any:
    """A value of a schema.  name: of the member that has it."""
    if "$ref" in schema:
        return example(schemas[schema["$ref"].rpartition("/")[2]], schemas, name)
    choices = schema.get("anyOf", [schema])
    for choice in choices:
        for value in KNOWN.get(name, ()):
            if _fits(value, choice):
                return value
    if any(choice.get("type") == "null" for choice in choices):
        return None
    return _made(choices[0], schemas, name) if choices[0] is schema else example(choices[0], schemas, name)


def _made(schema: dict[str, Any], schemas: dict[str, Any], name: str) -> Any:
    if "const" in schema or "enum" in schema:
        return schema.get("const", [*schema.get("enum", []), None][0])
    kind = schema.get("type", "object")
    if kind == "array":
        return [example(schema.get("items", {}), schemas, name)]
    if kind == "object":
        return {member: example(of, schemas, member) for member, of in schema.get("properties", {}).items()}
    found = FORMATS.get(schema.get("format", ""), PLAIN[kind])
    return max(found, schema.get("minimum", found)) if isinstance(found, int | float) else found


def _fits(value: Any, schema: dict[str, Any]) -> bool:
    """Whether a known value is one of this schema, as far as the members here need it."""
    if "$ref" in schema or "properties" in schema or not isinstance(value, TYPES.get(schema.get("type", ""), object)):
        return False
    if isinstance(value, bool) != (schema.get("type") == "boolean"):
        return False
    if value != FORMATS.get(schema.get("format", ""), value):
        return False
    return value in schema.get("enum", [value]) and value == schema.get("const", value)
