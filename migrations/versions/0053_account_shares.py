"""What each account has used of a model's day, and words that a model did not get right.

The previous release reads such words as a model's own, and counts no account's calls.
"""

from alembic import op

revision = "0053"
down_revision = "0052"

LOCKS = {"spec_words": "ACCESS EXCLUSIVE", "users": "SHARE ROW EXCLUSIVE"}


def upgrade() -> None:
    op.execute("""
        CREATE TABLE model_shares (
            user_id uuid PRIMARY KEY REFERENCES users ON DELETE CASCADE,
            day date NOT NULL,
            tokens bigint NOT NULL,
            cost numeric NOT NULL
        ) WITH (fillfactor = 70)""")  # room for the updates of an account to stay on their page
    op.execute("COMMENT ON COLUMN model_shares.day IS 'as model_days.day; only the last one of each account is kept'")
    op.execute("ALTER TABLE spec_words ADD COLUMN is_fallback boolean NOT NULL DEFAULT false")
    op.execute(
        "COMMENT ON COLUMN spec_words.is_fallback IS"
        " 'the built-in generator wrote it, because the checks accepted no answer of the model'"
    )


def downgrade() -> None:
    op.execute("DELETE FROM spec_words WHERE is_fallback")
    op.execute("ALTER TABLE spec_words DROP COLUMN is_fallback")
    op.execute("DROP TABLE model_shares")
