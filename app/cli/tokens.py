"""`fairlane token …`."""

from __future__ import annotations

from dataclasses import asdict

import click

from app.cli.rows import show_rows
from app.cli.wiring import actor, now, open_database, show
from app.services.accounts import accounts, tokens
from app.store.accounts.users import Account

COLUMNS = ("id", "prefix", "name", "scopes", "created_at", "expires_at", "last_used_at")


@click.group()
def token() -> None:
    """API tokens."""


@token.command("add")
@click.argument("email")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    help=f"One of {', '.join(tokens.SCOPES)}; default: read, write and what the account may do as an operator.",
)
@click.option("--json", "as_json", is_flag=True)
def add_token(email: str, scopes: tuple[str, ...], *, as_json: bool) -> None:
    """Create a token.  It is shown only once, because only its hash is stored."""
    uow = open_database()
    account = accounts.find_person(uow, email)
    made = tokens.add_token(
        uow, account.user_id, scopes=scopes or _default(account), name="cli", actor=actor(), now=now()
    )
    show({"token": made.secret, "prefix": made.prefix, "scopes": list(made.scopes)}, as_json=as_json)


@token.command("list")
@click.argument("email")
@click.option("--json", "as_json", is_flag=True)
def list_tokens(email: str, *, as_json: bool) -> None:
    """List the tokens of an account that were not revoked, newest first, without their secrets."""
    uow = open_database()
    found = tokens.tokens_of(uow, accounts.find_person(uow, email).user_id)
    show_rows([asdict(one) for one in found], COLUMNS, as_json=as_json)


@token.command("revoke")
@click.argument("name", metavar="PREFIX|ID")
@click.option("--json", "as_json", is_flag=True)
def revoke_token(name: str, *, as_json: bool) -> None:
    """Revoke a token by its prefix or id, and those that it has made."""
    show(asdict(tokens.revoke_named(open_database(), name, actor=actor(), now=now())), as_json=as_json)


def _default(account: Account) -> tuple[str, ...]:
    operating = "operator" if account.is_operator else "operator:read" if account.is_read_only_operator else None
    return ("read", "write", *((operating,) if operating else ()))
