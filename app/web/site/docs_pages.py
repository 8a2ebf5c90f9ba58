"""The API in words, from the OpenAPI document; and the target of the `type` of problems."""

from __future__ import annotations

import json
from typing import Any, cast

from apiflask import APIFlask
from flask import current_app, redirect, render_template, url_for
from werkzeug.wrappers import Response

from app.errors import Problem
from app.web.core import openapi
from app.web.core.pages import pages


@pages.get("/docs/api")
def show_api() -> str:
    """Every call with its parameters and answers."""
    return render_template("site/docs.html", spec=_spec(), tags=_by_tag(), problems=_problems(), resolve=_resolve)


@pages.get("/problems/<slug>")
def show_problem(slug: str) -> Response:
    """Redirect a problem's `type` to its row in the documentation."""
    return redirect(url_for("pages.show_api", _anchor=f"problem-{slug}"))


@pages.app_template_filter("written")
def written(example: object) -> str:
    """An example as JSON, for people."""
    return example if isinstance(example, str) else json.dumps(example, indent=2, ensure_ascii=False)


def _spec() -> dict[str, Any]:
    return openapi.document(cast("APIFlask", current_app))


def _by_tag() -> dict[str, list[dict[str, Any]]]:
    """Calls by tag: method, path, and the operation."""
    found: dict[str, list[dict[str, Any]]] = {tag["name"]: [] for tag in _spec()["tags"]}
    for path, operations in _spec()["paths"].items():
        for method, operation in operations.items():
            found[operation["tags"][0]].append({"method": method.upper(), "path": path, **operation})
    return found


def _resolve(schema: dict[str, Any]) -> dict[str, Any]:
    """Follow one reference."""
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    found: dict[str, Any] = _spec()["components"]["schemas"].get(name, schema)
    return found


def _problems() -> list[type[Problem]]:
    """Every kind of problem, by status."""

    def below(kind: type[Problem]) -> list[type[Problem]]:
        return [kind, *(found for child in kind.__subclasses__() for found in below(child))]

    own = [kind for kind in below(Problem) if kind.__module__ == Problem.__module__ and kind.slug != "bad-setting"]
    return sorted(own, key=lambda kind: (kind.status, kind.slug))
