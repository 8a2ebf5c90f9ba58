-- What one blob holds, before any other file is looked at: parsed once per content.
CREATE TABLE blob_facts (
    blob_id text NOT NULL,
    language text NOT NULL,
    parser_version text NOT NULL,
    facts jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (blob_id, language, parser_version)
);

-- The tests of one file, decided with its surroundings (configuration, base classes); shared by all commits alike.
CREATE TABLE file_inventories (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    blob_id text NOT NULL,
    parser_version text NOT NULL,
    digest bytea NOT NULL,
    framework text,
    tests jsonb NOT NULL,
    total_tests integer NOT NULL,
    hints jsonb NOT NULL DEFAULT '[]',
    UNIQUE (blob_id, parser_version, digest)
);
-- Not validated, as in a database whose rows are older than the column.
ALTER TABLE file_inventories ADD CONSTRAINT file_inventories_hints CHECK (jsonb_array_length(hints) <= 30) NOT VALID;
COMMENT ON COLUMN file_inventories.hints IS 'what the file imports and calls, 30 at most';

-- A run of files of a listing, which all analyses that list them alike share (docs/adr/0032).  Its end is chosen by a
-- name, so that a change elsewhere leaves it alone.
CREATE TABLE file_lists (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    digest bytea NOT NULL UNIQUE,
    size integer NOT NULL CHECK (size > 0),
    used_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON COLUMN file_lists.used_at IS 'when a job last stored it, to the hour; a job that runs may attach it yet';

CREATE TABLE file_list_entries (
    file_list_id bigint NOT NULL REFERENCES file_lists ON DELETE CASCADE,
    position integer NOT NULL,
    path text NOT NULL,
    file_inventory_id bigint REFERENCES file_inventories,
    skipped text,
    PRIMARY KEY (file_list_id, position),
    CONSTRAINT file_list_entries_read_or_skipped CHECK ((file_inventory_id IS NULL) = (skipped IS NOT NULL))
);
-- Here and below: without it each row that is deleted would read the whole table that refers to it.
CREATE INDEX file_list_entries_inventory ON file_list_entries (file_inventory_id);

CREATE TABLE analysis_file_lists (
    analysis_id uuid NOT NULL REFERENCES analyses ON DELETE CASCADE,
    last_ordinal integer NOT NULL,
    first_ordinal integer NOT NULL,
    file_list_id bigint NOT NULL REFERENCES file_lists,
    PRIMARY KEY (analysis_id, last_ordinal),
    CHECK (first_ordinal <= last_ordinal)
);
CREATE INDEX analysis_file_lists_list ON analysis_file_lists (file_list_id);

CREATE VIEW analysis_files AS
SELECT l.analysis_id, l.first_ordinal + e.position - 1 AS ordinal, e.path, e.file_inventory_id, e.skipped,
       l.file_list_id, l.first_ordinal, l.last_ordinal, e.position
  FROM analysis_file_lists l JOIN file_list_entries e ON e.file_list_id = l.file_list_id;
COMMENT ON VIEW analysis_files IS 'the files of each analysis, by path; ordinal: from 1';

-- What was asked for, beyond what every job has.  It goes with its accept record.
CREATE TABLE spec_requests (
    job_id uuid PRIMARY KEY,
    user_id uuid REFERENCES users ON DELETE SET NULL,
    analysis_id uuid NOT NULL,
    language text NOT NULL,
    mode text NOT NULL CHECK (mode IN ('initial', 'regenerate_cached', 'regenerate_fresh'))
);
CREATE INDEX spec_requests_user ON spec_requests (user_id, analysis_id);

-- Only workers write here.  The analysis may be pruned before the document: nothing refers to it.
CREATE TABLE spec_documents (
    id uuid PRIMARY KEY,
    user_id uuid REFERENCES users ON DELETE SET NULL,
    codebase_id uuid NOT NULL REFERENCES codebases,
    commit_sha text NOT NULL,
    analysis_id uuid NOT NULL,
    language text NOT NULL,
    mode text NOT NULL,
    generator text NOT NULL,
    version integer,
    status analysis_status NOT NULL,
    attempt integer NOT NULL,
    started_at timestamptz NOT NULL,
    completed_at timestamptz,
    error_code text,
    error_message text,
    error_retryable boolean,
    progress jsonb,
    summary jsonb,
    units integer,
    draft uuid,
    CONSTRAINT spec_documents_ended CHECK ((status = 'running') = (completed_at IS NULL)),
    CONSTRAINT spec_documents_failed_says_why CHECK ((status = 'failed') <= (error_code IS NOT NULL)),
    CONSTRAINT spec_documents_completed_whole CHECK (
        (status = 'completed') = (version IS NOT NULL AND summary IS NOT NULL AND units IS NOT NULL))
) WITH (fillfactor = 80);  -- room for the progress updates to stay on their page
COMMENT ON COLUMN spec_documents.units IS 'behaviours that this document has paid for, as its usage event says';
COMMENT ON COLUMN spec_documents.draft IS 'the lease whose features these are; those of another wrote too late';
CREATE UNIQUE INDEX spec_documents_version ON spec_documents (user_id, analysis_id, language, version);
CREATE INDEX spec_documents_codebase ON spec_documents (codebase_id, user_id, completed_at DESC);
CREATE INDEX spec_documents_completed_at ON spec_documents (completed_at DESC) WHERE status = 'completed';
-- only failed records pay for it
CREATE INDEX spec_documents_failed ON spec_documents (completed_at DESC) WHERE status = 'failed';

-- In the order in which they are read.  behaviours: an array of objects, see app/store/spec_documents.py.
CREATE TABLE spec_features (
    document_id uuid NOT NULL REFERENCES spec_documents ON DELETE CASCADE,
    draft uuid NOT NULL,
    position integer NOT NULL,
    domain text NOT NULL,
    feature text NOT NULL,
    total integer NOT NULL,
    behaviours jsonb NOT NULL,
    PRIMARY KEY (document_id, draft, position)
);

-- Places and sentences that a generator has found, by repository; of a private one by user too.
CREATE TABLE spec_words (
    key bytea PRIMARY KEY,
    codebase_id uuid NOT NULL REFERENCES codebases ON DELETE CASCADE,
    user_id uuid REFERENCES users ON DELETE CASCADE,
    words jsonb NOT NULL,
    is_paid boolean NOT NULL,
    used_at timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 90);
COMMENT ON COLUMN spec_words.is_paid IS
    'whether a document was billed with it; what a job that failed has left is paid by the next one that uses it';
CREATE INDEX spec_words_codebase ON spec_words (codebase_id);
CREATE INDEX spec_words_user ON spec_words (user_id) WHERE user_id IS NOT NULL;

CREATE TABLE spec_shares (
    secret_hash bytea PRIMARY KEY,
    document_id uuid NOT NULL UNIQUE REFERENCES spec_documents ON DELETE CASCADE,
    created_at timestamptz NOT NULL
);

-- The repositories that a person has marked.
CREATE TABLE bookmarks (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    codebase_id uuid NOT NULL REFERENCES codebases ON DELETE CASCADE,
    created_at timestamptz NOT NULL,
    CONSTRAINT bookmarks_once UNIQUE (user_id, codebase_id)
);
CREATE INDEX bookmarks_of_user ON bookmarks (user_id, id DESC);
CREATE INDEX bookmarks_codebase ON bookmarks (codebase_id);

-- How jobs of both services ended.  units: what a completed one is billed, where somebody pays.
CREATE VIEW job_records AS
SELECT id, 'analysis' AS service, status, started_at, completed_at, least(total_tests, 1) AS units FROM analyses
UNION ALL
SELECT id, 'specview', status, started_at, completed_at, units FROM spec_documents;
