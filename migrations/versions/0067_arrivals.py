"""Accounts that came from another cell, and analyses of a commit that has a result in this one already (docs/adr/0097).

The previous release completes no analysis of a commit twice, and moves no account.
"""

from alembic import op

revision = "0067"
down_revision = "0062"

LOCKS: dict[str, str] = {}


def upgrade() -> None:
    op.execute("""
        CREATE TABLE arrivals (
            account_id uuid NOT NULL,
            epoch bigint NOT NULL,
            is_refused boolean NOT NULL,
            decided_at timestamptz NOT NULL DEFAULT clock_timestamp(),
            PRIMARY KEY (account_id, epoch)
        )""")
    op.execute("""
        COMMENT ON TABLE arrivals IS
            'whether a move of an account into this cell was made or refused; each is decided once'""")


def downgrade() -> None:
    op.execute("DROP TABLE arrivals")
