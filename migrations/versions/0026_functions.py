"""Functions over the broker's interface, as the files in app/store/sql have them; `analysis_line` goes.

It contracts: releases before 0023 call `analysis_line`.
"""

from pathlib import Path

from alembic import op

revision = "0026"
down_revision = "0025"

HERE = Path(__file__).parent


def upgrade() -> None:
    op.execute(HERE.joinpath("0026_functions.sql").read_text(encoding="utf-8"))
    op.execute("DROP FUNCTION analysis_line; UPDATE schema_support SET oldest = '0025'")


def downgrade() -> None:
    op.execute(HERE.joinpath("0025_functions.sql").read_text(encoding="utf-8"))
    op.execute("UPDATE schema_support SET oldest = '0015'")
