"""The gate of a language model: limits and circuit of all processes together (docs/adr/0048), shares (0069)."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID, uuid4

from app.domain.model_calls import LONGEST_HOLD, CallWait, Cap, Entered, Limits, Refused, Tokens
from app.store.accounts import rates
from app.store.core.unit_of_work import Tx, UnitOfWork
from app.store.specifications import model_calls, model_shares
from app.store.specifications.model_calls import UseRow


class _NotNow(Exception):  # noqa: N818 - undoes a transaction, and is an answer
    def __init__(self, answer: CallWait | Refused) -> None:
        super().__init__(type(answer).__name__)
        self.answer = answer


@dataclass(frozen=True, slots=True)
class ModelGate:
    """The gate of one endpoint.

    endpoint: its name among all, by address and model; user_id: whose share of the day the calls use, None if they are
    nobody's, which only the limits of all bound.
    Each method call is one short transaction, from any thread.  If a process is killed between `enter` and the end, its
    estimate stays counted; if it was the probe, that is given up after `limits.probe`.
    """

    uow: UnitOfWork
    endpoint: str
    limits: Limits
    user_id: UUID | None = None

    def enter(self, estimate: Tokens) -> Entered | CallWait | Refused:
        """Count a call with its estimate, if it may be made now.

        Locks: the users row against deletion, the share, the circuit, the day, the rate bucket.
        """
        try:
            with self.uow.begin() as tx:
                return self._enter(tx, estimate)
        except _NotNow as refused:
            return refused.answer

    def succeeded(self, entered: Entered, used: Tokens) -> None:
        """Record that the endpoint answered.  Locks: the share, the circuit, if it has failures, then the day."""
        with self.uow.begin() as tx:
            self._settle_share(tx, entered, used)
            model_calls.succeeded(tx, self.endpoint, entered.probe)
            model_calls.settle(tx, entered.day, used - entered.estimate, self.limits)

    def failed(self, entered: Entered, used: Tokens) -> None:
        """Record that the endpoint failed.

        used: what it may have billed nevertheless.  Locks: the share, the circuit, then the day.
        """
        with self.uow.begin() as tx:
            self._settle_share(tx, entered, used)
            model_calls.failed(tx, self.endpoint, entered.probe, self.limits)
            model_calls.settle(tx, entered.day, used - entered.estimate, self.limits)

    def held_back(self, entered: Entered, seconds: float) -> None:
        """Record that the endpoint wants fewer calls: nothing was billed, and no process calls for this time.

        Locks: the share, the circuit, then the day.
        """
        with self.uow.begin() as tx:
            self._settle_share(tx, entered, Tokens())
            if seconds > 0:
                model_calls.hold_back(tx, self.endpoint, min(seconds, LONGEST_HOLD.total_seconds()))
            if entered.probe is not None:
                model_calls.leave(tx, self.endpoint, entered.probe)
            model_calls.settle(tx, entered.day, Tokens() - entered.estimate, self.limits)

    def abandoned(self, entered: Entered) -> None:
        """Record that we cancelled the call: its estimate stays counted, as it may be billed.  Locks: the circuit."""
        if entered.probe is not None:
            with self.uow.begin() as tx:
                model_calls.leave(tx, self.endpoint, entered.probe)

    def _settle_share(self, tx: Tx, entered: Entered, used: Tokens) -> None:
        if self.user_id is not None:
            model_shares.settle(tx, self.user_id, entered.day, used - entered.estimate, self.limits)

    def _enter(self, tx: Tx, estimate: Tokens) -> Entered:
        if self.user_id is not None and not model_shares.count(tx, self.user_id, estimate, self.limits):
            raise _NotNow(Refused(Cap.SHARE_OF_DAY))
        circuit, now = model_calls.lock(tx, self.endpoint)
        way = circuit.way(self.limits, now)
        if isinstance(way, CallWait):
            raise _NotNow(way)
        token = uuid4() if way else None
        if token is not None:
            model_calls.probe(tx, self.endpoint, token, self.limits)
        day = model_calls.count(tx, estimate, self.limits)
        if isinstance(day, Cap):
            raise _NotNow(Refused(day))
        # last, because its row has no other use, and a refused call takes nothing from it
        charged = rates.take(tx, f"model:{self.endpoint}", per_minute=self.limits.requests_per_minute)
        if charged.wait:
            raise _NotNow(CallWait(charged.wait))
        return Entered(day, estimate, token)


def use_today(uow: UnitOfWork) -> UseRow:
    """What all processes have used models for today."""
    with uow.once() as tx:
        return model_calls.use(tx)
