"""Passwords, and sessions that their user can tell apart.

The previous release neither reads the table nor fills the new columns, which do without it.
"""

from pathlib import Path

from alembic import op

from migrations import online

revision = "0032"
down_revision = "0031"

LOCKS = {"users": "SHARE ROW EXCLUSIVE", "sessions": "ACCESS EXCLUSIVE"}
ONLINE = {"sessions": "gets a name in each row, 5,000 at a time, and is checked for it"}

HERE = Path(__file__).parent

_NAME = """
    UPDATE sessions SET id = gen_random_uuid() WHERE id_hash IN (
        SELECT id_hash FROM sessions WHERE id IS NULL LIMIT 5000)"""


def upgrade() -> None:
    op.execute(HERE.joinpath("0032_sessions.sql").read_text(encoding="utf-8"))
    online.in_batches(_NAME)
    # a valid constraint spares SET NOT NULL the search for rows without one
    op.execute("ALTER TABLE sessions DROP CONSTRAINT IF EXISTS sessions_id_given")
    op.execute("ALTER TABLE sessions ADD CONSTRAINT sessions_id_given CHECK (id IS NOT NULL) NOT VALID")
    online.validate("sessions", "sessions_id_given")
    op.execute("ALTER TABLE sessions ALTER COLUMN id SET NOT NULL")
    op.execute("ALTER TABLE sessions DROP CONSTRAINT sessions_id_given")
    op.execute(HERE.joinpath("0032_passwords.sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    op.execute("ALTER TABLE sessions DROP COLUMN id, DROP COLUMN last_used_at")
    op.execute("DROP TABLE passwords")
