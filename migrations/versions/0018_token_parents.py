"""A token that was made by another one ends with it; docs/adr/0018.

The cascade is a trigger, so that it holds for a revocation by hand, and for one by the release before.
"""

from alembic import op

revision = "0018"
down_revision = "0017"

COLUMN = "ALTER TABLE api_tokens ADD COLUMN parent_id uuid REFERENCES api_tokens ON DELETE CASCADE"
INDEX = "CREATE INDEX api_tokens_parent ON api_tokens (parent_id) WHERE parent_id IS NOT NULL"
# One statement for all that is below, not a trigger for each level: a long line would exceed the stack.
CASCADE = """
CREATE FUNCTION api_tokens_revoke_below() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    WITH RECURSIVE below AS (
        SELECT t.id FROM api_tokens t WHERE t.parent_id = NEW.id
        UNION
        SELECT t.id FROM api_tokens t JOIN below b ON t.parent_id = b.id
    )
    UPDATE api_tokens t SET revoked_at = NEW.revoked_at FROM below b WHERE t.id = b.id AND t.revoked_at IS NULL;
    RETURN NULL;
END $$"""
TRIGGER = """
CREATE TRIGGER api_tokens_revoke_below AFTER UPDATE OF revoked_at ON api_tokens FOR EACH ROW
WHEN (pg_trigger_depth() = 0 AND OLD.revoked_at IS NULL AND NEW.revoked_at IS NOT NULL)
EXECUTE FUNCTION api_tokens_revoke_below()"""


def upgrade() -> None:
    for statement in (COLUMN, INDEX, CASCADE, TRIGGER):
        op.execute(statement)


def downgrade() -> None:
    op.execute("DROP TRIGGER api_tokens_revoke_below ON api_tokens")
    op.execute("DROP FUNCTION api_tokens_revoke_below")
    op.execute("ALTER TABLE api_tokens DROP COLUMN parent_id")
