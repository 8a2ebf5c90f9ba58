"""The operators' log is append-only for the application's role, and a trigger removes a person who is deleted.

The previous release deletes accounts as before: the trigger ignores its update of the log, and does the work itself.
"""

from pathlib import Path

from alembic import op

revision = "0043"
down_revision = "0042"

LOCKS = {"audit_log": "SHARE ROW EXCLUSIVE", "users": "SHARE ROW EXCLUSIVE"}

HERE = Path(__file__).parent


def upgrade() -> None:
    op.execute(HERE.joinpath("0043_append_only_log.sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    op.execute("DROP TRIGGER users_leave_audit_log ON users")
    op.execute("DROP TRIGGER audit_log_keep ON audit_log")
    op.execute("DROP FUNCTION audit_log_forget, audit_log_keep")
