"""The applications of a web: one, or with CELLS one for each cell behind a router."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from apiflask import APIFlask
from pydantic import SecretStr

from app.database import directory_url
from app.services.accounts.accounts import anonymous_id
from app.services.cells.cells import Cells
from app.services.cells.find_cell import MOST_AT_DIRECTORY, AccountCells
from app.services.cells.other_cells import OtherCells
from app.services.cells.refuse_moving import refuse_moving
from app.services.cells.register import register, unregister
from app.settings import Settings
from app.store.core.connections import make_engine
from app.store.core.unit_of_work import UnitOfWork
from app.web import build, create_app
from app.web.accounts.github import EXTENSION as GITHUB
from app.web.accounts.mails import EXTENSION as MAILS
from app.web.analyses.commit_lookups import EXTENSION as LOOKUPS
from app.web.cells.credentials import NamedBy
from app.web.cells.router import CellRouter
from app.web.core.client_addresses import address_of, client_of
from app.web.core.context import EXTENSION
from app.web.core.wiring import WebWiring, wire
from app.web.jobs.api import LIVE
from app.web.jobs.job_streams import Live
from app.web.limits.read_buckets import Buckets, carries_known
from app.web.limits.read_costs import READS

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication, WSGIEnvironment


def applications() -> tuple[APIFlask, WSGIApplication]:
    """The application of this process's cell, and what answers requests: itself, or a router over all cells."""
    own = create_app()
    wired: WebWiring = own.extensions[EXTENSION]
    return (own, routed(own, wired.settings)) if wired.settings.cell else (own, own)


def routed(own: APIFlask, settings: Settings) -> CellRouter:
    """The router over the cells of the settings.  own: the application of this process's cell."""
    addresses = settings.cell_addresses
    apps = {
        cell: own if cell == settings.cell else _of_cell(own, settings, address) for cell, address in addresses.items()
    }
    return joined(apps, settings.cell or "", _directory(settings))


def joined(apps: Mapping[str, APIFlask], own: str, directory: UnitOfWork) -> CellRouter:
    """Join applications by a directory, in which they then note the accounts that are made in them.

    They share what a process has one of: all but the database, and who watches the jobs in it.
    """
    cells = Cells(own, {cell: _wired(app).uow for cell, app in apps.items()}, directory)
    places = AccountCells(cells)
    shared = {name: apps[own].extensions[name] for name in (READS, LOOKUPS, GITHUB, MAILS)}
    for cell, app in apps.items():
        noting = partial(register, cells.directory, cells.uows, cell)
        forgetting = partial(unregister, cells.directory, cell)
        refusing, elsewhere = partial(refuse_moving, cells.directory), OtherCells(places, cell)
        wired = _wired(app).among_cells(noting, forgetting, refusing, elsewhere)
        app.extensions |= {EXTENSION: wired} | shared
        app.extensions[LIVE].places = apps[own].extensions[LIVE].places
    settings = _wired(apps[own]).settings
    visitor = partial(client_of, trusts_proxy=settings.trust_proxy)
    may_ask = partial(_may_ask, apps[own].extensions[READS].buckets, _wired(apps[own]))
    return CellRouter(apps, places, own=own, visitor=visitor, may_ask=may_ask)


def _of_cell(own: APIFlask, settings: Settings, address: str) -> APIFlask:
    """The application of another cell: 2 MB and 50 ms."""
    # neither the direct address nor the replica is of this cell
    others = dict.fromkeys(("database_direct_url", "database_read_url"))
    wired = wire(settings.model_copy(update={**others, "database_url": SecretStr(address)}))
    app = build(wired.settings, _wired(own).secret)
    app.extensions |= {EXTENSION: wired, LIVE: Live(wired.uow, wired.policy)}
    return app


def _directory(settings: Settings) -> UnitOfWork:
    return UnitOfWork(
        make_engine(
            directory_url(settings),
            pool_size=MOST_AT_DIRECTORY,
            overflow=0,
            application_name="fairlane web",
            statement_seconds=settings.statement_timeout.total_seconds(),
            has_to_answer=True,
        )
    )


def _wired(app: APIFlask) -> WebWiring:
    wired: WebWiring = app.extensions[EXTENSION]
    return wired


def _may_ask(buckets: Buckets, wired: WebWiring, environ: WSGIEnvironment, by: NamedBy) -> None:
    """Look up what an application would (app/web/limits/read_costs.py).

    Unknown tokens have an end; forms and links count as reads of the address.  A session is signed by us.
    Raises: TooManyRequests.
    """
    if by in {NamedBy.NOTHING, NamedBy.SESSION}:
        return
    remote = address_of(environ, trusts_proxy=wired.settings.trust_proxy)
    address = str(anonymous_id(remote, wired.visitors_key))
    if by is not NamedBy.TOKEN:
        buckets.require(address)
    elif not carries_known(buckets, environ):
        buckets.require(f"refused:{address}")
