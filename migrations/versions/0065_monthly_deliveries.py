"""Deliveries to webhooks in a partition for each month, which is dropped when it is old enough (docs/adr/0094).

What there is becomes the partition of everything before a month to come; no row is copied.  The previous release writes
and reads the partitioned table by the same statements.
"""

from pathlib import Path

from alembic import op

from migrations import online

revision = "0065"
down_revision = "0064"

LOCKS = {"webhook_deliveries": "ACCESS EXCLUSIVE", "webhooks": "ACCESS EXCLUSIVE"}
ONLINE = {"webhook_deliveries": "two unique indexes, and a check that nothing is of a month to come"}

HERE = Path(__file__).parent


def upgrade() -> None:
    # committed long before the last step: a call of the trigger that waits for that one has the text of its beginning
    execute("0065_functions.sql")
    execute("0065_bound.sql")
    online.validate("webhook_deliveries", "webhook_deliveries_before")
    online.create_index("webhook_deliveries_before_pkey", "ON webhook_deliveries (id, happened_at)", is_unique=True)
    online.create_index(
        "webhook_deliveries_before_once", "ON webhook_deliveries (webhook_id, event_id, happened_at)", is_unique=True
    )
    execute("0065_partitions.sql")


def downgrade() -> None:
    execute("0065_one_table.sql")
    execute("0065_functions_before.sql")


def execute(name: str) -> None:
    op.execute(HERE.joinpath(name).read_text(encoding="utf-8"))
