"""Let no table of a caller's own get at the owner's rights by the functions that have them (docs/adr/0035).

A path that does not name pg_temp begins with it: a caller's pg_class was asked whose the log is.
"""

from pathlib import Path

from alembic import op

revision = "0067"
down_revision = "0066"


def upgrade() -> None:
    _run("0067_functions.sql")


def downgrade() -> None:
    _run("0067_functions_before.sql")


def _run(name: str) -> None:
    op.execute(Path(__file__).with_name(name).read_text(encoding="utf-8"))
