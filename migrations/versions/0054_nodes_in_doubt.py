"""Version 7 of the broker's schema: one node judges all others, in two looks (docs/adr/0072).

A node of the release before judges by functions of the same names and arguments, and by the same locks.
"""

from pathlib import Path

from alembic import op
from celery_durable import schema

revision = "0054"
down_revision = "0053"

BROKER_VERSION = 7
LOCKS = {"kombu_node": "ACCESS EXCLUSIVE"}

HERE = Path(__file__).parent


def upgrade() -> None:
    schema.upgrade(op.get_bind(), to=BROKER_VERSION)


def downgrade() -> None:
    op.execute(HERE.joinpath("0054_functions_before.sql").read_text(encoding="utf-8"))
    op.execute("DROP TABLE kombu_judgement")
    op.execute("ALTER TABLE kombu_node DROP suspected_at")
    op.execute("UPDATE kombu_schema SET version = 6")
