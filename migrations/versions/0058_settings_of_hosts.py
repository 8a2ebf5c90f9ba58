"""Digests of each host's settings, and the random salt that they are made with.

The previous release writes none, and its rows are not compared.
"""

from alembic import op

revision = "0058"
down_revision = "0057"

LOCKS = {"host_clocks": "ACCESS EXCLUSIVE", "schema_support": "ACCESS EXCLUSIVE"}


def upgrade() -> None:
    op.execute("ALTER TABLE host_clocks ADD COLUMN settings jsonb")
    op.execute("""
        COMMENT ON COLUMN host_clocks.settings IS
            'digests of the settings that all hosts need the same of, by name; null: the process writes none'""")
    op.execute("ALTER TABLE schema_support ADD COLUMN settings_salt uuid")
    op.execute("UPDATE schema_support SET settings_salt = gen_random_uuid()")
    op.execute("COMMENT ON COLUMN schema_support.settings_salt IS 'of the digests in host_clocks'")


def downgrade() -> None:
    op.execute("ALTER TABLE schema_support DROP COLUMN settings_salt")
    op.execute("ALTER TABLE host_clocks DROP COLUMN settings")
