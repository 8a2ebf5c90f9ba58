"""Every view of the web: importing this module makes them register themselves on the two blueprints."""

from __future__ import annotations

from apiflask import APIFlask
from flask_wtf import CSRFProtect

import app.web.accounts.api
import app.web.accounts.confirmation_pages
import app.web.accounts.github_pages
import app.web.accounts.pages
import app.web.accounts.passkey_pages
import app.web.accounts.password_reset_pages
import app.web.accounts.settings_pages
import app.web.accounts.sign_in_pages
import app.web.analyses.api
import app.web.analyses.batch_api
import app.web.analyses.job_pages
import app.web.analyses.pages
import app.web.jobs.api
import app.web.operations.api
import app.web.operations.audit_pages
import app.web.operations.changes_api
import app.web.operations.dead_letter_pages
import app.web.operations.dead_letters_api
import app.web.operations.pages
import app.web.operations.queues_pages
import app.web.operations.schedule_api
import app.web.operations.schedule_pages
import app.web.repositories.api
import app.web.repositories.bookmarks_api
import app.web.repositories.pages
import app.web.results.api
import app.web.results.pages
import app.web.site.docs_pages
import app.web.site.guide_pages
import app.web.site.language_pages
import app.web.specifications.api
import app.web.specifications.files_api
import app.web.specifications.pages
import app.web.specifications.request_pages
import app.web.specifications.shared_pages
import app.web.webhooks.api
import app.web.webhooks.pages
from app.web.core import auth, departures, languages
from app.web.core.api import api, only_objects
from app.web.core.pages import pages
from app.web.limits import read_costs
from app.web.site import template_filters
from app.web.site.language_pages import choose_language

# before each request, in this order: who it is, and whether it may, before what it sent
api.before_request(read_costs.identify_program)
api.before_request(auth.limit_writes)
api.before_request(read_costs.count_reads)
api.before_request(only_objects)
pages.before_request(auth.identify_person)
pages.before_request(auth.limit_writes)
pages.before_request(read_costs.count_reads)

api.after_request(departures.note)
pages.after_request(departures.note)


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
