-- What the analyses of `fill.sql` list: {files} different files with 100 tests each, ten in a list, and a list in each
-- analysis.  So a result has 1,000 tests, and results of one repository share theirs.  The contents of the first {contents}
-- files are stored again for the others, as they are compressed: to make them takes longer than all the rest.
SET session_replication_role = replica;
SET synchronous_commit = off;
SET maintenance_work_mem = '1GB';
INSERT INTO file_inventories (blob_id, parser_version, digest, framework, tests, total_tests)
SELECT md5('blob ' || n) || 'a1b2c3d4', '1', sha256(CAST('file ' || n AS bytea)), 'pytest',
       (SELECT jsonb_agg(jsonb_build_object(
                   'framework', 'pytest', 'suites', jsonb_build_array('Test' || n % 97), 'name', 'test_' || substr(md5(n || '-' || t), 1, 24),
                   'line', 5 * t, 'status', CASE WHEN t % 50 = 0 THEN 'skipped' ELSE 'active' END, 'kind', 'test', 'dynamic', false,
                   'cases', NULL, 'column', 1, 'end_line', 5 * t + 3, 'conditional', false))
          FROM generate_series(1, 100) t), 100
  FROM generate_series(1, {contents}) n;
INSERT INTO file_inventories (blob_id, parser_version, digest, framework, tests, total_tests)
SELECT md5('blob ' || n) || 'a1b2c3d4', '1', sha256(CAST('file ' || n AS bytea)), 'pytest', f.tests, 100
  FROM generate_series({contents} + 1, {files}) n JOIN file_inventories f ON f.id = 1 + n % {contents} ORDER BY n;
INSERT INTO file_lists (digest, size) SELECT sha256(CAST('list ' || n AS bytea)), 10 FROM generate_series(1, {files} / 10) n;
INSERT INTO file_list_entries (file_list_id, position, path, file_inventory_id)
SELECT (n - 1) / 10 + 1, (n - 1) % 10 + 1, 'tests/part_' || (n - 1) % 10 || '/test_' || n || '.py', n FROM generate_series(1, {files}) n;
INSERT INTO analysis_file_lists (analysis_id, last_ordinal, first_ordinal, file_list_id)
SELECT id, 10, 1, 1 + abs(hashtext(CAST(codebase_id AS text))::bigint) % ({files} / 10) FROM analyses;
UPDATE analyses SET total_tests = 1000, summary = jsonb_build_object(
           'files', 10, 'suites', 10, 'tests', 1000, 'by_status', jsonb_build_object('active', 980, 'skipped', 20),
           'by_framework', jsonb_build_object('pytest', 1000), 'by_directory', jsonb_build_object('tests', 1000));
-- nine of ten commits are on the default branch
INSERT INTO branch_commits (codebase_id, commit_sha, is_member, seen_at, ordered_at)
SELECT codebase_id, commit_sha, true, completed_at, completed_at FROM analyses WHERE abs(hashtext(commit_sha)) % 10 > 0
    ON CONFLICT DO NOTHING;
VACUUM FULL analyses;
VACUUM ANALYZE;
