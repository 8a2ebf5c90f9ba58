"""The operator's pages in every state."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from service_harness.application import POLICY, Web

from app.domain.plans import Tier
from app.domain.queues import ALL_QUEUES
from app.services.accounts import accounts, tiers
from app.services.fairness import change_limits
from app.services.operations import dead_letters as letters
from app.services.operations import queues, schedule
from app.services.operations.schedule import register
from tests.web.operations import ENTRIES, bury_all, gone_node, letter
from tests.web.scenes import LONG, Scene, open_all, run, signed_in

REASON = "The model's endpoint answers with errors only, and the provider is looking into it: " + "incident" * 12
LIVING = 5_000_000_000_123  # the lock of a node


def busy(web: Web) -> accounts.Account:
    """An operator's view on a service at work."""
    account = signed_in(web, is_operator=True)
    run(web, "UPDATE users SET email = :email WHERE id = :id", email=f"{LONG}@example.org", id=account.user_id)
    for tier in Tier:
        header = web.token(web.user(tier).user_id)
        web.started(web.submit(f"of-{tier.value}", header).json["id"])
        for number in range(3):
            web.submit(f"more-{tier.value}-{number}", header)
    run(web, "UPDATE kombu_message SET visible_at = visible_at - interval '12345 seconds' WHERE visible")
    queues.pause(web.uow, "specview_scheduled", actor=str(account.user_id), reason=REASON)
    gone_node(web, *ALL_QUEUES[:5], name=f"{LONG[:60]}:1234567", lock=LIVING, spare={"specview_default": 2})
    gone_node(web, *ALL_QUEUES[5:], name=f"{LONG[:60]}:7654321", lock=LIVING + 1)
    run(web, "UPDATE kombu_message SET lease_owner = :lock WHERE lease_token IS NOT NULL", lock=LIVING)
    run(
        web,
        """INSERT INTO job_events (job_id, event, facts)
           SELECT job_id, 'snoozed', jsonb_build_object('tier', tier) FROM analysis_requests, generate_series(1, 1234)
            WHERE user_id IS NOT NULL""",
    )
    change_limits.change_user_limit(web.uow, account.user_id, 1, POLICY, actor="test")
    # the pool keeps the session, and with it this node is alive
    run(web, "SELECT pg_try_advisory_lock(:lock)", lock=LIVING)
    return account


def operator(web: Web) -> str:
    busy(web)
    return "/operator"


def jobs(web: Web) -> str:
    busy(web)
    return "/operator/jobs"


def no_job(web: Web) -> str:
    busy(web)
    return "/operator/jobs?state=failed&service=specview&queue=specview_scheduled&error=nothing&repository=nothing"


def health(web: Web) -> str:
    busy(web)
    run(
        web,
        """INSERT INTO quota_reservations (user_id, event_type, reserved_amount, job_id, accepted_at, expires_at)
           SELECT id, 'analysis', 1, gen_random_uuid(), now() - interval '3 h', now() - interval '2 h'
             FROM users, generate_series(1, 20)""",
    )
    return "/operator/health"


def paused_queue(web: Web) -> str:
    busy(web)
    return "/operator/queues/specview_scheduled"


def open_queue(web: Web) -> str:
    busy(web)
    return "/operator/queues/analysis_default"


def operator_who_reads(web: Web) -> str:
    busy(web)
    add: dict[str, Any] = {"tier": Tier.FREE, "is_read_only_operator": True, "actor": "test"}
    web.sign_in(accounts.add_user(web.uow, "reader@example.org", **add, now=datetime.now(UTC)))
    return "/operator"


def dead_letters(web: Web) -> str:
    web.sign_in(web.user(is_operator=True))
    web.submit("shop")
    bury_all(web)
    run(web, "UPDATE kombu_dead_letter SET died_at = died_at - interval '3 days', lost_count = 2, delivery_count = 3")
    letter(web, "rejected", payload="")
    letter(web, queue="specview_scheduled", payload="<script>alert(1)</script> " + '{"args": ["' + "letter" * 9_000)
    return "/operator/dead?limit=2"


