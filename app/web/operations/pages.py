"""The operator's pages: who waits and why, and what can be done about it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from flask import redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from app.domain.plans import Tier
from app.domain.queues import JOB_QUEUES, service_of
from app.errors import Message, NotFound
from app.services.accounts import accounts, tiers
from app.services.fairness import change_limits, count_snoozes, report_waits, tenants
from app.services.operations import nodes, queues
from app.services.operations.nodes import RunningJob
from app.services.operations.service_state import service_state
from app.store.accounts.users import Account
from app.web.core import auth
from app.web.core.context import utc_now, wired
from app.web.core.pages import pages, read
from app.web.jobs.job_json import links
from app.web.operations.console_words import COLUMNS
from app.web.operations.schemas import LimitForm, TierForm

DAY = timedelta(days=1)
#: For the picture of the last day; reading takes a few tenths of a second of processor time that other requests share.
MOST_EVENTS = 20_000
#: How many users with a limit of their own are named.
MOST_OWN_LIMITS = 100


@pages.get("/operator")
def show_operator() -> str:
    """The state of the service, its queues, workers and users with work, and the waits, snoozes and limits."""
    account, services, now = auth.reading_person(), wired(), utc_now()
    return render_template(
        "operations/operator.html",
        **_now(account, now),
        tiers=change_limits.tier_limits(services.uow, services.policy),
        own_limits=change_limits.own_limits(services.uow, services.policy, most=MOST_OWN_LIMITS),
        most_own_limits=MOST_OWN_LIMITS,
        snoozed=count_snoozes.count(services.uow, now=now),
        report=report_waits.report(
            services.uow,
            services.policy,
            by="tier",
            since=now - DAY,
            until=now,
            workers={queue: services.settings.workers(queue) for queue in JOB_QUEUES},
            most=MOST_EVENTS,
        ),
    )


@pages.get("/operator/now")
def show_now() -> str:
    """The part of the console that its script reads again."""
    return render_template("operations/now.html", **_now(auth.reading_person(), utc_now()))


@pages.get("/operator/users/<uuid:user_id>")
def show_user(user_id: UUID) -> str:
    """One user's tier and limit, and their work now."""
    reader, services = auth.reading_person(), wired()
    account = accounts.find(services.uow, user_id)
    policy = services.policy.fairness
    return render_template(
        "operations/user.html",
        may_act=reader.is_operator,
        COLUMNS=COLUMNS,
        user=account,
        limit=policy.slot_limit(account.plan, account.own_slot_limit),
        of_tier=policy.slot_limit(account.plan),
        tiers=list(Tier),
        work=tenants.tenants_of(services.uow, services.policy, user_id),
    )


@pages.post("/operator/users/<uuid:user_id>/tier")
def change_tier(user_id: UUID) -> Response:
    """Change the user's tier."""
    actor, form = str(auth.operating_person().user_id), read(TierForm, request.form)
    tiers.change_tier(wired().uow, user_id, Tier(form.tier), wired().policy, actor=actor, now=utc_now())
    return redirect(url_for("pages.show_user", user_id=user_id), 303)


@pages.post("/operator/users/<uuid:user_id>/limit")
def change_user_limit(user_id: UUID) -> Response:
    """Give the user a limit of their own; an empty field means that of the tier."""
    actor, form = str(auth.operating_person().user_id), read(LimitForm, request.form)
    change_limits.change_user_limit(wired().uow, user_id, form.limit, wired().policy, actor=actor)
    return redirect(url_for("pages.show_user", user_id=user_id), 303)


@pages.post("/operator/tiers/<tier>/limit")
def change_tier_limit(tier: str) -> Response:
    """Change a tier's limit; an empty field changes nothing."""
    actor, form = str(auth.operating_person().user_id), read(LimitForm, request.form)
    if tier not in set(Tier):
        raise NotFound(Message("There is no tier %(tier)s", tier=repr(tier)))
    if form.limit is not None:
        change_limits.change_tier_limit(wired().uow, Tier(tier), form.limit, wired().policy, actor=actor)
    return redirect(url_for("pages.show_operator", _anchor="limits"), 303)


def _now(reader: Account, now: datetime) -> dict[str, Any]:
    """The part of the console that is read again every few seconds; cheap at any size."""
    uow = wired().uow
    states, found = queues.states(uow), nodes.states(uow)
    return {
        "now": now,
        "may_act": reader.is_operator,
        "state": service_state(states, found, queues.pauses(uow)),
        "queues": states,
        "dead": sum(row.dead for row in states),
        "dead_is_estimate": any("dead" in row.estimated for row in states),
        "nodes": found,
        "tenants": tenants.tenants(uow, wired().policy, most=25),
        "page_of": _page_of,
        "COLUMNS": COLUMNS,
    }


def _page_of(job: RunningJob) -> str:
    """The page of a job that a worker runs."""
    return links(service_of(job.queue), job.job_id)["page"]
