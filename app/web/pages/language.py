"""The choice of a language, in the footer of every page."""

from __future__ import annotations

from flask import redirect, request
from werkzeug.wrappers import Response

from app.errors import InvalidInput, Message
from app.web import languages
from app.web.pages import pages


@pages.post("/language")
def choose_language() -> Response:
    """Remember the language, then show the same page again.  Raises: InvalidInput.

    It needs no form token, which would start a session for every visitor: the choice concerns nothing else.
    """
    language = request.form.get("language", "")
    if language not in languages.LANGUAGES:
        raise InvalidInput(Message("The pages speak %(languages)s.", languages=", ".join(languages.LANGUAGES.values())))
    response = redirect(languages.local_path(request.form.get("to", "")), 303)
    languages.remember(response, language)
    return response
