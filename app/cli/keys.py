"""`fairlane keys …`: what is encrypted with which key."""

from __future__ import annotations

from dataclasses import asdict

import click

from app import home
from app.cli.rows import show_rows
from app.cli.wiring import actor, open_database
from app.errors import BadSetting
from app.services.webhooks import reseal
from app.services.webhooks.sealing import Keyring, key_id
from app.settings import load
from app.store.core.unit_of_work import UnitOfWork

COLUMNS = ("id", "name", "secrets", "encrypts")


@click.group()
def keys() -> None:
    """The keys that encrypt stored secrets."""


@keys.command("list")
@click.option("--json", "as_json", is_flag=True)
def list_keys(*, as_json: bool) -> None:
    """List the keys, the newest first, and how many stored secrets each has encrypted.

    A key with 0 secrets may be removed.  A key without a name is not set: data that it has encrypted cannot be read.
    """
    named = _named()
    _show(open_database(), named, as_json=as_json)


@keys.command("reencrypt")
@click.option("--json", "as_json", is_flag=True)
def reencrypt(*, as_json: bool) -> None:
    """Encrypt all stored secrets with the newest key, then list what each key has encrypted."""
    named = _named()
    uow = open_database()
    reseal.reseal(uow, Keyring.of([*named.values()]), actor=actor())
    _show(uow, named, as_json=as_json)


def _show(uow: UnitOfWork, named: dict[str, str], *, as_json: bool) -> None:
    names: dict[str, str] = {}
    for name, phrase in named.items():
        names.setdefault(key_id(phrase).hex(), name)
    rows = [asdict(use) for use in reseal.uses(uow, Keyring.of([*named.values()]), names)]
    show_rows(rows, COLUMNS, as_json=as_json)


def _named() -> dict[str, str]:
    """The phrases by the names of their settings, the newest first.  Raises: BadSetting."""
    settings = load()
    secret = home.existing_key(settings)
    if secret is None:
        where = settings.home / "secret_key"
        raise BadSetting(f"SECRET_KEY: not set, and {where} is not there; run this with the settings of the service")
    named = {f"ENCRYPTION_KEYS {number}": phrase for number, phrase in enumerate(settings.encryption_phrases, 1)}
    earlier = {f"SECRET_KEY_PREDECESSORS {n}": phrase for n, phrase in enumerate(settings.earlier_secret_keys, 1)}
    return named | {"SECRET_KEY": secret} | earlier
