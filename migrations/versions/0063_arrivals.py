"""Accounts that came from another cell, and analyses of a commit that has a result in this one already (docs/adr/0097).

The previous release completes no analysis of a commit twice, and moves no account.
"""

from pathlib import Path

from alembic import op

from migrations import online

revision = "0063"
down_revision = "0062"

LOCKS = {"analyses": "ACCESS EXCLUSIVE"}
ONLINE = {"analyses": "indexes analyses_one_result, in place of analyses_one_completed, and analyses_duplicates"}

HERE = Path(__file__).parent
_COMMIT = "ON analyses (codebase_id, commit_sha, parser_version) WHERE status = 'completed'"


def upgrade() -> None:
    op.execute("""
        CREATE TABLE IF NOT EXISTS arrivals (
            account_id uuid NOT NULL,
            epoch bigint NOT NULL,
            is_refused boolean NOT NULL,
            decided_at timestamptz NOT NULL DEFAULT clock_timestamp(),
            PRIMARY KEY (account_id, epoch)
        )""")
    op.execute("""
        COMMENT ON TABLE arrivals IS
            'whether a move of an account into this cell was made or refused; each is decided once'""")
    op.execute("ALTER TABLE analyses ADD COLUMN IF NOT EXISTS duplicate_of uuid")
    op.execute("""
        COMMENT ON COLUMN analyses.duplicate_of IS
            'of an analysis that came with an account: the result of its commit that was here'""")
    online.create_index("analyses_one_result", f"{_COMMIT} AND duplicate_of IS NULL", is_unique=True)
    online.create_index("analyses_duplicates", "ON analyses (duplicate_of) WHERE duplicate_of IS NOT NULL")
    op.execute(HERE.joinpath("0063_functions.sql").read_text(encoding="utf-8"))
    online.drop_index("analyses_one_completed")


def downgrade() -> None:
    op.execute(HERE.joinpath("0063_functions_before.sql").read_text(encoding="utf-8"))
    op.execute(f"CREATE UNIQUE INDEX analyses_one_completed {_COMMIT}")
    op.execute("DROP INDEX analyses_one_result")
    op.execute("ALTER TABLE analyses DROP COLUMN duplicate_of")
    op.execute("DROP TABLE arrivals")
