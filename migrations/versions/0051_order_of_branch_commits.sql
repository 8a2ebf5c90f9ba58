-- Where a commit stands among those of the default branch, and when HEAD was last looked at for that.
ALTER TABLE branch_commits ADD COLUMN ordered_at timestamptz;
ALTER TABLE codebases ADD COLUMN looked_at timestamptz;
COMMENT ON COLUMN branch_commits.ordered_at IS
    'of a member: when it was made, but later than all members that it descends from; else NULL';
COMMENT ON COLUMN codebases.looked_at IS 'when a worker last began to judge commits by the history of HEAD';
