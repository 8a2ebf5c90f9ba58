"""Every view of the web: importing this module makes them register themselves on the two blueprints."""

from __future__ import annotations

from apiflask import APIFlask
from flask_wtf import CSRFProtect

from app.web.core import languages
from app.web.core.api import api
from app.web.core.pages import pages
from app.web.site import template_filters
from app.web.site.language_pages import choose_language


def init(flask: APIFlask) -> None:
    """Register the views.  The API accepts no cookie for a write, so it needs no CSRF token."""
    flask.config |= {"WTF_CSRF_TIME_LIMIT": None}  # as long as the session: a form left open overnight works
    protection = CSRFProtect(flask)
    protection.exempt(api)
    protection.exempt(choose_language)  # it checks the token itself
    languages.init(flask)
    template_filters.init(flask)
    flask.register_blueprint(api)
    flask.register_blueprint(pages)
