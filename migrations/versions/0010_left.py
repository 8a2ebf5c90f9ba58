"""A joiner who leaves keeps a row, so that leaving twice is no error."""

from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.execute("""
        ALTER TABLE analysis_requests DROP CONSTRAINT analysis_requests_role_check,
            ADD CONSTRAINT analysis_requests_role_check CHECK (role IN ('payer', 'joined', 'cached', 'left'))""")


def downgrade() -> None:
    op.execute("""
        DELETE FROM analysis_requests WHERE role = 'left';
        ALTER TABLE analysis_requests DROP CONSTRAINT analysis_requests_role_check,
            ADD CONSTRAINT analysis_requests_role_check CHECK (role IN ('payer', 'joined', 'cached'))""")
