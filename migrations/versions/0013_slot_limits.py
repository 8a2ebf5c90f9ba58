"""A limit of one user's own, set by an operator; the functions that read accounts tell it."""

from collections.abc import Iterator
from functools import reduce
from importlib import import_module

from alembic import op

revision = "0013"
down_revision = "0012"

COLUMN = """
ALTER TABLE users ADD COLUMN slot_limit integer CHECK (slot_limit BETWEEN 1 AND 1000);
COMMENT ON COLUMN users.slot_limit IS 'jobs of each service that may run at once, set by an operator; null: as the tier'
"""
#: (as it was, as it is), once in each function
TOLD = (
    ("OUT run_deviation double precision,", "OUT run_deviation double precision, OUT slot_limit integer,"),
    ("u.run_seconds, u.run_deviation,", "u.run_seconds, u.run_deviation, u.slot_limit,"),
    ("anchor_at, run_seconds, run_deviation,", "anchor_at, run_seconds, run_deviation, slot_limit,"),
)


def functions() -> Iterator[str]:
    """Those of 0012 with the limit."""
    before = import_module("migrations.versions.0012_caller")
    for function in (before.CALLER, before.LOOK):
        yield reduce(lambda made, change: made.replace(*change), TOLD, function)


def upgrade() -> None:
    op.execute(COLUMN)
    op.execute("DROP FUNCTION caller_look, accept_look")
    for function in functions():
        op.execute(function)


def downgrade() -> None:
    before = import_module("migrations.versions.0012_caller")
    op.execute("DROP FUNCTION caller_look, accept_look")
    for function in (before.CALLER, before.LOOK):
        op.execute(function)
    op.execute("ALTER TABLE users DROP COLUMN slot_limit")
