"""A read that notes its use is answered by a database that takes no writes.

A deleted account whose address was never verified takes nothing out of older entries of the log.

The release before calls `caller_find` with the same arguments.
"""

from pathlib import Path

from alembic import op

revision = "0052"
down_revision = "0049"

HERE = Path(__file__).parent


def upgrade() -> None:
    op.execute(HERE.joinpath("0052_notes.sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    op.execute("DROP FUNCTION note_view, note_session, note_token")
    for before in ("0043_append_only_log.sql", "0049_caller_runs.sql"):
        op.execute(HERE.joinpath(before).read_text(encoding="utf-8"))
