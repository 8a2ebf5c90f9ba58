-- The functions of versions 4 to 7, by their names and with their arguments, for processes of the release before that
-- run while the database is upgraded, and after it.  Also those that only functions called: one that waited for the
-- upgrade goes on with its text of before.

CREATE OR REPLACE FUNCTION kombu_message_publish(
    queue_name text, body text, task text, flow text, key text, delay double precision, step integer, hint text,
    most_ready integer DEFAULT NULL
) RETURNS bigint
LANGUAGE sql {definer} AS $$
    SELECT {schema}durable_publish(queue_name, body, task, flow, key, delay, step, hint, most_ready,
                                   {schema}durable_priority(body))
$$;
CREATE OR REPLACE FUNCTION kombu_message_publish_many(
    queues text[], bodies text[], tasks text[], users text[], keys text[], delays double precision[], steps integer[]
) RETURNS TABLE (stored_task text, stored_queue text)
LANGUAGE sql {definer} AS $$
    WITH others AS MATERIALIZED (
        SELECT {schema}durable_publish_many(queues, bodies, tasks, users, keys, delays, steps, ARRAY(
            SELECT {schema}durable_priority(one.body) FROM unnest(bodies) WITH ORDINALITY AS one (body, place)
             ORDER BY one.place)) AS place)
    SELECT one.task, one.queue FROM unnest(tasks, queues) WITH ORDINALITY AS one (task, queue, place)
     WHERE one.place NOT IN (SELECT others.place FROM others)
$$;
CREATE OR REPLACE FUNCTION kombu_message_in_the_way(queue_name text, task text, key text)
RETURNS TABLE (task_id text, is_leased boolean, is_same boolean)
LANGUAGE sql STABLE {definer} AS $$ SELECT * FROM {schema}durable_in_the_way(queue_name, task, key) $$;
CREATE OR REPLACE FUNCTION kombu_queue_add(queue_name text) RETURNS void
LANGUAGE sql {definer} AS $$ SELECT {schema}durable_queue_add(queue_name) $$;
CREATE OR REPLACE FUNCTION kombu_queue_exists(queue_name text) RETURNS boolean
LANGUAGE sql STABLE {definer} AS $$ SELECT {schema}durable_queue_exists(queue_name) $$;
CREATE OR REPLACE FUNCTION kombu_queue_size(queue_name text) RETURNS bigint
LANGUAGE sql STABLE {definer} AS $$ SELECT {schema}durable_queue_size(queue_name) $$;
CREATE OR REPLACE FUNCTION kombu_message_retry(
    task text, token uuid, queue_name text, body text, delay double precision, snooze boolean, park boolean,
    seconds double precision, hint text
) RETURNS bigint
LANGUAGE sql AS $$ SELECT {schema}durable_retry(task, token, queue_name, body, delay, snooze, park, seconds, hint) $$;
CREATE OR REPLACE FUNCTION kombu_message_park(
    queue_name text, flow text, seconds double precision, task text DEFAULT NULL
) RETURNS integer
LANGUAGE sql AS $$ SELECT {schema}durable_park(queue_name, flow, seconds, task) $$;
CREATE OR REPLACE FUNCTION kombu_message_wake(
    which integer, flow text, most integer, step integer DEFAULT NULL
) RETURNS SETOF text
LANGUAGE sql AS $$ SELECT * FROM {schema}durable_wake(which, flow, most, step) $$;
CREATE OR REPLACE FUNCTION kombu_message_claim(
    queue_name text, most integer, owner bigint, lease double precision, from_rank bigint, sleep integer
) RETURNS TABLE (
    message_id bigint, token text, body text, deliveries integer, retries integer, snoozes integer,
    losses integer, place bigint)
LANGUAGE sql AS $$ SELECT * FROM {schema}durable_claim(queue_name, most, owner, lease, from_rank, sleep) $$;
CREATE OR REPLACE FUNCTION kombu_message_lease(
    which integer, most integer, owner bigint, lease double precision, from_rank bigint
) RETURNS TABLE (
    message_id bigint, token text, body text, deliveries integer, retries integer, snoozes integer,
    losses integer, place bigint)
LANGUAGE sql AS $$
    SELECT t.* FROM {schema}durable_queue AS q CROSS JOIN LATERAL {schema}durable_take(q.id, most, owner, lease, from_rank) AS t
     WHERE q.id = which AND NOT q.has_limits
