"""The rows of a service with 500 users: tables as full as the planner has to see them."""

FILL = (
    """INSERT INTO users (id, email, created_at)
       SELECT lpad(to_hex(n), 32, '0')::uuid, n || '@example.org', now() FROM generate_series(1, 500) n""",
    """INSERT INTO user_subscriptions (user_id, tier, anchor_at) SELECT id, 'pro', now() FROM users""",
    """INSERT INTO execution_slots (user_id, service, slot_no, slot_limit, job_id, lease_token, taken_at,
                                    lease_expires_at)
       SELECT id, 'analysis', 1, 1, gen_random_uuid(), gen_random_uuid(), now(), now() FROM users""",
    """INSERT INTO api_tokens (id, user_id, token_hash, prefix, name, scopes, created_at)
       SELECT gen_random_uuid(), lpad(to_hex(n), 32, '0')::uuid, convert_to('hash ' || n, 'UTF8'), 'fl_', '', '{read}',
              now() FROM generate_series(1, 500) n""",
    """INSERT INTO codebases (id, host, owner, name, created_at)
       SELECT lpad(to_hex(n), 32, '0')::uuid, 'github.com', 'acme', 'shop' || n, now() FROM generate_series(1, 500) n""",
    """INSERT INTO quota_reservations (user_id, event_type, reserved_amount, job_id, accepted_at, expires_at)
       SELECT lpad(to_hex(1 + n % 500), 32, '0')::uuid, (ARRAY['analysis', 'specview'])[1 + n % 2]::usage_event_type, 1,
              gen_random_uuid(), now(), now() + interval '1 h' FROM generate_series(1, 6000) n""",
    """INSERT INTO usage_events (user_id, event_type, quota_amount, job_id, resource_id, accepted_at, created_at)
       SELECT lpad(to_hex(1 + n % 500), 32, '0')::uuid, 'analysis', 1, gen_random_uuid(), gen_random_uuid(),
              now() - n * interval '1 min', now() FROM generate_series(1, 8000) n""",
    """INSERT INTO kombu_message (queue_id, payload, task_id, user_id, unique_key, visible, visible_at, delay_reason)
       SELECT 1 + n % 6, repeat('x', 200), lpad(to_hex(n), 32, '0')::uuid, lpad(to_hex(1 + n % 500), 32, '0')::uuid,
              'analysis:' || n, n % 3 = 0, CASE WHEN n % 3 > 0 THEN now() + interval '30 s' END,
              CASE n % 3 WHEN 1 THEN 'snooze' WHEN 2 THEN 'eta' END FROM generate_series(1, 6000) n""",
    """INSERT INTO kombu_message (queue_id, payload, task_id, user_id, visible, visible_at, lease_token)
       SELECT 1 + n % 6, repeat('x', 200), lpad(to_hex(n), 32, '0')::uuid, lpad(to_hex(1 + n % 500), 32, '0')::uuid,
              false, now() + interval '15 s', gen_random_uuid() FROM generate_series(6001, 8000) n""",
    """INSERT INTO analyses (id, codebase_id, commit_sha, status, parser_version, attempt, started_at, completed_at,
                             total_tests)
       SELECT lpad(to_hex(n), 32, '0')::uuid, lpad(to_hex(1 + n % 500), 32, '0')::uuid, lpad(to_hex(n), 40, '0'),
              'completed', '1', 1, now(), now(), 1 FROM generate_series(1, 4000) n""",
    """INSERT INTO analyses (id, codebase_id, commit_sha, status, parser_version, attempt, started_at, completed_at,
                             error_code, error_message)
       SELECT lpad(to_hex(10000 + n), 32, '0')::uuid, lpad(to_hex(1 + n % 500), 32, '0')::uuid, lpad(to_hex(n), 40, '0'),
              'failed', '2', 1, now() - n * interval '1 h', now() - n * interval '1 h', 'timed_out', 'It took too long'
         FROM generate_series(1, 2000) n""",
    """INSERT INTO branch_commits (codebase_id, commit_sha, is_member, ordered_at, seen_at)
       SELECT codebase_id, commit_sha, true, completed_at, now() FROM analyses WHERE status = 'completed'""",
    """INSERT INTO file_lists (digest, size) SELECT decode(md5(n::text), 'hex'), 16 FROM generate_series(1, 5000) n""",
    """INSERT INTO file_list_entries (file_list_id, position, path, skipped)
       SELECT l.id, n, 'test_' || l.id * 16 + n || '.py', 'binary' FROM file_lists l, generate_series(1, 16) n""",
    """INSERT INTO analysis_file_lists (analysis_id, last_ordinal, first_ordinal, file_list_id)
       SELECT lpad(to_hex(a), 32, '0')::uuid, 16 * n, 16 * n - 15, 1 + (10 * (a / 50) + n) % 5000
         FROM generate_series(1, 4000) a, generate_series(1, 10) n""",
    """INSERT INTO file_inventories (blob_id, parser_version, digest, framework, tests, total_tests)
       SELECT n, '1', decode(md5(n::text), 'hex'), 'pytest', '[]', 1 FROM generate_series(1, 2000) n""",
    """INSERT INTO webhooks (id, user_id, url, description, events, secret, created_at)
       SELECT lpad(to_hex(n), 32, '0')::uuid, lpad(to_hex(1 + n % 500), 32, '0')::uuid, 'https://example.org/', '',
              '{analysis.completed}', 'x', now() FROM generate_series(1, 5000) n""",
    """INSERT INTO webhook_deliveries (webhook_id, event_id, job_id, type, happened_at, status, due_at)
       SELECT lpad(to_hex(1 + n % 5000), 32, '0')::uuid, n, gen_random_uuid(), 'analysis.completed', now(),
              CASE WHEN n % 400 = 0 THEN 'pending' ELSE 'delivered' END, CASE WHEN n % 400 = 0 THEN now() END
         FROM generate_series(1, 20000) n""",
    """INSERT INTO spec_documents (id, user_id, codebase_id, commit_sha, analysis_id, language, mode, generator, version,
                                   status, attempt, started_at, completed_at, summary, units)
       SELECT lpad(to_hex(6000 + n), 32, '0')::uuid, lpad(to_hex(1 + n % 500), 32, '0')::uuid,
              lpad(to_hex(1 + n % 500), 32, '0')::uuid, 'c', lpad(to_hex(n), 32, '0')::uuid, 'en', 'initial', 'g', 1,
              'completed', 1, now(), now(), '{}', 1 FROM generate_series(1, 4000) n""",
    """INSERT INTO spec_words (key, codebase_id, words, is_paid)
       SELECT decode(md5(n::text), 'hex'), lpad(to_hex(1 + n % 500), 32, '0')::uuid, '"x"', true
         FROM generate_series(1, 20000) n""",
    """INSERT INTO analysis_requests (job_id, user_id, role, codebase_id, commit_sha, trigger, queue, requested_at)
       SELECT lpad(to_hex(n), 32, '0')::uuid, lpad(to_hex(1 + n % 500), 32, '0')::uuid, 'payer',
              lpad(to_hex(1 + n % 500), 32, '0')::uuid, 'c', 'user', 'analysis_default', now()
         FROM generate_series(1, 6000) n""",
    """INSERT INTO job_events (job_id, event)
       SELECT lpad(to_hex(1 + n % 4000), 32, '0')::uuid, 'started' FROM generate_series(1, 8000) n""",
    """INSERT INTO job_events (job_id, event, at)
       SELECT lpad(to_hex(1 + n % 4000), 32, '0')::uuid, 'snoozed', now() - n * interval '1 min'
         FROM generate_series(1, 8000) n""",
    """INSERT INTO idempotency_keys (user_id, key, fingerprint, status, body, created_at)
       SELECT lpad(to_hex(1 + n % 500), 32, '0')::uuid, n, 'x', 202, '{}', now() FROM generate_series(1, 4000) n""",
)
