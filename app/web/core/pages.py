"""Pages for people: forms with a CSRF token; all of them work without JavaScript."""

from __future__ import annotations

from typing import Any, TypeVar, get_origin

from apiflask import APIBlueprint
from flask import g
from pydantic import BaseModel, ValidationError
from werkzeug.datastructures import MultiDict

from app.web.core import next_pages, problems

Model = TypeVar("Model", bound=BaseModel)
#: (text, status, headers)
PageAnswer = tuple[str, int, dict[str, str]]
pages = APIBlueprint("pages", __name__, enable_openapi=False)


@pages.app_context_processor
def _account() -> dict[str, Any]:
    # an error page may be shown before the client was identified, or because that failed
    return {"account": g.caller.account if "caller" in g else None, "sign_in_url": next_pages.sign_in_url}


def read(model: type[Model], fields: MultiDict[str, str]) -> Model:
    """Validate a form or a query; an empty field counts as not sent, except in a list.  Raises: InvalidInput."""
    every = model.model_fields.items()
    lists = {field.alias or name for name, field in every if get_origin(field.annotation) is list}
    given: dict[str, Any] = {name: value for name, value in fields.items() if value != "" and name != "csrf_token"}
    given |= {name: fields.getlist(name) for name in lists & fields.keys()}
    try:
        return model.model_validate(given)
    except ValidationError as error:
        raise problems.invalid(error) from error
