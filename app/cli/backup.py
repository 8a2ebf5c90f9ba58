"""`fairlane backup` and `fairlane restore`: the database as one file, with the service's jobs in flight."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import click
from sqlalchemy.engine import make_url

from app import dumps, restores
from app.cli.audit import show_findings
from app.cli.doctor import instruments
from app.cli.progress import ProgressBar
from app.cli.wiring import actor, application_role, canaries, open_as_owner, open_database
from app.database import owner_url, session_url
from app.dumps import DumpRefused
from app.migrate import head_revision, migrate
from app.services.operations import audit as auditing
from app.services.operations.audit import HOLDS
from app.services.operations.doctor import examine
from app.services.operations.doctor.check import FOUND
from app.services.operations.doctor.schema import INDEXES
from app.services.operations.restoring import Target, read_target, record_backup, record_restore
from app.settings import Settings, load
from app.store.core.unit_of_work import UnitOfWork
from app.store.operations.invariants import ALL
from app.store.operations.invariants.delivery import WAIT

MEGABYTE = 1_000_000


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--force", is_flag=True, help="Replace FILE when the new dump is whole.")
def backup(file: Path, *, force: bool) -> None:
    """Dump the database into FILE while the service runs, from one snapshot, with its unfinished jobs.

    FILE is in the custom format of pg_dump; FILE.sha256 beside it has its checksum.
    """
    settings, began = load(), time.monotonic()
    uow = open_as_owner()
    server = read_target(uow).major
    with ProgressBar() as bar:
        dump = dumps.write(
            _address(settings), file, server=server, replace=force,
            watch=lambda written: bar("dumping (MB)", written // MEGABYTE, 0),
        )  # fmt: skip
    record_backup(uow, actor=actor(), written=dump.bytes)
    click.echo(f"{file}: {dump.bytes / MEGABYTE:.1f} MB in {time.monotonic() - began:.1f} s, schema at {dump.revision}")
    click.echo(f"keep in another place, because the dump does not contain them: {', '.join(_keys(settings))}")


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--yes", is_flag=True, help="Replace what the database contains, without a question.")
def restore(file: Path, *, yes: bool) -> None:
    """Replace the database by the dump in FILE, migrate it, and audit it.  Stop all processes of the service before.

    All is one transaction: if anything fails, the database is as it was, and the command may be run again.
    """
    settings, began = load(), time.monotonic()
    dump = dumps.look_into(file)
    click.echo(f"{file}: {dump.bytes / MEGABYTE:.1f} MB, schema at {dump.revision}; {dumps.verify(dump)}")
    owner = open_as_owner()
    target = read_target(owner)
    _refuse(target, dump)
    if not target.is_empty and not yes:
        _ask(settings, target)
    with ProgressBar() as bar:
        restores.restore(
            owner_url(settings), dump, server=target.major,
            watch=lambda sent: bar("restoring (MB)", sent // MEGABYTE, 0),
        )  # fmt: skip
    revision = migrate(owner.engine, role=application_role())
    for left in examine(instruments(settings), fix=True, checks=(INDEXES,)):
        if left.status == FOUND:
            click.echo(f"fairlane: {left.name}: {left.mended}", err=True)
    record_restore(owner, actor=actor(), revision=revision)
    click.echo(f"restored in {time.monotonic() - began:.1f} s, schema at {revision}")
    _audit(open_database())


def _refuse(target: Target, dump: dumps.Dump) -> None:
    """Refuse what would lose something or could not be used.  Raises: DumpRefused."""
    if target.living:
        raise DumpRefused(f"the service uses this database: stop {', '.join(target.living)}, and try again")
    if target.is_foreign:
        raise DumpRefused("the database has tables, and none of this service's: restore into one of its own")
    if dump.revision is None:
        raise DumpRefused(f"{dump.file} is no dump of this service's database: it has no revision of a schema")
    if dump.revision > head_revision():
        raise DumpRefused(
            f"{dump.file} is of schema {dump.revision}, and this release knows {head_revision()}: use a newer one"
        )


def _ask(settings: Settings, target: Target) -> None:
    """Ask whether everything may be replaced.  Raises: DumpRefused, click.Abort."""
    url = make_url(owner_url(settings))
    named = (
        f"{url.database} at {url.host or 'the local socket'}, with {target.accounts} accounts and {target.jobs} jobs"
    )
    if not sys.stdin.isatty():
        raise DumpRefused(f"the database is not empty ({named}): --yes replaces it")
    click.confirm(f"Replace the database {named}?", abort=True)


def _audit(uow: UnitOfWork) -> None:
    """Check what was restored.  What is due waits for the first node, and a lease in the dump is no sign of one."""
    invariants = [one for one in ALL if one is not WAIT]
    found = auditing.audit(uow, invariants=invariants, canaries=canaries())
    show_findings(found)
    if any(finding.status != HOLDS for finding in found):
        sys.exit(1)


def _address(settings: Settings) -> str:
    """The owner's address, or else one that leads to PostgreSQL itself: a dump is one long session."""
    owned = settings.database_url is None or settings.database_owner_url is not None
    return owner_url(settings) if owned else session_url(settings)


def _keys(settings: Settings) -> list[str]:
    """Which secrets a restored service needs: without them sessions end, and secrets of webhooks cannot be read."""
    first = "SECRET_KEY" if settings.secret_key else f"the file {settings.home / 'secret_key'}"
    others = ("secret_key_predecessors", "encryption_key", "encryption_keys")
    return [first, *(name.upper() for name in others if getattr(settings, name) is not None)]
