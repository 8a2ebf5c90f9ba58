-- Which analysed commits are on the default branch, as the history of HEAD said when it was last looked at.  A commit
-- of which nothing is known has no row.
CREATE TABLE branch_commits (
    codebase_id uuid NOT NULL REFERENCES codebases ON DELETE CASCADE,
    commit_sha text NOT NULL,
    is_member boolean NOT NULL,
    seen_at timestamptz NOT NULL,
    PRIMARY KEY (codebase_id, commit_sha)
);
COMMENT ON COLUMN branch_commits.seen_at IS 'when the branch was looked at; an older look changes nothing';
