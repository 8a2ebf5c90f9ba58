"""When and how the person of a session last proved who they are; addresses of accounts that an operator made.

The previous release neither reads nor fills the columns: such a session has proved nothing lately.  An operator knows
whom they make an account for, so such an address counts as verified, in batches, because accepts lock these rows.
"""

from alembic import op

from migrations import online

revision = "0038"
down_revision = "0037"

LOCKS = {"sessions": "ACCESS EXCLUSIVE"}
ONLINE = {"users": "gets the time of verification in each row that an operator made, 5,000 at a time"}

_KNOWN = """
    UPDATE users SET email_verified_at = created_at WHERE id IN (
        SELECT u.id FROM users u
         WHERE u.kind = 'person' AND u.email_verified_at IS NULL
           AND NOT EXISTS (SELECT FROM audit_log l
                            WHERE l.action = 'user.add' AND l.actor = 'sign-up' AND l.subject = CAST(u.id AS text))
         LIMIT 5000)"""


def upgrade() -> None:
    op.execute(
        "ALTER TABLE sessions ADD COLUMN IF NOT EXISTS proved_at timestamptz, ADD COLUMN IF NOT EXISTS proved_by text"
    )
    op.execute("COMMENT ON COLUMN sessions.proved_at IS 'null: not since the previous release'")
    op.execute("COMMENT ON COLUMN sessions.proved_by IS 'password, github, link, or the id of a passkey'")
    online.in_batches(_KNOWN)


def downgrade() -> None:
    op.execute("ALTER TABLE sessions DROP COLUMN proved_at, DROP COLUMN proved_by")
