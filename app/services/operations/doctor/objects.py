"""Objects that are no longer in their store, and rows that go on to refer to them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from app.services.operations.audit import UNKNOWN, Finding
from app.services.operations.audit_objects import SAMPLE, audit_objects
from app.services.operations.doctor.check import CannotCheckError, CannotMendError, Check, Instruments
from app.services.operations.shown_rows import ShownRow
from app.store.analyses import stored_objects

#: For the newest ones, and for all of them when the others are to be found and forgotten.
WITHIN, WITHIN_OF_ALL = timedelta(seconds=30), timedelta(hours=1)
SHOWN, AT_ONCE = 20, 100


def _read(instruments: Instruments, *, sample: int | None, within: timedelta, most: int) -> Finding | None:
    if instruments.objects is None:
        return None
    return audit_objects(instruments.uow, instruments.objects, sample=sample, within=within, most=most)


def _look(instruments: Instruments) -> Sequence[ShownRow]:
    finding = _read(instruments, sample=SAMPLE, within=WITHIN, most=SHOWN)
    if finding is None:
        return []
    if finding.status == UNKNOWN:
        raise CannotCheckError("the object store did not answer in time")
    return finding.rows


def _forget(instruments: Instruments, _: Sequence[ShownRow]) -> str:
    finding = _read(instruments, sample=None, within=WITHIN_OF_ALL, most=1_000_000)
    if finding is None or finding.status == UNKNOWN:
        raise CannotMendError("the object store did not answer in time")
    digests = [bytes.fromhex(str(row["digest"])) for row in finding.rows]
    for start in range(0, len(digests), AT_ONCE):
        with instruments.uow.begin() as tx:
            stored_objects.forget(tx, digests[start : start + AT_ONCE])
    return f"read all objects, and forgot what {len(digests)} lost ones had"


CHECKS = (
    Check(
        "lost objects",
        "the newest objects that rows refer to, in the object store",
        "What they had is computed again when an analysis needs it. After a restore without its objects that is so.",
        "Look whether OBJECT_STORE_URL names another place than before, and whether something else deletes there.",
        _look,
        _forget,
    ),
)
