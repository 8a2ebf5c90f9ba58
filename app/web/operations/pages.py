"""The operator's pages: who waits and why, which jobs fail, the health of the service, and what can be done."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from flask import redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from app.domain.plans import Tier
from app.domain.queues import JOB_QUEUES, service_of
from app.errors import Message, NotFound
from app.services.accounts import accounts, plans, tiers
from app.services.fairness import change_limits, count_snoozes, report_waits, tenants
from app.services.operations import nodes, queues
from app.services.operations.database_health import database_health
from app.services.operations.failures import read_failures
from app.services.operations.find_jobs import SEARCHED, find_jobs
from app.services.operations.nodes import RunningJob
from app.services.operations.readiness import replica_fault
from app.services.operations.service_state import service_state
from app.services.operations.sweep import sweep, sweep_now
from app.store.accounts.users import Account
from app.store.operations.job_search import JobFilter
from app.web.core import auth
from app.web.core.context import utc_now, wired
from app.web.core.pages import pages, read
from app.web.jobs.job_json import links
from app.web.operations.console_words import COLUMNS, LEFT_BEHIND
from app.web.operations.schemas import WINDOWS, FailuresQuery, JobsQuery, LimitForm, QuotaForm, TierForm

DAY = timedelta(days=1)
#: For the picture of the last day; reading takes a few tenths of a second of processor time that other requests share.
MOST_EVENTS = 20_000
#: How many users with a limit of their own are named.
MOST_OWN_LIMITS = 100
#: Rows of each kind that a dead process left behind.
MOST_ROWS = 50


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
        plans=[offered.plan for offered in plans.offered(services.uow, services.policy)],
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


@pages.post("/operator/tiers/<tier>/quota")
def change_tier_quota(tier: str) -> Response:
    """Change what users of a tier may use in a period."""
    actor, form = str(auth.operating_person().user_id), read(QuotaForm, request.form)
    if tier not in set(Tier):
        raise NotFound(Message("There is no tier %(tier)s", tier=repr(tier)))
    plans.change_quota(wired().uow, Tier(tier), form.model_dump(exclude={"sure"}), actor=actor)
    return redirect(url_for("pages.show_operator", _anchor="quotas"), 303)


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


@pages.get("/operator/failures")
def show_failures() -> str:
    """Failed jobs of a window by fingerprint, the most frequent first."""
    auth.reading_person()
    query, now = read(FailuresQuery, request.args), utc_now()
    return render_template(
        "operations/failures.html",
        found=read_failures(wired().uow, since=now - WINDOWS[query.window], until=now),
        query=query,
        windows=WINDOWS,
        links_of=links,
        COLUMNS=COLUMNS,
        now=now,
    )


@pages.get("/operator/health")
def show_health() -> str:
    """Show what the sweep would do, by trying and undoing it, and PostgreSQL's own figures."""
    account, services = auth.reading_person(), wired()
    return render_template(
        "operations/health.html",
        left=sweep(services.uow, services.policy, now=utc_now(), dry_run=True),
        database=database_health(services.uow),
        has_replica=services.uow.replica is not None,
        replica_fault=replica_fault(services.uow),
        LEFT_BEHIND=LEFT_BEHIND,
        most=MOST_ROWS,
        may_act=account.is_operator,
    )


@pages.post("/operator/sweep")
def run_sweep() -> Response:
    """Sweep now, and show the page again."""
    actor = str(auth.operating_person().user_id)
    sweep_now(wired().uow, wired().policy, actor=actor, now=utc_now())
    return redirect(url_for("pages.show_health"), 303)


@pages.get("/operator/jobs")
def show_jobs() -> str:
    """Newest requests first.  Raises: NotFound if nobody has the e-mail address."""
    auth.reading_person()
    query, services = read(JobsQuery, request.args), wired()
    user_id = accounts.find_person(services.uow, query.user).user_id if query.user else None
    wanted = JobFilter(query.state, query.service, query.queue, query.tier, user_id, query.repository, query.error)
    return render_template(
        "operations/jobs.html",
        found=find_jobs(services.uow, wanted, services.policy, before=query.cursor, now=utc_now()),
        query=query,
        narrowed=query.narrowed(),
        queues=JOB_QUEUES,
        tiers=list(Tier),
        searched=SEARCHED,
    )
