"""Sums of the older bills, and the functions that read them; rate limits that bear a clock that goes back.

The previous release cannot tell the functions apart: they return the same.
"""

from pathlib import Path

from alembic import op

from migrations import online

revision = "0045"
down_revision = "0044"

ONLINE = {"usage_events": "is summed up into usage_sums, 5,000 rows at a time"}

HERE = Path(__file__).parent


def upgrade() -> None:
    online.backfill("usage_sums", HERE.joinpath("0045_batch.sql").read_text(encoding="utf-8"))
    op.execute(HERE.joinpath("0045_functions.sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    op.execute(HERE.joinpath("0045_functions_before.sql").read_text(encoding="utf-8"))
    op.execute("DROP FUNCTION usage_used")