$$;
CREATE OR REPLACE FUNCTION kombu_message_settle(
    done bigint[], done_tokens uuid[], others bigint[], tokens uuid[], hows text[], careful boolean
) RETURNS bigint[]
LANGUAGE sql AS $$ SELECT {schema}durable_settle(done, done_tokens, others, tokens, hows, careful) $$;
CREATE OR REPLACE FUNCTION kombu_message_give_back(ids bigint[], tokens uuid[], how text) RETURNS void
LANGUAGE sql AS $$ SELECT {schema}durable_give_back(ids, tokens, how) $$;
CREATE OR REPLACE FUNCTION kombu_message_leave(me bigint) RETURNS void
LANGUAGE sql AS $$ SELECT {schema}durable_leave(me) $$;
CREATE OR REPLACE FUNCTION kombu_message_judge(
    me bigint, settled boolean, after double precision, OUT others boolean, OUT doubted boolean, OUT moved integer,
    OUT ago double precision
)
LANGUAGE sql AS $$ SELECT * FROM {schema}durable_judge(me, settled, after) $$;
CREATE OR REPLACE FUNCTION kombu_message_poll(
    queues text[], me bigint, settled boolean, since timestamptz, prefetch_count integer DEFAULT NULL,
    OUT ready text[], OUT due double precision, OUT others boolean, OUT clock timestamptz
)
LANGUAGE sql AS $$ SELECT * FROM {schema}durable_poll(queues, me, settled, since, prefetch_count) $$;
CREATE OR REPLACE FUNCTION kombu_message_redrive(letters bigint[])
RETURNS TABLE (letter bigint, task text, outcome text)
LANGUAGE sql AS $$ SELECT * FROM {schema}durable_redrive(letters) $$;
CREATE OR REPLACE FUNCTION kombu_message_facts() RETURNS TABLE (
    queue text, paused boolean, ready bigint, oldest_seconds double precision, leased bigint, delayed bigint,
    snoozed bigint, parked bigint, dead bigint, estimated text[])
LANGUAGE sql STABLE AS $$ SELECT * FROM {schema}durable_facts() $$;
CREATE OR REPLACE FUNCTION kombu_message_groups(queue_name text, flow text, most integer) RETURNS TABLE (
    name text, ready bigint, oldest_seconds double precision, leased bigint, delayed bigint, parked bigint,
    estimated text[])
LANGUAGE sql STABLE AS $$ SELECT * FROM {schema}durable_groups(queue_name, flow, most) $$;
CREATE OR REPLACE FUNCTION kombu_message_rank(which integer, flow text, step integer) RETURNS bigint
LANGUAGE sql STABLE AS $$ SELECT {schema}durable_rank(which, flow, step) $$;
CREATE OR REPLACE FUNCTION kombu_message_place(which integer, lowest bigint, flow text, step integer) RETURNS bigint
LANGUAGE sql STABLE AS $$ SELECT {schema}durable_place(which, lowest, flow, step) $$;
CREATE OR REPLACE FUNCTION kombu_message_parks(
    which integer, flow text, most_ready integer, step integer, probe double precision
) RETURNS text
LANGUAGE sql AS $$ SELECT {schema}durable_parks(which, flow, most_ready, step, probe) $$;
CREATE OR REPLACE FUNCTION kombu_message_wanted(which integer) RETURNS boolean
LANGUAGE sql AS $$ SELECT {schema}durable_wanted(which) $$;
CREATE OR REPLACE FUNCTION kombu_message_sooner(delay double precision) RETURNS boolean
LANGUAGE sql STABLE AS $$ SELECT {schema}durable_sooner(delay) $$;
CREATE OR REPLACE FUNCTION kombu_message_transfer(message bigint, target integer) RETURNS integer
LANGUAGE sql AS $$ SELECT {schema}durable_transfer(message, target) $$;
CREATE OR REPLACE FUNCTION kombu_message_promote(
    which integer, since timestamptz, upto timestamptz, settled boolean, most integer
) RETURNS integer
LANGUAGE sql AS $$ SELECT {schema}durable_promote(which, since, upto, settled, most) $$;
CREATE OR REPLACE FUNCTION kombu_message_rescue(dead bigint, upto timestamptz, most integer) RETURNS integer
LANGUAGE sql AS $$ SELECT {schema}durable_rescue(dead, upto, most) $$;
CREATE OR REPLACE FUNCTION kombu_message_probe(which integer, upto timestamptz, most integer) RETURNS void
LANGUAGE sql AS $$ SELECT {schema}durable_probe(which, upto, most) $$;
CREATE OR REPLACE FUNCTION kombu_group_forget(which integer, flow text) RETURNS void
LANGUAGE sql AS $$ SELECT {schema}durable_group_forget(which, flow) $$;
-- Every message has its rank.
CREATE OR REPLACE FUNCTION kombu_message_take_in(which integer, most integer) RETURNS integer
LANGUAGE sql AS $$ SELECT 0 $$;

-- Those with the owner's rights are for publishers.
REVOKE ALL ON FUNCTION kombu_message_publish, kombu_message_publish_many, kombu_message_in_the_way, kombu_queue_add,
    kombu_queue_exists, kombu_queue_size FROM PUBLIC;
