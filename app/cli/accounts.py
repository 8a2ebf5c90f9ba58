"""`fairlane user …` and `fairlane tier …`."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import Any

import click

from app.cli.listen_address import service_url
from app.cli.rows import show_rows
from app.cli.wiring import actor, now, open_database, policy, show
from app.domain.plans import Tier
from app.services.accounts import accounts, forget, password_resets, passwords, sessions, tiers
from app.services.fairness import change_limits
from app.settings import load
from app.store.accounts.users import Account

TIERS = click.Choice([tier.value for tier in Tier])


class _SlotsOrTier(click.ParamType[int | None]):
    name = "slots"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | None:
        if value == "tier":
            return None
        try:
            return click.IntRange(1, change_limits.HIGHEST_SLOT_LIMIT).convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"{value!r}: expected 1 to {change_limits.HIGHEST_SLOT_LIMIT}, or `tier`", param, ctx)


@click.group()
def user() -> None:
    """Accounts."""


@user.command("add")
@click.argument("email")
@click.option("--tier", type=TIERS, help="Default: DEFAULT_TIER.")
@click.option("--operator", is_flag=True, help="The account may use the operator's commands and pages.")
@click.option("--read-only-operator", is_flag=True, help="The account may look at them, and may change nothing.")
@click.option("--json", "as_json", is_flag=True)
def add_user(email: str, tier: str | None, *, operator: bool, read_only_operator: bool, as_json: bool) -> None:
    """Create an account."""
    if operator and read_only_operator:
        raise click.UsageError("--operator and --read-only-operator exclude each other")
    wanted = Tier(tier) if tier else load().default_tier
    account = accounts.add_user(
        open_database(),
        email,
        tier=wanted,
        is_operator=operator,
        is_read_only_operator=read_only_operator,
        actor=actor(),
        now=now(),
    )
    show({"user_id": str(account.user_id), "email": account.email, "tier": account.tier.value}, as_json=as_json)


@user.command("list")
@click.option("--match", "part", default="", metavar="TEXT", help="Only addresses with this text in them.")
@click.option("--after", default="", metavar="EMAIL", help="Only later addresses, for the next page.")
@click.option("--most", type=click.IntRange(1, 10_000), default=1000, show_default=True, help="How many accounts.")
@click.option("--json", "as_json", is_flag=True)
def list_users(part: str, after: str, most: int, *, as_json: bool) -> None:
    """List people's accounts by their addresses."""
    found = accounts.people(open_database(), part=part, after=after, most=most)
    rows = [
        {
            "user_id": str(account.user_id),
            "email": account.email,
            "tier": account.tier.value,
            "role": _role(account),
            "own_limit": account.own_slot_limit,
        }
        for account in found
    ]
    show_rows(rows, ("user_id", "email", "tier", "role", "own_limit"), as_json=as_json)


@user.command("tier")
@click.argument("email")
@click.argument("tier", type=TIERS)
@click.option("--json", "as_json", is_flag=True)
def change_tier(email: str, tier: str, *, as_json: bool) -> None:
    """Change the tier of an account; the change applies to waiting jobs within a second."""
    uow = open_database()
    account = accounts.find_person(uow, email)
    after = tiers.change_tier(uow, account.user_id, Tier(tier), policy(), actor=actor(), now=now())
    show({"user_id": str(after.user_id), "email": after.email, "tier": after.tier.value}, as_json=as_json)


@user.command("delete")
@click.argument("email")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.option("--json", "as_json", is_flag=True)
def delete_user(email: str, *, yes: bool, as_json: bool) -> None:
    """Delete an account and all its data; its unfinished jobs are cancelled, bills are kept without a user."""
    uow = open_database()
    account = accounts.find_person(uow, email)
    if not yes:
        click.confirm(f"Delete {account.email} and its history? This cannot be undone.", abort=True, err=True)
    show(asdict(forget.forget(uow, account.user_id, actor=actor(), now=now())), as_json=as_json)


@user.command("limit")
@click.argument("email")
@click.argument("slots", type=_SlotsOrTier(), metavar="N|tier")
@click.option("--json", "as_json", is_flag=True)
def change_user_limit(email: str, slots: int | None, *, as_json: bool) -> None:
    """Let one account run up to N jobs of each service at once, or as many as its tier."""
    uow = open_database()
    account = accounts.find_person(uow, email)
    after = change_limits.change_user_limit(uow, account.user_id, slots, policy(), actor=actor())
    in_force = policy().fairness.slot_limit(after.plan, after.own_slot_limit)
    show({"user_id": str(after.user_id), "email": after.email, "limit": in_force}, as_json=as_json)


@user.command("link")
@click.argument("email")
@click.option(
    "--password", is_flag=True, help="A link that sets a new password, within an hour, and ends all sessions."
)
def sign_in_link(email: str, *, password: bool) -> None:
    """Print a sign-in link for the account; it works once, within a day."""
    uow = open_database()
    account, settings = accounts.find_person(uow, email), load()
    where = settings.public_url or service_url(settings)
    if password:
        click.echo(f"{where}/reset?token={password_resets.hand_out(uow, account, actor=actor(), now=now())}")
        return
    secret = sessions.sign_in_link(uow, account.user_id, actor=actor(), now=now())
    click.echo(f"{where}/sign-in?token={secret}")


@user.command("password")
@click.argument("email")
def set_password(email: str) -> None:
    """Give an account another password, read from the terminal or from standard input; all its sessions end."""
    uow = open_database()
    accounts.find_person(uow, email)  # before anybody types
    if sys.stdin.isatty():
        new = click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    else:
        new = sys.stdin.readline().rstrip("\r\n")
    account = passwords.replace(uow, email, new, actor=actor(), now=now())
    click.echo(f"{account.email} has a new password; all sessions and sign-in links of the account have ended.")


def _role(account: Account) -> str:
    if account.is_operator:
        return "operator"
    return "read-only operator" if account.is_read_only_operator else "user"
