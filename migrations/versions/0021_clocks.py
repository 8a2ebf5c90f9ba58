"""How far the clocks of hosts are from the database's, which alone decides what is stored."""

from alembic import op

revision = "0021"
down_revision = "0020"

UPGRADE = """
CREATE TABLE host_clocks (
    host text NOT NULL,
    program text NOT NULL,
    ahead_seconds double precision NOT NULL,
    measured_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (host, program)
);
COMMENT ON COLUMN host_clocks.ahead_seconds IS 'of the database; negative: behind';
"""


def upgrade() -> None:
    op.execute(UPGRADE)


def downgrade() -> None:
    op.execute("DROP TABLE host_clocks")
