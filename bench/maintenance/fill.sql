-- A service's history: {jobs} completed analyses, {daily} of them in the last day, the others in the 64 days before, and
-- {repositories} repositories, viewed within 90 days, and {users} users.  Events are in the order of their times.
SET session_replication_role = replica;  -- neither foreign keys nor triggers
SET synchronous_commit = off;
SET maintenance_work_mem = '1GB';
SET work_mem = '512MB';
INSERT INTO users (id, email, created_at)
SELECT md5('user ' || n)::uuid, n || '@example.org', now() - interval '400 days' FROM generate_series(1, {users}) n;
INSERT INTO user_subscriptions (user_id, tier, anchor_at)
SELECT md5('user ' || n)::uuid, (ARRAY['free', 'pro', 'free', 'enterprise'])[1 + n % 4]::plan_tier,
       now() - interval '399 days' - n % 28 * interval '1 day' FROM generate_series(1, {users}) n;
INSERT INTO codebases (id, host, owner, name, created_at, last_viewed_at, checked_at)
SELECT md5('codebase ' || n)::uuid, (ARRAY['github.com', 'gitlab.com', 'codeberg.org'])[1 + n % 3], 'owner' || n % 5000, 'name' || n,
       now() - interval '200 days', now() - n % 90 * interval '1 day', now() - n % 48 * interval '1 hour'
  FROM generate_series(1, {repositories}) n;
CREATE UNLOGGED TABLE made AS
SELECT n, gen_random_uuid() AS job_id, md5('user ' || 1 + (n::bigint * 7919) % {users})::uuid AS user_id,
       md5('codebase ' || 1 + (n::bigint * 104729) % {repositories})::uuid AS codebase_id,
       (ARRAY['analysis_default', 'analysis_priority'])[1 + (n::bigint * 7919) % {users} % 2] AS queue,
       (ARRAY['free', 'pro'])[1 + (n::bigint * 7919) % {users} % 2]::plan_tier AS tier,
       now() - interval '1 minute' - CASE WHEN n > {jobs} - {daily} THEN ({jobs} - n) * interval '1 day' / {daily}
       ELSE interval '1 day' + ({jobs} - {daily} - n) * interval '64 days' / ({jobs} - {daily}) END AS at
  FROM generate_series(1, {jobs}) n;
INSERT INTO analysis_requests (job_id, user_id, role, codebase_id, commit_sha, trigger, queue, tier, requested_at,
                               retention_days)
SELECT job_id, user_id, 'payer', codebase_id, md5(n::text), 'user', queue, tier, at, 180 FROM made ORDER BY n;
INSERT INTO analyses (id, codebase_id, commit_sha, status, parser_version, attempt, started_at, completed_at,
                      total_tests)
SELECT job_id, codebase_id, md5(n::text), 'completed', '1', 1, at + interval '20 s', at + interval '50 s', 7
  FROM made ORDER BY n;
INSERT INTO usage_events (user_id, event_type, quota_amount, job_id, resource_id, accepted_at, created_at)
SELECT user_id, 'analysis', 1, job_id, job_id, at, at + interval '50 s' FROM made ORDER BY n;
INSERT INTO job_events (job_id, at, event, facts)
SELECT job_id, made.at + e.after * interval '1 s', e.event, CASE e.event WHEN 'accepted' THEN jsonb_build_object(
           'queue', queue, 'tier', tier, 'quota', jsonb_build_object('mode', 'enforce', 'units', 1, 'used', 3,
           'reserved', 0, 'limit', 1000, 'at', made.at)) WHEN 'started' THEN '{{"attempt": 1}}' ELSE '{{}}' END
  FROM made, (VALUES (0, 'accepted'), (20, 'started'), (50, 'completed')) e (after, event)
 ORDER BY made.at + e.after * interval '1 s';
DROP TABLE made;
VACUUM ANALYZE;
