"""The guide: how to use the service, without a network."""

from __future__ import annotations

from flask import render_template

from app.web.core.context import wired
from app.web.core.languages import lazy_gettext as _
from app.web.core.pages import pages
from app.web.site.examples import examples

#: Sections by their ids.
TITLES = {
    "first": _("A first result"),
    "statuses": _("Statuses of a job"),
    "waiting": _("Waiting, and plans"),
    "quota": _("Quota"),
    "specifications": _("Specifications"),
    "rest": _("REST"),
    "webhooks": _("Webhooks"),
    "cli": _("Command line"),
    "badge": _("Badge"),
}
#: What each status of a job means.
STATUSES = {
    "queued": _("The job waits for a worker."),
    "waiting": _("The job waits for one of your own jobs to end, because of the limit of your plan."),
    "running": _("A worker fetches the repository, reads its files, and saves the result."),
    "retrying": _("An attempt failed for a reason that may pass. The next one starts by itself."),
    "completed": _("The result is there."),
    "failed": _("The job ended without a result. Its page says why. It costs nothing."),
    "cancelled": _("Somebody cancelled the job. It costs nothing."),
}


@pages.get("/docs")
def show_guide() -> str:
    """Show the whole guide on one page."""
    found = examples(wired().settings)
    return render_template(
        "site/guide.html",
        titles=TITLES,
        contents=TITLES.items(),
        statuses=STATUSES.items(),
        example=found[0] if found else "https://HOST/OWNER/NAME",
    )
