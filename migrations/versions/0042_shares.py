"""Turns of webhooks by account, a bound on what is pending, and a network's share of a day's sign-ups.

The previous release takes turns without the new column and counts no networks.  Its log shows the new fault as a
failed delivery.
"""

from pathlib import Path

from alembic import op

revision = "0042"
down_revision = "0041"

LOCKS = {"webhooks": "ACCESS EXCLUSIVE", "job_events": "SHARE ROW EXCLUSIVE"}

HERE = Path(__file__).parent


def upgrade() -> None:
    op.execute(HERE.joinpath("0042_shares.sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    op.execute(HERE.joinpath("0042_functions_before.sql").read_text(encoding="utf-8"))
    op.execute("ALTER TABLE webhooks DROP COLUMN turn_until")
    op.execute("DROP TABLE sign_up_networks")
