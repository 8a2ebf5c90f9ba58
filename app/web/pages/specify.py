"""Ask for a specification: what it would cost first."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from flask import redirect, render_template, request
from werkzeug.wrappers import Response

from app.errors import QuotaExceeded
from app.services import browse, submit_specification
from app.services.offer_specification import offer
from app.services.submit_specification import WantedSpecification
from app.web import auth
from app.web.context import utc_now, wired
from app.web.pages import pages, read
from app.web.reads import heavy
from app.web.specification_schemas import OfferQuery, SpecifyForm

#: Tests of an analysis whose own page says what a specification would cost; of a larger one that is asked for apart,
#: as all its tests are read for it: 1,000 in 40 ms (2026-11).
TOLD_AT_ONCE = 1_000


@pages.get("/analyses/<uuid:job_id>/specify")
def choose_specification(job_id: UUID) -> str:
    """What an analysis may have as a specification, and what it would cost."""
    return _page(job_id, read(OfferQuery, request.args).language)


@pages.post("/analyses/<uuid:job_id>/specify")
def specify_form(job_id: UUID) -> Response | tuple[str, int]:
    """Ask for it, then show the job at its own address."""
    account, asked, services = auth.person("write"), read(SpecifyForm, request.form), wired()
    wanted = WantedSpecification(job_id, asked.language, asked.mode)
    try:
        with heavy(job_id):
            answer = submit_specification.submit(services.uow, account, wanted, services.policy)
    except QuotaExceeded as problem:
        return _page(job_id, asked.language, problem), problem.status
    return redirect(answer.job["links"]["page"], 303)


def box(job: dict[str, Any]) -> dict[str, Any]:
    """What the page of a completed analysis says about specifications.  offer: None where it is asked for apart."""
    account, services = auth.viewer(), wired()
    found: dict[str, Any] = {"languages": services.policy.languages, "offer": None}
    if account and 0 < job["summary"]["tests"] <= TOLD_AT_ONCE:
        language = "en" if "en" in services.policy.languages else next(iter(services.policy.languages))
        found["offer"] = offer(services.uow, account, UUID(job["id"]), language, services.policy)
    return found


def _page(job_id: UUID, language: str, problem: QuotaExceeded | None = None) -> str:
    account, services = auth.person(), wired()
    job = browse.job(services.uow, job_id, account, services.policy, now=utc_now())
    with heavy(job_id):
        found = offer(services.uow, account, job_id, language, services.policy)
    return render_template("specify.html", job=job, offer=found, languages=services.policy.languages, problem=problem)
