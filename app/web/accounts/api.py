"""The client's account: its usage, its requests, its tokens."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from flask import g

from app.errors import Forbidden
from app.services.accounts import tokens, usage
from app.services.accounts.usage import AskedUnits
from app.services.jobs import read_jobs
from app.web.accounts import notices
from app.web.accounts.shapes import MadeTokenShape, MeShape, QuotaShape, ReservationsShape, TokensShape, UsageShape
from app.web.accounts.usage_json import usage_json
from app.web.core import auth
from app.web.core.api import api
from app.web.core.context import utc_now, wired
from app.web.core.schemas import NewToken, PageQuery, QuotaQuestion
from app.web.jobs.job_json import job_json
from app.web.jobs.shapes import JobPageShape


@api.get("/usage")
@api.output(UsageShape)
@api.doc(operation_id="getUsage", tags=["Quota"])
def show_usage() -> dict[str, Any]:
    """Used, reserved and free units in this period."""
    return usage_json(usage.usage(wired().uow, auth.somebody(), now=utc_now()))


@api.get("/usage/reservations")
@api.output(ReservationsShape)
@api.doc(operation_id="listReservations", tags=["Quota"])
def list_reservations() -> dict[str, Any]:
    """Units reserved for unfinished jobs, oldest first."""
    return {"items": usage.reservations(wired().uow, auth.somebody())}


@api.post("/quota/check")
@api.input(QuotaQuestion, arg_name="body")
@api.output(QuotaShape)
@api.doc(operation_id="checkQuota", tags=["Quota"])
def check_quota(body: QuotaQuestion) -> AskedUnits:
    """Whether this many units would be accepted now; reserves nothing."""
    return usage.check(wired().uow, auth.somebody(), body.event, body.amount, now=utc_now())


@api.get("/me")
@api.output(MeShape)
@api.doc(operation_id="getMe", tags=["Account"])
def show_me() -> dict[str, Any]:
    """The account of this token or session."""
    account = auth.person()
    return {
        "user_id": account.user_id,
        "email": account.email,
        "tier": account.tier.value,
        "is_operator": account.is_operator,
        "is_read_only_operator": account.is_read_only_operator,
        "scopes": sorted(g.caller.scopes),
    }


@api.get("/me/history")
@api.input(PageQuery, location="query", arg_name="page")
@api.output(JobPageShape)
@api.doc(operation_id="listHistory", tags=["Account"])
def list_history(page: PageQuery) -> dict[str, Any]:
    """The analyses you requested, newest first."""
    jobs, following = read_jobs.history(
        wired().uow, auth.person().user_id, wired().policy, before=page.cursor, limit=page.limit, now=utc_now()
    )
    return {"items": [job_json(job) for job in jobs], "next": following}


@api.get("/me/tokens")
@api.output(TokensShape)
@api.doc(operation_id="listTokens", tags=["Account"])
def list_tokens() -> dict[str, Any]:
    """Your valid tokens, newest first, without their secrets."""
    return {"items": tokens.tokens_of(wired().uow, auth.person().user_id)}


@api.post("/me/tokens")
@api.input(NewToken, arg_name="body")
@api.output(MadeTokenShape, 201)
@api.doc(operation_id="addToken", tags=["Account"])
def add_token(body: NewToken) -> dict[str, Any]:
    """Create a token; its secret is shown only once.  A token can only grant scopes that it has itself.

    A token made by another one ends with it at the latest, and is revoked with it.
    """
    account = auth.person("write")
    if excess := set(body.scopes) - tokens.may_grant(g.caller.scopes):
        raise Forbidden(f"This token lacks the scope {min(excess)!r}, so it cannot grant it")
    token = tokens.add_token(
        wired().uow,
        account.user_id,
        scopes=tuple(body.scopes),
        name=body.name,
        expires_at=body.expires_at,
        made_by=auth.own_token(),
        now=utc_now(),
    )
    notices.tell(account, notices.NEW_TOKEN)
    row = {"id": token.token_id, "prefix": token.prefix, "scopes": list(token.scopes), "token": token.secret}
    return row | {"name": body.name, "expires_at": token.expires_at}


@api.delete("/me/tokens/<uuid:token_id>")
@api.doc(operation_id="revokeToken", tags=["Account"], responses={204: "Revoked"})
def revoke_token(token_id: UUID) -> tuple[str, int]:
    """Revoke a token."""
    tokens.revoke_token(wired().uow, auth.person("write").user_id, token_id, now=utc_now())
    return "", 204
