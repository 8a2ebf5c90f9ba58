"""What each account has used of a model's day.

The previous release counts no account's calls.
"""

from alembic import op

revision = "0053"
down_revision = "0052"

LOCKS = {"users": "SHARE ROW EXCLUSIVE"}


def upgrade() -> None:
    op.execute("""
        CREATE TABLE model_shares (
            user_id uuid PRIMARY KEY REFERENCES users ON DELETE CASCADE,
            day date NOT NULL,
            tokens bigint NOT NULL,
            cost numeric NOT NULL
        ) WITH (fillfactor = 70)""")  # room for the updates of an account to stay on their page
    op.execute("COMMENT ON COLUMN model_shares.day IS 'as model_days.day; only the last one of each account is kept'")


def downgrade() -> None:
    op.execute("DROP TABLE model_shares")
