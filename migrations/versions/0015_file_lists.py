"""Files that stand together in a listing are stored once for all analyses that list them alike; docs/adr/0032."""

from alembic import op

revision = "0015"
down_revision = "0014"

TABLES = """
-- A run of files of a listing; its end is chosen by a name, so that a change elsewhere leaves it alone.
CREATE TABLE file_lists (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    digest bytea NOT NULL UNIQUE,
    size integer NOT NULL CHECK (size > 0)
);

CREATE TABLE file_list_entries (
    file_list_id bigint NOT NULL REFERENCES file_lists ON DELETE CASCADE,
    position integer NOT NULL,
    path text NOT NULL,
    file_inventory_id bigint REFERENCES file_inventories,
    skipped text,
    PRIMARY KEY (file_list_id, position),
    CONSTRAINT file_list_entries_read_or_skipped CHECK ((file_inventory_id IS NULL) = (skipped IS NOT NULL))
);

CREATE TABLE analysis_file_lists (
    analysis_id uuid NOT NULL REFERENCES analyses ON DELETE CASCADE,
    last_ordinal integer NOT NULL,
    first_ordinal integer NOT NULL,
    file_list_id bigint NOT NULL REFERENCES file_lists,
    PRIMARY KEY (analysis_id, last_ordinal),
    CHECK (first_ordinal <= last_ordinal)
);
"""
# What there is becomes one list an analysis.
FILL = """
INSERT INTO file_lists (digest, size)
SELECT sha256(convert_to('analysis ' || analysis_id, 'UTF8')), count(*) FROM analysis_files GROUP BY analysis_id;

INSERT INTO analysis_file_lists (analysis_id, last_ordinal, first_ordinal, file_list_id)
SELECT a.analysis_id, l.size, 1, l.id FROM (SELECT DISTINCT analysis_id FROM analysis_files) a
  JOIN file_lists l ON l.digest = sha256(convert_to('analysis ' || a.analysis_id, 'UTF8'));

INSERT INTO file_list_entries (file_list_id, position, path, file_inventory_id, skipped)
SELECT l.file_list_id, row_number() OVER (PARTITION BY f.analysis_id ORDER BY f.ordinal), f.path, f.file_inventory_id,
       f.skipped
  FROM analysis_files f JOIN analysis_file_lists l ON l.analysis_id = f.analysis_id;

DROP TABLE analysis_files;
"""
VIEW = """
CREATE VIEW analysis_files AS
SELECT l.analysis_id, l.first_ordinal + e.position - 1 AS ordinal, e.path, e.file_inventory_id, e.skipped,
       l.file_list_id, l.first_ordinal, l.last_ordinal, e.position
  FROM analysis_file_lists l JOIN file_list_entries e ON e.file_list_id = l.file_list_id;
COMMENT ON VIEW analysis_files IS 'the files of each analysis, by path; ordinal: from 1'
"""
DOWNGRADE = """
ALTER VIEW analysis_files RENAME TO listed_files;

CREATE TABLE analysis_files (
    analysis_id uuid NOT NULL REFERENCES analyses ON DELETE CASCADE,
    ordinal integer NOT NULL,
    path text NOT NULL,
    file_inventory_id bigint REFERENCES file_inventories,
    skipped text,
    PRIMARY KEY (analysis_id, ordinal),
    CONSTRAINT analysis_files_read_or_skipped CHECK ((file_inventory_id IS NULL) = (skipped IS NOT NULL))
);

INSERT INTO analysis_files SELECT analysis_id, ordinal, path, file_inventory_id, skipped FROM listed_files;

DROP VIEW listed_files;
DROP TABLE analysis_file_lists, file_list_entries, file_lists;
"""


def upgrade() -> None:
    op.execute(TABLES)
    op.execute(FILL)
    op.execute(VIEW)


def downgrade() -> None:
    op.execute(DOWNGRADE)
