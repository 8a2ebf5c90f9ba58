"""An accept lets others refer to the user it has locked; `carry_job` without an argument that nothing reads."""

from pathlib import Path

from alembic import op

revision = "0028"
down_revision = "0027"

HERE = Path(__file__).parent


def upgrade() -> None:
    op.execute(HERE.joinpath("0028_functions.sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    op.execute("DROP FUNCTION carry_job(text, text, text, integer, integer, double precision)")
    for name in ("0026_functions.sql", "0027_functions.sql"):
        op.execute(HERE.joinpath(name).read_text(encoding="utf-8"))
