"""What is left of a rate limit, and read-only operators, where the sender of a request is looked up."""

from pathlib import Path

from alembic import op

revision = "0031"
down_revision = "0030"

HERE = Path(__file__).parent


def upgrade() -> None:
    op.execute(HERE.joinpath("0031_functions.sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    op.execute(HERE.joinpath("0031_functions_before.sql").read_text(encoding="utf-8"))
    op.execute("DROP FUNCTION caller_find, rate_charge")
