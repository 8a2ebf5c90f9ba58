-- The indexes of a migrated database, with which `fairlane doctor` compares a database, and by which it mends one.
-- tools/indexes.py writes them as PostgreSQL says them; tests/contract/test_expected_indexes.py compares them.
CREATE UNIQUE INDEX alembic_version_pkc ON alembic_version USING btree (version_num); -- PRIMARY KEY
CREATE INDEX analyses_codebase ON analyses USING btree (codebase_id, completed_at DESC);
CREATE INDEX analyses_commit ON analyses USING btree (codebase_id, commit_sha, parser_version, started_at DESC);
CREATE INDEX analyses_commit_order ON analyses USING btree (codebase_id, COALESCE(committed_at, completed_at) DESC) WHERE status = 'completed'::analysis_status;
CREATE INDEX analyses_completed_at ON analyses USING btree (completed_at DESC) WHERE status = 'completed'::analysis_status;
CREATE INDEX analyses_duplicates ON analyses USING btree (duplicate_of) WHERE duplicate_of IS NOT NULL;
CREATE INDEX analyses_failed ON analyses USING btree (completed_at DESC) WHERE status = 'failed'::analysis_status;
CREATE UNIQUE INDEX analyses_one_result ON analyses USING btree (codebase_id, commit_sha, parser_version) WHERE status = 'completed'::analysis_status AND duplicate_of IS NULL;
CREATE UNIQUE INDEX analyses_pkey ON analyses USING btree (id); -- PRIMARY KEY
CREATE INDEX analysis_file_lists_list ON analysis_file_lists USING btree (file_list_id);
CREATE UNIQUE INDEX analysis_file_lists_pkey ON analysis_file_lists USING btree (analysis_id, last_ordinal); -- PRIMARY KEY
CREATE UNIQUE INDEX analysis_requests_accept ON analysis_requests USING btree (job_id) WHERE role = 'payer'::text;
CREATE INDEX analysis_requests_carried ON analysis_requests USING btree (job_id, carried_at DESC) WHERE carried_at IS NOT NULL;
CREATE INDEX analysis_requests_commit ON analysis_requests USING btree (codebase_id, commit_sha);
CREATE INDEX analysis_requests_history ON analysis_requests USING btree (user_id, id DESC);
CREATE UNIQUE INDEX analysis_requests_one_per_user ON analysis_requests USING btree (job_id, user_id) NULLS NOT DISTINCT;
CREATE UNIQUE INDEX analysis_requests_pkey ON analysis_requests USING btree (id); -- PRIMARY KEY
CREATE INDEX analysis_requests_when ON analysis_requests USING brin (requested_at);
CREATE INDEX api_tokens_parent ON api_tokens USING btree (parent_id) WHERE parent_id IS NOT NULL;
CREATE UNIQUE INDEX api_tokens_pkey ON api_tokens USING btree (id); -- PRIMARY KEY
CREATE UNIQUE INDEX api_tokens_token_hash_key ON api_tokens USING btree (token_hash); -- UNIQUE
CREATE INDEX api_tokens_user ON api_tokens USING btree (user_id);
CREATE UNIQUE INDEX arrivals_pkey ON arrivals USING btree (account_id, epoch); -- PRIMARY KEY
CREATE UNIQUE INDEX audit_log_pkey ON audit_log USING btree (id); -- PRIMARY KEY
CREATE UNIQUE INDEX backfills_pkey ON backfills USING btree (name); -- PRIMARY KEY
CREATE UNIQUE INDEX blob_facts_pkey ON blob_facts USING btree (blob_id, language, parser_version); -- PRIMARY KEY
CREATE INDEX bookmarks_codebase ON bookmarks USING btree (codebase_id);
CREATE INDEX bookmarks_of_user ON bookmarks USING btree (user_id, id DESC);
CREATE UNIQUE INDEX bookmarks_once ON bookmarks USING btree (user_id, codebase_id); -- UNIQUE
CREATE UNIQUE INDEX bookmarks_pkey ON bookmarks USING btree (id); -- PRIMARY KEY
CREATE INDEX branch_commits_newest ON branch_commits USING btree (codebase_id, ordered_at DESC NULLS LAST) WHERE is_member;
CREATE UNIQUE INDEX branch_commits_pkey ON branch_commits USING btree (codebase_id, commit_sha); -- PRIMARY KEY
CREATE UNIQUE INDEX codebases_address ON codebases USING btree (host, lower(owner), lower(name));
CREATE INDEX codebases_address_parts ON codebases USING gin (lower((((host || '/'::text) || owner) || '/'::text) || name) trigrams.gin_trgm_ops) WHERE NOT is_private;
CREATE UNIQUE INDEX codebases_external_id ON codebases USING btree (host, external_id) WHERE external_id IS NOT NULL;
CREATE UNIQUE INDEX codebases_pkey ON codebases USING btree (id); -- PRIMARY KEY
CREATE INDEX codebases_schedule ON codebases USING btree (host, last_viewed_at DESC, id DESC) WHERE NOT is_private;
CREATE INDEX codebases_viewed ON codebases USING btree (last_viewed_at) WHERE NOT is_private;
CREATE INDEX durable_lease_node ON durable_lease USING btree (node, until);
CREATE UNIQUE INDEX durable_lease_pkey ON durable_lease USING btree (id); -- PRIMARY KEY
CREATE INDEX durable_lease_until ON durable_lease USING btree (queue_id, until);
CREATE UNIQUE INDEX durable_limit_pkey ON durable_limit USING btree (id); -- PRIMARY KEY
CREATE UNIQUE INDEX durable_limit_scope ON durable_limit USING btree (queue_id, per_tenant, COALESCE(task, ''::text), COALESCE('='::text || tenant, ''::text)) WHERE seconds > 0::double precision;
CREATE INDEX durable_line_idle ON durable_line USING btree (queue_id, next_at) WHERE wake_at IS NULL;
CREATE INDEX durable_line_last ON durable_line USING btree (limit_id, tenant, next_at DESC);
CREATE INDEX durable_line_wake ON durable_line USING btree (queue_id, wake_at) WHERE wake_at IS NOT NULL;
CREATE UNIQUE INDEX durable_message_pkey ON durable_message USING btree (id); -- PRIMARY KEY
CREATE UNIQUE INDEX durable_message_task ON durable_message USING btree (task_id, queue_id) WHERE task_id IS NOT NULL;
CREATE UNIQUE INDEX durable_message_unique_key ON durable_message USING btree (unique_key) WHERE unique_key IS NOT NULL;
CREATE UNIQUE INDEX durable_queue_name_key ON durable_queue USING btree (name); -- UNIQUE
CREATE UNIQUE INDEX durable_queue_pkey ON durable_queue USING btree (id); -- PRIMARY KEY
CREATE INDEX durable_ready_order ON durable_ready USING btree (queue_id, rank, id);
CREATE UNIQUE INDEX durable_ready_pkey ON durable_ready USING btree (id); -- PRIMARY KEY, newest
CREATE INDEX durable_ready_prioritized ON durable_ready USING btree (queue_id, rank) WHERE priority IS NOT NULL;
CREATE INDEX durable_ready_priority ON durable_ready USING btree (queue_id, tenant, priority DESC, COALESCE(own_rank, rank), id) WHERE priority IS NOT NULL;
CREATE INDEX durable_ready_sample ON durable_ready USING btree (queue_id, hashint8(id)) INCLUDE (id, tenant) WHERE (hashint8(id) & 31) = 0;
CREATE INDEX durable_ready_tenant ON durable_ready USING btree (queue_id, tenant, rank, id);
CREATE INDEX durable_ready_tenant_sample ON durable_ready USING btree (queue_id, tenant, hashint8(id)) INCLUDE (id) WHERE (hashint8(id) & 31) = 0;
CREATE INDEX durable_waiting_due ON durable_waiting USING btree (queue_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX durable_waiting_line ON durable_waiting USING btree (line, rank, id) WHERE line IS NOT NULL;
CREATE INDEX durable_waiting_line_priority ON durable_waiting USING btree (line, tenant, priority DESC, id) WHERE line IS NOT NULL AND priority IS NOT NULL;
CREATE INDEX durable_waiting_line_tenant ON durable_waiting USING btree (line, tenant, rank) WHERE line IS NOT NULL;
CREATE UNIQUE INDEX durable_waiting_pkey ON durable_waiting USING btree (id); -- PRIMARY KEY, newest
CREATE INDEX durable_waiting_priority ON durable_waiting USING btree (queue_id, tenant, priority DESC, id) WHERE priority IS NOT NULL AND (reason = ANY (ARRAY['parked'::text, 'snooze'::text]));
CREATE INDEX durable_waiting_sample ON durable_waiting USING btree (queue_id, reason, hashint8(id)) INCLUDE (id, tenant) WHERE (hashint8(id) & 31) = 0;
CREATE INDEX durable_waiting_tenant ON durable_waiting USING btree (queue_id, reason, tenant, id);
CREATE INDEX durable_waiting_tenant_sample ON durable_waiting USING btree (queue_id, tenant, reason, hashint8(id)) INCLUDE (id) WHERE (hashint8(id) & 31) = 0;
CREATE UNIQUE INDEX event_totals_pkey ON event_totals USING btree (name, service, tier, code, bucket); -- PRIMARY KEY
CREATE UNIQUE INDEX execution_slots_job_id_key ON execution_slots USING btree (job_id); -- UNIQUE
CREATE UNIQUE INDEX execution_slots_pkey ON execution_slots USING btree (user_id, service, slot_no); -- PRIMARY KEY
CREATE UNIQUE INDEX file_inventories_blob_id_parser_version_digest_key ON file_inventories USING btree (blob_id, parser_version, digest); -- UNIQUE
CREATE UNIQUE INDEX file_inventories_pkey ON file_inventories USING btree (id); -- PRIMARY KEY
CREATE INDEX file_list_entries_inventory ON file_list_entries USING btree (file_inventory_id);
CREATE UNIQUE INDEX file_list_entries_pkey ON file_list_entries USING btree (file_list_id, "position"); -- PRIMARY KEY
CREATE UNIQUE INDEX file_lists_digest_key ON file_lists USING btree (digest); -- UNIQUE
CREATE UNIQUE INDEX file_lists_pkey ON file_lists USING btree (id); -- PRIMARY KEY
CREATE UNIQUE INDEX github_links_github_id_key ON github_links USING btree (github_id); -- UNIQUE
CREATE UNIQUE INDEX github_links_pkey ON github_links USING btree (user_id); -- PRIMARY KEY
CREATE UNIQUE INDEX host_clocks_pkey ON host_clocks USING btree (host, program); -- PRIMARY KEY
CREATE INDEX idempotency_keys_age ON idempotency_keys USING btree (created_at);
CREATE UNIQUE INDEX idempotency_keys_pkey ON idempotency_keys USING btree (user_id, key); -- PRIMARY KEY
CREATE INDEX job_events_job ON job_events USING btree (job_id, id);
CREATE UNIQUE INDEX job_events_pkey ON job_events USING btree (id); -- PRIMARY KEY
CREATE INDEX job_events_rare ON job_events USING btree (event, job_id) WHERE event = ANY (ARRAY['payer_came_back'::text, 'reservation_orphaned'::text]);
CREATE INDEX job_events_snoozed ON job_events USING btree (at) WHERE event = 'snoozed'::text;
CREATE INDEX job_events_when ON job_events USING brin (at);
CREATE INDEX kombu_broadcast_expired ON kombu_broadcast USING btree (expires_at);
CREATE INDEX kombu_broadcast_new ON kombu_broadcast USING btree (exchange, sent_by);
CREATE UNIQUE INDEX kombu_broadcast_pkey ON kombu_broadcast USING btree (id); -- PRIMARY KEY
CREATE UNIQUE INDEX kombu_dead_letter_pkey ON kombu_dead_letter USING btree (id); -- PRIMARY KEY
CREATE INDEX kombu_dead_letter_queue ON kombu_dead_letter USING btree (queue, id);
CREATE INDEX kombu_dead_letter_sample ON kombu_dead_letter USING btree (queue, hashint8(id)) INCLUDE (id) WHERE (hashint8(id) & 31) = 0;
CREATE UNIQUE INDEX kombu_group_pkey ON kombu_group USING btree (queue_id, name); -- PRIMARY KEY
CREATE UNIQUE INDEX kombu_judgement_pkey ON kombu_judgement USING btree (only_one); -- PRIMARY KEY
CREATE UNIQUE INDEX kombu_node_pkey ON kombu_node USING btree (lock); -- PRIMARY KEY
CREATE UNIQUE INDEX last_inventories_analysis_id_key ON last_inventories USING btree (analysis_id); -- UNIQUE
CREATE INDEX last_inventories_object ON last_inventories USING btree (object_id) WHERE object_id IS NOT NULL;
CREATE UNIQUE INDEX last_inventories_pkey ON last_inventories USING btree (codebase_id); -- PRIMARY KEY
CREATE UNIQUE INDEX model_circuits_pkey ON model_circuits USING btree (endpoint); -- PRIMARY KEY
CREATE UNIQUE INDEX model_days_pkey ON model_days USING btree (day); -- PRIMARY KEY
CREATE UNIQUE INDEX model_shares_pkey ON model_shares USING btree (user_id); -- PRIMARY KEY
CREATE UNIQUE INDEX one_time_secrets_pkey ON one_time_secrets USING btree (secret_hash); -- PRIMARY KEY
CREATE INDEX one_time_secrets_user ON one_time_secrets USING btree (user_id);
CREATE INDEX packed_facts_object ON packed_facts USING btree (object_id);
CREATE UNIQUE INDEX packed_facts_pkey ON packed_facts USING btree (blob_id, language, object_id); -- PRIMARY KEY
CREATE UNIQUE INDEX passkeys_credential_id_key ON passkeys USING btree (credential_id); -- UNIQUE
CREATE UNIQUE INDEX passkeys_pkey ON passkeys USING btree (id); -- PRIMARY KEY
CREATE INDEX passkeys_user ON passkeys USING btree (user_id);
CREATE UNIQUE INDEX passwords_pkey ON passwords USING btree (user_id); -- PRIMARY KEY
CREATE INDEX quota_reservations_expiry ON quota_reservations USING btree (expires_at);
CREATE UNIQUE INDEX quota_reservations_job_id_key ON quota_reservations USING btree (job_id); -- UNIQUE
CREATE UNIQUE INDEX quota_reservations_pkey ON quota_reservations USING btree (id); -- PRIMARY KEY
CREATE INDEX quota_reservations_sum ON quota_reservations USING btree (user_id, event_type) INCLUDE (reserved_amount);
CREATE UNIQUE INDEX rate_buckets_pkey ON rate_buckets USING btree (key); -- PRIMARY KEY
CREATE UNIQUE INDEX read_only_pkey ON read_only USING btree (only_row); -- PRIMARY KEY
CREATE UNIQUE INDEX reconciled_days_pkey ON reconciled_days USING btree (day); -- PRIMARY KEY
CREATE UNIQUE INDEX reconciliations_pkey ON reconciliations USING btree (id); -- PRIMARY KEY
CREATE UNIQUE INDEX schedule_entries_pkey ON schedule_entries USING btree (name); -- PRIMARY KEY
CREATE UNIQUE INDEX schedule_leader_pkey ON schedule_leader USING btree (only_one); -- PRIMARY KEY
CREATE UNIQUE INDEX schedule_runs_pkey ON schedule_runs USING btree (name, slot_at); -- PRIMARY KEY
CREATE UNIQUE INDEX schema_support_pkey ON schema_support USING btree (only_row); -- PRIMARY KEY
CREATE INDEX sessions_expiry ON sessions USING btree (expires_at);
CREATE UNIQUE INDEX sessions_pkey ON sessions USING btree (id_hash); -- PRIMARY KEY
CREATE INDEX sessions_user ON sessions USING btree (user_id);
CREATE UNIQUE INDEX sign_in_links_pkey ON sign_in_links USING btree (token_hash); -- PRIMARY KEY
CREATE INDEX sign_in_links_user ON sign_in_links USING btree (user_id);
CREATE UNIQUE INDEX sign_up_days_pkey ON sign_up_days USING btree (day); -- PRIMARY KEY
CREATE UNIQUE INDEX sign_up_networks_pkey ON sign_up_networks USING btree (day, network); -- PRIMARY KEY
CREATE INDEX spec_documents_codebase ON spec_documents USING btree (codebase_id, user_id, completed_at DESC);
CREATE INDEX spec_documents_completed_at ON spec_documents USING btree (completed_at DESC) WHERE status = 'completed'::analysis_status;
CREATE INDEX spec_documents_failed ON spec_documents USING btree (completed_at DESC) WHERE status = 'failed'::analysis_status;
CREATE UNIQUE INDEX spec_documents_pkey ON spec_documents USING btree (id); -- PRIMARY KEY
CREATE UNIQUE INDEX spec_documents_version ON spec_documents USING btree (user_id, analysis_id, language, version);
CREATE UNIQUE INDEX spec_features_pkey ON spec_features USING btree (document_id, draft, "position"); -- PRIMARY KEY
CREATE UNIQUE INDEX spec_requests_pkey ON spec_requests USING btree (job_id); -- PRIMARY KEY
CREATE INDEX spec_requests_user ON spec_requests USING btree (user_id, analysis_id);
CREATE UNIQUE INDEX spec_shares_document_id_key ON spec_shares USING btree (document_id); -- UNIQUE
CREATE UNIQUE INDEX spec_shares_pkey ON spec_shares USING btree (secret_hash); -- PRIMARY KEY
CREATE INDEX spec_words_codebase ON spec_words USING btree (codebase_id);
CREATE UNIQUE INDEX spec_words_pkey ON spec_words USING btree (key); -- PRIMARY KEY
CREATE INDEX spec_words_user ON spec_words USING btree (user_id) WHERE user_id IS NOT NULL;
CREATE UNIQUE INDEX stored_objects_digest_key ON stored_objects USING btree (digest); -- UNIQUE
CREATE UNIQUE INDEX stored_objects_pkey ON stored_objects USING btree (id); -- PRIMARY KEY
CREATE UNIQUE INDEX subscription_plans_pkey ON subscription_plans USING btree (tier); -- PRIMARY KEY
CREATE UNIQUE INDEX usage_events_job_id_key ON usage_events USING btree (job_id); -- UNIQUE
CREATE UNIQUE INDEX usage_events_pkey ON usage_events USING btree (id); -- PRIMARY KEY
CREATE INDEX usage_events_sum ON usage_events USING btree (user_id, event_type, accepted_at) INCLUDE (quota_amount);
CREATE INDEX usage_events_when ON usage_events USING brin (accepted_at);
CREATE UNIQUE INDEX usage_sums_pkey ON usage_sums USING btree (user_id, event_type, hour_at); -- PRIMARY KEY
CREATE UNIQUE INDEX user_subscriptions_one_active ON user_subscriptions USING btree (user_id) WHERE status = 'active'::text;
CREATE UNIQUE INDEX user_subscriptions_pkey ON user_subscriptions USING btree (id); -- PRIMARY KEY
CREATE UNIQUE INDEX users_email ON users USING btree (lower(email));
CREATE INDEX users_own_slot_limit ON users USING btree (slot_limit DESC, id) WHERE slot_limit IS NOT NULL;
CREATE UNIQUE INDEX users_pkey ON users USING btree (id); -- PRIMARY KEY
CREATE INDEX webhook_deliveries_due ON ONLY webhook_deliveries USING btree (webhook_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX webhook_deliveries_job ON ONLY webhook_deliveries USING btree (job_id);
CREATE INDEX webhook_deliveries_log ON ONLY webhook_deliveries USING btree (webhook_id, id DESC);
CREATE UNIQUE INDEX webhook_deliveries_once ON ONLY webhook_deliveries USING btree (webhook_id, event_id, happened_at); -- UNIQUE
CREATE UNIQUE INDEX webhook_deliveries_pkey ON ONLY webhook_deliveries USING btree (id, happened_at); -- PRIMARY KEY
CREATE INDEX webhooks_of_user ON webhooks USING btree (user_id, created_at);
CREATE UNIQUE INDEX webhooks_pkey ON webhooks USING btree (id); -- PRIMARY KEY
