"""Pages for people: forms with a CSRF token; all of them work without JavaScript."""

from __future__ import annotations

from typing import Any, TypeVar, get_origin

from apiflask import APIBlueprint, APIFlask
from flask import g
from flask_wtf import CSRFProtect
from pydantic import BaseModel, ValidationError
from werkzeug.datastructures import MultiDict

from app.web import auth, languages, next_pages, problems, read_costs, template_filters
from app.web.api import api

Model = TypeVar("Model", bound=BaseModel)
pages = APIBlueprint("pages", __name__, enable_openapi=False)


def init(app: APIFlask) -> None:
    """Register the pages.  The API accepts no cookie for a write, so it needs no CSRF token."""
    app.config |= {"WTF_CSRF_TIME_LIMIT": None}  # as long as the session: a form left open overnight works
    protection = CSRFProtect(app)
    protection.exempt(api)
    protection.exempt(language.choose_language)  # it checks the token itself
    languages.init(app)
    template_filters.init(app)
    app.register_blueprint(pages)


pages.before_request(auth.identify_person)
pages.before_request(auth.limit_writes)
pages.before_request(read_costs.count_reads)


@pages.app_context_processor
def _account() -> dict[str, Any]:
    # an error page may be shown before the client was identified, or because that failed
    return {"account": g.caller.account if "caller" in g else None, "sign_in_url": next_pages.sign_in_url}


def read(model: type[Model], fields: MultiDict[str, str]) -> Model:
    """Validate a form or a query; an empty field counts as not sent, except in a list.  Raises: InvalidInput."""
    lists = {name for name, field in model.model_fields.items() if get_origin(field.annotation) is list}
    given: dict[str, Any] = {name: value for name, value in fields.items() if value != "" and name != "csrf_token"}
    given |= {name: fields.getlist(name) for name in lists & fields.keys()}
    try:
        return model.model_validate(given)
    except ValidationError as error:
        raise problems.invalid(error) from error


# the views register themselves on `pages`
from app.web.pages import (  # noqa: E402, F401
    account,
    account_settings,
    compare,
    confirmations,
    docs,
    github,
    guide,
    job,
    language,
    operator,
    operator_audit,
    operator_dead,
    operator_dead_many,
    operator_failures,
    operator_health,
    operator_jobs,
    operator_queues,
    operator_schedule,
    passkeys,
    password_resets,
    repository,
    shared,
    sign_in,
    specifications,
    specify,
    submit,
    webhooks,
)
