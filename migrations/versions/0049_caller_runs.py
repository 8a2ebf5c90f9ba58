"""The account of a token has the runs of both services.

A result with more columns needs a new function.  The release before reads the columns by their names.
"""

from pathlib import Path

from alembic import op

revision = "0049"
down_revision = "0048"

HERE = Path(__file__).parent


def upgrade() -> None:
    op.execute(HERE.joinpath("0049_caller_runs.sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    op.execute(HERE.joinpath("0049_caller_runs_before.sql").read_text(encoding="utf-8"))
