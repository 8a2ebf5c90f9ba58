"""What a request had in memory goes when it was answered, and does not wait for the collector of garbage.

The collector comes rarely (app/server/config.py), and counts objects, not bytes: what an unreachable cycle holds stays
for some 400 pages.  Two cycles held the whole request, with a body of up to a megabyte and all that its page shows: the
variables of a template and the macros that it imports, which know each other; and an address that does not exist, whose
exception is kept in the request with the frames that it went through.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

from flask import Flask, request
from flask.templating import Environment
from jinja2 import Template
from jinja2.environment import TemplateModule
from jinja2.runtime import Context

#: The contexts of the page that is being rendered; None: none is, or what is made now stays for all pages.
_made: ContextVar[list[Context] | None] = ContextVar("contexts of a page", default=None)


def init(app: Flask) -> None:
    """Render by templates that let go; before anything asks the application for its templates."""
    app.jinja_environment = _Environment
    app.teardown_request(_forget_refusal)


class _Template(Template):
    """Jinja's, whose contexts are emptied after each rendering."""

    def render(self, *args: Any, **kwargs: Any) -> str:
        """Render, and let go of what was shown."""
        contexts: list[Context] = []
        outer = _made.set(contexts)
        try:
            return super().render(*args, **kwargs)
        finally:
            _made.reset(outer)
            for context in contexts:
                _empty(context)

    def make_module(self, vars: dict[str, Any] | None = None, *args: Any, **kwargs: Any) -> TemplateModule:  # noqa: A002
        """Make the macros of a file; without variables Jinja keeps them, and all that they import, for all pages."""
        if vars is not None:
            return super().make_module(vars, *args, **kwargs)
        outer = _made.set(None)
        try:
            return super().make_module(None, *args, **kwargs)
        finally:
            _made.reset(outer)

    def new_context(self, *args: Any, **kwargs: Any) -> Context:
        """Make the context of a page, of a part or of an import."""
        context = super().new_context(*args, **kwargs)
        contexts = _made.get()
        if contexts is not None:
            contexts.append(context)
        return context


class _Environment(Environment):
    template_class = _Template


def _empty(context: Context) -> None:
    """Macros know their context, and it knows them among its variables."""
    context.vars.clear()
    context.exported_vars.clear()
    context.blocks.clear()
    context.parent = {}


def _forget_refusal(_: BaseException | None) -> None:
    request.routing_exception = None