def many_dead_letters(web: Web) -> str:
    dead_letters(web)
    for _ in range(1_200):
        letter(web, "rejected")
    return "/operator/dead/many?reason=rejected"


def handled_dead_letters(web: Web) -> str:
    dead_letters(web)
    return "/operator/dead?act=redrive&done=1234&stay=3&gone=2&after=1"


def dropped_dead_letters(web: Web) -> str:
    web.sign_in(web.user(is_operator=True))
    return "/operator/dead?queue=analysis_default&act=drop&done=0&stay=3"


def dead_letter(web: Web) -> str:
    dead_letters(web)
    return f"/operator/dead/{letter(web, payload='<script>alert(1)</script>' + 'letter' * 9_000)}"


def audited(web: Web) -> str:
    account = busy(web)
    for number in range(20):
        letter(web, payload=str(number))
    letters.drop(web.uow, letters.Chosen(reason="undecodable"), actor="cli")
    tiers.change_tier(web.uow, account.user_id, Tier.PRO, POLICY, actor=str(account.user_id), now=datetime.now(UTC))
    return "/operator/audit?limit=5"


def failures(web: Web) -> str:
    busy(web)
    header = web.token()
    for number in range(3):
        web.failed(web.submit(f"large-{number}", header).json["id"], "repository_too_large", f"It has {number}.5 GB.")
    web.failed(web.submit("long", header).json["id"], "internal_error", "incident" * 60)
    return "/operator/failures?window=7d"


def no_failure(web: Web) -> str:
    web.sign_in(web.user(is_operator=True))
    return "/operator/failures"


def scheduled(web: Web) -> str:
    account, now = web.user(is_operator=True), datetime.now(UTC)
    web.sign_in(account)
    register(web.uow, ENTRIES, leader=f"{LONG[:60]}:1234567", now=now)
    schedule.change(web.uow, "sweep", None, is_enabled=False, actor="cli", now=now, reason=REASON)
    schedule.run_now(web.uow, "sweep", actor="cli", now=now)
    return "/operator/schedule?entry=sweep&outcome=unfinished"


def not_scheduled(web: Web) -> str:
    web.sign_in(web.user(is_operator=True))
    return "/operator/schedule"


def no_dead_letter(web: Web) -> str:
    web.sign_in(web.user(is_operator=True))
    return "/operator/dead?queue=analysis_default"


def operator_of_nothing(web: Web) -> str:
    web.sign_in(web.user(is_operator=True))
    return "/operator"


def user_page(web: Web) -> str:
    return f"/operator/users/{busy(web).user_id}"


OPERATOR_SCENES = {
    "operator": Scene("pages.show_operator", operator, open_all),
    "operator of nothing": Scene("pages.show_operator", operator_of_nothing),
    "operator who only reads": Scene("pages.show_operator", operator_who_reads),
    "operator, a queue": Scene("pages.show_queue", open_queue),
    "operator, a paused queue": Scene("pages.show_queue", paused_queue),
    "operator, a user": Scene("pages.show_user", user_page),
    "operator, dead letters": Scene("pages.show_dead_letters", dead_letters, open_all),
    "operator, many dead letters": Scene("pages.show_many_dead_letters", many_dead_letters),
    "operator, dead letters redriven": Scene("pages.show_dead_letters", handled_dead_letters),
    "operator, dead letters dropped": Scene("pages.show_dead_letters", dropped_dead_letters),
    "operator, a dead letter": Scene("pages.show_dead_letter", dead_letter, open_all),
    "operator, no dead letter": Scene("pages.show_dead_letters", no_dead_letter),
    "operator, jobs": Scene("pages.show_jobs", jobs),
    "operator, no job": Scene("pages.show_jobs", no_job),
    "operator, health": Scene("pages.show_health", health, open_all),
    "operator, failures": Scene("pages.show_failures", failures, open_all),
    "operator, no failure": Scene("pages.show_failures", no_failure),
    "operator, schedule": Scene("pages.show_schedule", scheduled),
    "operator, no schedule": Scene("pages.show_schedule", not_scheduled),
    "operator, audit log": Scene("pages.show_audit_log", audited),
}
