"""Request a specification, after showing its price."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from flask import redirect, render_template, request
from werkzeug.wrappers import Response

from app.domain.jobs import Job
from app.errors import QuotaExceeded
from app.services.jobs import read_jobs
from app.services.specifications import submit_specification
from app.services.specifications.offer import glance, offer
from app.services.specifications.submit_specification import WantedSpecification
from app.web.core import auth
from app.web.core.context import utc_now, wired
from app.web.core.exchanges import about, noted
from app.web.core.pages import pages, read
from app.web.jobs.job_json import links
from app.web.limits.read_costs import priced
from app.web.specifications.schemas import OfferQuery, SpecifyForm


@pages.get("/analyses/<uuid:job_id>/specify")
def choose_specification(job_id: UUID) -> str:
    """The specification that the user may get of an analysis, and its price."""
    return _page(job_id, read(OfferQuery, request.args).language)


@pages.post("/analyses/<uuid:job_id>/specify")
def specify_form(job_id: UUID) -> Response | tuple[str, int]:
    """Submit the form, then show the job at its own address."""
    account, form, services = auth.person("write"), read(SpecifyForm, request.form), wired()
    wanted = WantedSpecification(job_id, form.language, form.mode)
    try:
        with priced(job_id):
            answer = submit_specification.submit(services.uow, account, wanted, services.policy)
    except QuotaExceeded as problem:
        return _page(job_id, form.language, problem), noted(problem)
    about(answer.job.id)
    return redirect(links(answer.job.service, answer.job.id)["page"], 303)


def box(job: Job) -> dict[str, Any]:
    """The box about specifications on the page of a completed analysis, without calculating a price.

    offer: None for a visitor, and if there is no test.
    """
    account, services = auth.viewer(), wired()
    found: dict[str, Any] = {"languages": services.policy.languages, "offer": None}
    tests = job.summary["tests"] if job.summary else 0
    if account and tests:
        language = "en" if "en" in services.policy.languages else next(iter(services.policy.languages))
        found["offer"] = glance(services.uow, account, job.id, language, tests=tests)
    return found


def _page(job_id: UUID, language: str, problem: QuotaExceeded | None = None) -> str:
    account, services = auth.person(), wired()
    job = read_jobs.job(services.uow, job_id, account, services.policy, now=utc_now())
    with priced(job_id):
        found = offer(services.uow, account, job_id, language, services.policy)
    return render_template(
        "specifications/specify.html", job=job, offer=found, languages=services.policy.languages, problem=problem
    )
