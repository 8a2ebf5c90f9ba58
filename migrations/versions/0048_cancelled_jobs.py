"""Version 5 of the broker's schema: a message that is to be cancelled is not parked.

The functions that only releases before 0031 call are dropped.
"""

from pathlib import Path

from alembic import op
from celery_durable import schema

revision = "0048"
down_revision = "0047"

BROKER_VERSION = 5

HERE = Path(__file__).parent


def upgrade() -> None:
    schema.upgrade(op.get_bind(), to=BROKER_VERSION)
    op.execute("""
        DROP FUNCTION caller_look, rate_take, rate_spend,
            carry_job(text, text, text, integer, integer, double precision, text)""")
    op.execute("UPDATE schema_support SET oldest = '0031' WHERE oldest < '0031'")


def downgrade() -> None:
    op.execute("UPDATE schema_support SET oldest = '0025'; UPDATE kombu_schema SET version = 4")
    op.execute(HERE.joinpath("0048_functions_before.sql").read_text(encoding="utf-8"))
