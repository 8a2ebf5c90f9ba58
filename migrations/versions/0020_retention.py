"""What pruning needs: when a list was last used, bills whose history is gone, and indexes of what refers to what."""

from alembic import op

revision = "0020"
down_revision = "0019"

UPGRADE = """
-- The oldest revision whose release works on this schema.  A migration that contracts raises it.
CREATE TABLE schema_support (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    oldest text NOT NULL
);
INSERT INTO schema_support (oldest) VALUES ('0015');

-- The default is stable, so that the rows that are there get one value and are not written again.
ALTER TABLE file_lists ADD COLUMN used_at timestamptz NOT NULL DEFAULT now();
COMMENT ON COLUMN file_lists.used_at IS 'when a job last stored it, to the hour; a job that runs may attach it yet';

ALTER TABLE usage_events ADD COLUMN forgotten_at timestamptz;
COMMENT ON COLUMN usage_events.forgotten_at IS
    'when the payer''s history row expired or the account was deleted; nothing is left to compare the bill with';

-- without them each row that is deleted would read the whole table that refers to it
CREATE INDEX analysis_file_lists_list ON analysis_file_lists (file_list_id);
CREATE INDEX file_list_entries_inventory ON file_list_entries (file_inventory_id);
CREATE INDEX sessions_user ON sessions (user_id);
CREATE INDEX sign_in_links_user ON sign_in_links (user_id);
"""

DOWNGRADE = """
DROP INDEX sign_in_links_user, sessions_user, file_list_entries_inventory,
    analysis_file_lists_list;
ALTER TABLE usage_events DROP COLUMN forgotten_at;
ALTER TABLE file_lists DROP COLUMN used_at;
DROP TABLE schema_support;
"""


def upgrade() -> None:
    op.execute(UPGRADE)


def downgrade() -> None:
    op.execute(DOWNGRADE)
