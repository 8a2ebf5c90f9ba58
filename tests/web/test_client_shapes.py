"""The types of the Python client are those of the OpenAPI document: the same members, null in the same places."""

from typing import Any, get_args, get_type_hints, is_typeddict

import pytest
from fairlane_client import shapes
from service_harness.application import Web

from app.web.core import openapi

#: A summary is data of the engine, which the document leaves open.
OPEN = {"Summary"}
TYPES = {name: kind for name, kind in vars(shapes).items() if is_typeddict(kind) and name not in OPEN}


def is_null(schema: dict[str, Any]) -> bool:
    return any(one.get("type") == "null" for one in schema.get("anyOf", [schema]))


@pytest.mark.parametrize("name", sorted(TYPES))
def test_a_type_of_the_client_has_the_members_of_the_document(web: Web, name: str) -> None:
    properties = openapi.document(web.app)["components"]["schemas"][name]["properties"]
    hints = get_type_hints(TYPES[name])
    assert hints.keys() == properties.keys()
    assert {member: type(None) in get_args(hints[member]) for member in properties} == {
        member: is_null(schema) for member, schema in properties.items()
    }


def test_there_are_types() -> None:
    assert {"Job", "Wait", "Meter", "Comparison", "SpecificationJob"} <= TYPES.keys()


def test_the_document_has_one_component_for_each_kind_of_object(web: Web) -> None:
    names = openapi.document(web.app)["components"]["schemas"].keys()
    assert [name for name in names if "." in name or name.endswith("Shape")] == []
