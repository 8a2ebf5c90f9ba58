"""The choice of a language, in the footer of every page."""

from __future__ import annotations

from flask import redirect, request
from flask_wtf.csrf import CSRFError, validate_csrf
from werkzeug.wrappers import Response

from app.errors import InvalidInput, Message
from app.web.core import languages
from app.web.core.local_paths import local_path
from app.web.core.pages import pages


@pages.post("/language")
def choose_language() -> Response:
    """Remember the language, then show the same page again.  Raises: InvalidInput, CSRFError.

    The form token is checked here.  Flask-WTF's own check also wants a referrer on https, and shared pages send none.
    """
    try:
        validate_csrf(request.form.get("csrf_token"))
    except ValueError as error:  # of WTForms
        raise CSRFError(error.args[0]) from error
    language = request.form.get("language", "")
    if language not in languages.LANGUAGES:
        raise InvalidInput(Message("The pages speak %(languages)s.", languages=", ".join(languages.LANGUAGES.values())))
    response = redirect(local_path(request.form.get("to", "")), 303)
    languages.remember(response, language)
    return response
