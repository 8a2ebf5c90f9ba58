"""Move one account from a cell to another while it works (docs/adr/0097)."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import structlog

from app.domain.queues import Service
from app.errors import Conflict, Message, NotFound, Problem, Unavailable
from app.services.cells.account_busy import AccountBusy, refuse_busy, refuse_closed
from app.services.cells.copy_contents import Copied, Rest, copy_contents, put_rest, read_rest
from app.services.cells.publish_jobs import publish_jobs
from app.services.cells.send_ahead import Sent, send_ahead
from app.services.cells.settle import clear_up, drop_copies, settle, undo
from app.store.accounts import users
from app.store.cells import arrivals, contents, departures, histories, prepared, rows, tables, words
from app.store.cells.departures import UnfinishedRow
from app.store.cells.rows import JsonRows, Shapes
from app.store.core.database_errors import code_of, constraint_of
from app.store.core.unit_of_work import OvertakenError, Tx, UnitOfWork

__all__ = ["AccountBusy", "Moved", "move", "settle"]


log = structlog.get_logger(__name__)

#: How often a move begins anew at most, as what it had copied was pruned, or a specification was asked for.
TURNS = 10
TAKEN_CODE = "23505"  # a unique index refused a row


@dataclass(frozen=True, slots=True)
class Moved:
    """Rows of the account, by table, and how long it could do nothing."""

    rows: dict[str, int]
    pause_seconds: float


def move(source: UnitOfWork, target: UnitOfWork, user_id: UUID, *, epoch: int) -> Moved:
    """Move an account with its jobs; after this it is in the target only.

    epoch: which was used for no other move of this account.
    Raises: AccountBusy; NotFound; Conflict if the epoch was used, or the move was refused meanwhile, or overtaken too
    often; Unavailable for a server that cannot prepare transactions, and cells of two releases.
    """
    shape, seen = _check(source, target, user_id, epoch), set[UUID]()
    try:
        moved = _try(source, target, shape, user_id, epoch, seen)
    except Problem:  # after any other error, whoever settles the move drops them
        drop_copies(source, target, seen)
        raise
    drop_copies(source, target, seen - clear_up(source, target, user_id))
    return moved


def _try(source: UnitOfWork, target: UnitOfWork, shape: Shapes, user_id: UUID, epoch: int, seen: set[UUID]) -> Moved:
    for turn in range(1, TURNS + 1):
        try:
            copied = copy_contents(source, target, shape, user_id, seen)
            return _flip(source, target, shape, user_id, epoch, copied)
        except OvertakenError:
            log.info("move_overtaken", tenant=str(user_id), turn=turn)
    raise Conflict(
        Message("The account changed at each of %(turns)s attempts; nothing has moved, try again later", turns=TURNS)
    )


def _check(source: UnitOfWork, target: UnitOfWork, user_id: UUID, epoch: int) -> Shapes:
    with source.begin() as tx:
        if not prepared.is_possible(tx):
            raise Unavailable("PostgreSQL's max_prepared_transactions is 0: set it to 10, say, and restart the server")
        if prepared.exists(tx, prepared.name_of(user_id, epoch)):
            raise Conflict("This move is under way, or its process died: settle it")
        if users.lock(tx, user_id) is None:  # waits for a deletion that begins
            raise NotFound("No such user")
        refuse_closed(tx, user_id)
        shape = rows.shapes(tx, tables.ALL)
        refuse_busy(tx, user_id, departures.unfinished(tx, user_id))
    with target.begin() as tx:
        if arrivals.decided(tx, user_id, epoch) is not None:
            raise Conflict("A move with this epoch was decided before")
        if rows.shapes(tx, tables.ALL) != shape:
            raise Unavailable("The cells have different schemas: migrate both to the same release")
    return shape


@dataclass(frozen=True, slots=True)
class _Departed:
    """What has left the source: new results, rows of the account by table, its specifications, unfinished jobs."""

    rest: Rest
    taken: Mapping[str, JsonRows]
    owned: Mapping[str, list[str]]
    going: Sequence[UnfinishedRow]


def _flip(source: UnitOfWork, target: UnitOfWork, shape: Shapes, user_id: UUID, epoch: int, copied: Copied) -> Moved:
    """The last step: the account waits from the lock on it to the end of the prepared transaction."""
    name, is_asked = prepared.name_of(user_id, epoch), False
    try:
        with target.begin() as there:
            sent = send_ahead(source, there, shape, user_id, copied)
            with source.prepared(name) as tx:
                began = time.monotonic()
                departed = _leave(tx, there, user_id, epoch, copied, sent)
            _arrive(there, shape, user_id, epoch, departed, copied)
            is_asked = True
    except BaseException as error:
        if not is_asked:
            undo(source, user_id, epoch)
            _refuse_taken(error)
            raise
        # the commit that decides may have been made, and only its answer lost
        if not settle(source, target, user_id, epoch=epoch):
            raise
    source.end_prepared(name, commits=True)
    pause = time.monotonic() - began
    found = {table: of.number for table, of in departed.taken.items()}
    found["analysis_requests"] += len(sent.placed)
    found["usage_events"] += sent.bills.number
    return Moved({table: number for table, number in found.items() if number}, pause)


def _refuse_taken(error: BaseException) -> None:
    """Say that another account of the target has what only one can have, as the id of a passkey.  Raises: Conflict."""
    if code_of(error) == TAKEN_CODE:
        name = str(constraint_of(error))
        raise Conflict(
            Message("Another account of that cell has something of this one already (%(name)s)", name=name)
        ) from error


def _leave(tx: Tx, there: Tx, user_id: UUID, epoch: int, copied: Copied, sent: Sent) -> _Departed:
    """Take an account out of the source.  Locks: the users row, the user's messages, then what is the user's."""
    if users.lock_to_delete(tx, user_id) is None:
        raise NotFound("No such user")
    refuse_closed(tx, user_id)
    # whoever refuses the move waits for the lock after that, and finds what is prepared
    if arrivals.decided(there, user_id, epoch) is not None:
        raise Conflict("This move was refused")
    rest = read_rest(tx, user_id, copied)
    if sent.placed != frozenset(rest.placed) or not sent.unfinished.issubset(rest.left.seen):
        # a job was dropped from the history meanwhile
        raise OvertakenError
    unfinished = departures.lock_unfinished(tx, user_id)
    refuse_busy(tx, user_id, unfinished)
    going = [job for job in unfinished if not job.has_left]
    if any(job.service == Service.SPECVIEW and job.job_id not in copied.unfinished for job in going):
        raise OvertakenError  # words may have been paid for since they were copied, and its price counts on them
    taken = {"codebases": departures.codebases(tx, user_id)}
    taken |= departures.end(tx, user_id, [job.job_id for job in going])
    owned = departures.specifications(tx, user_id)
    staying = [job.job_id for job in unfinished if job.has_left]
    taken |= departures.leave(
        tx, user_id, sent.bills, going=[job.job_id for job in going], staying=staying, placed=rest.placed
    )
    return _Departed(rest, taken, owned, going)


def _arrive(tx: Tx, shape: Shapes, user_id: UUID, epoch: int, departed: _Departed, copied: Copied) -> None:
    """The commit of this transaction decides.  Locks: the decision."""
    if not arrivals.decide(tx, user_id, epoch, refuses=False):
        raise Conflict("This move was refused")
    put_rest(tx, shape, departed.rest, copied)
    known_as = arrivals.settle_in(tx, shape, user_id, departed.taken, departed.owned)
    histories.put_requests(tx, shape, departed.taken["analysis_requests"], known_as, copied.places)
    contents.tell(tx, departed.rest.accepts)
    words.rename(tx, copied.renames)
    publish_jobs(tx, user_id, departed.going)
