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
