-- The names of kombu's own SQLAlchemy transport, for its producers, and for statements of the release before.
--
-- They were tables until version 8.  Now they are views, and all that is written through them is put where it belongs by
-- triggers.  Nothing in this package reads them, so a database without stock producers does not need them:
-- `schema.add_stock_names` makes them, and an upgrade from a version where they were tables.  They are not for consumers
-- of kombu's own transport: a lock of a message keeps no claim from it.

CREATE OR REPLACE VIEW kombu_queue AS SELECT id, name, paused_at, rank_floor FROM durable_queue;

CREATE OR REPLACE VIEW kombu_message AS
SELECT m.id,
       (SELECT true FROM durable_ready AS r WHERE r.id = m.id) IS NOT NULL AS visible,
       NULL::timestamp AS timestamp,        -- kombu's own, as `version`
       m.payload, 1::smallint AS version, m.queue_id, m.task_id, m.tenant AS user_id, m.unique_key,
       coalesce((SELECT r.since FROM durable_ready AS r WHERE r.id = m.id),
                (SELECT w.due_at FROM durable_waiting AS w WHERE w.id = m.id),
                (SELECT l.until FROM durable_lease AS l WHERE l.id = m.id)) AS visible_at,
       (SELECT w.reason FROM durable_waiting AS w WHERE w.id = m.id) AS delay_reason,
       coalesce((SELECT r.rank FROM durable_ready AS r WHERE r.id = m.id),
                (SELECT l.rank FROM durable_lease AS l WHERE l.id = m.id)) AS rank,
       m.step AS rank_step,
       (SELECT durable_lease_token(l.id) FROM durable_lease AS l WHERE l.id = m.id) AS lease_token,
       (SELECT l.node FROM durable_lease AS l WHERE l.id = m.id) AS lease_owner,
       (SELECT l.started_at FROM durable_lease AS l WHERE l.id = m.id) AS started_at,
       m.delivery_count + (SELECT count(*) FROM durable_lease AS l WHERE l.id = m.id)::integer AS delivery_count,
       m.retry_count, m.snooze_count, m.lost_count, m.cancel_requested_at, m.enqueued_at
  FROM durable_message AS m;

-- Publish what a stock producer inserted.  Its task id, tenant, due time and priority are in the payload.  What cannot
-- be read, or is no name for an index, is made ready as it is: a worker will find out, and bury it.
CREATE OR REPLACE FUNCTION kombu_message_publish_stock(
    queue_name text, body text, task text, of_tenant text, key text, step integer
) RETURNS bigint
LANGUAGE plpgsql {settings} AS $$
DECLARE
    headers json;
    delay double precision;
BEGIN
    IF queue_name IS NULL THEN
        RAISE EXCEPTION 'there is no queue of this queue_id' USING errcode = 'foreign_key_violation';
    END IF;
    BEGIN
        headers := body::json -> 'headers';
        delay := nullif(greatest(0, extract(epoch FROM (headers ->> 'eta')::timestamptz - clock_timestamp())), 0);
        IF length(headers ->> 'id') > 500 OR length(headers ->> 'tenant') > 500
           OR (headers ->> 'eta')::timestamptz >= '9999-12-31' THEN
            RAISE data_exception;
        END IF;
        task := coalesce(task, headers ->> 'id');
        of_tenant := coalesce(of_tenant, headers ->> 'tenant');
    EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
        delay := NULL;
    END;
    RETURN durable_publish(queue_name, body, task, of_tenant, key, delay, step,
                           queue_name || coalesce(E'\t' || round(delay::numeric, 3), ''),
                           priority => durable_priority(body));
END $$;

-- Put a message where its columns say that it stands: `leased` if it has a token, ready if it is visible, else waiting.
CREATE OR REPLACE FUNCTION kombu_message_stand(m record) RETURNS void LANGUAGE plpgsql {settings} AS $$
DECLARE
    place bigint := coalesce(m.rank, durable_rank(m.queue_id, m.user_id, m.rank_step));
    urgency smallint := (SELECT d.priority FROM durable_message AS d WHERE d.id = m.id);
BEGIN
    DELETE FROM durable_ready WHERE id = m.id;
    DELETE FROM durable_lease WHERE id = m.id;
    DELETE FROM durable_waiting WHERE id = m.id;
    IF m.lease_token IS NOT NULL THEN
        INSERT INTO durable_lease (id, queue_id, rank, token, node, until, started_at)
        VALUES (m.id, m.queue_id, place, m.lease_token, m.lease_owner, coalesce(m.visible_at, clock_timestamp()),
                m.started_at);
    ELSIF m.visible OR m.delay_reason = 'limited' THEN  -- which meets its limit again
        INSERT INTO durable_ready (id, queue_id, tenant, rank, since, priority)
        VALUES (m.id, m.queue_id, coalesce(m.user_id, ''), place, coalesce(m.visible_at, clock_timestamp()), urgency);
    ELSE
        INSERT INTO durable_waiting (id, queue_id, tenant, reason, due_at, priority)
        VALUES (m.id, m.queue_id, coalesce(m.user_id, ''), coalesce(m.delay_reason, 'eta'),
                CASE WHEN m.delay_reason IS DISTINCT FROM 'parked' THEN coalesce(m.visible_at, clock_timestamp()) END,
                urgency);
    END IF;
END $$;

-- It runs with the rights of the tables' owner: a stock producer needs a right on the view only.
--
-- A statement that waited for a message has its row of before.  So the message is kept and read anew: if it has changed
-- its lease or its state, nothing is changed and no row counted; else those columns are that the statement changes.
CREATE OR REPLACE FUNCTION kombu_message_write() RETURNS trigger LANGUAGE plpgsql {definer} AS $$
DECLARE
    stored bigint;
    mine kombu_message;
    changed jsonb;
    ended integer;
BEGIN
    IF TG_RELID <> 'kombu_message'::regclass THEN
        RAISE EXCEPTION '% writes what is written through kombu_message only', TG_NAME
              USING errcode = 'insufficient_privilege';
    END IF;
    IF TG_OP = 'INSERT' THEN
        NEW.id := coalesce(NEW.id, nextval('message_id_sequence'));
        NEW.visible := coalesce(NEW.visible, true);
        NEW.rank_step := coalesce(NEW.rank_step, 100);
        IF NEW.visible AND NEW.rank IS NULL AND NEW.visible_at IS NULL AND NEW.lease_token IS NULL THEN
            stored := kombu_message_publish_stock((SELECT name FROM durable_queue WHERE id = NEW.queue_id), NEW.payload,
                                                  NEW.task_id, NEW.user_id, NEW.unique_key, NEW.rank_step);
            IF stored IS NULL AND NEW.task_id IS NOT NULL THEN
                RETURN NULL;
            END IF;
            NEW.id := coalesce(stored, NEW.id);  -- of a task that is there already the stock producer hears nothing
            RETURN NEW;
        END IF;
        INSERT INTO durable_message AS m
               (id, payload, queue_id, task_id, tenant, unique_key, step, delivery_count, retry_count, snooze_count,
                lost_count, cancel_requested_at, enqueued_at)
        VALUES (NEW.id, NEW.payload, NEW.queue_id, NEW.task_id, NEW.user_id, NEW.unique_key, NEW.rank_step,
                coalesce(NEW.delivery_count - (NEW.lease_token IS NOT NULL)::integer, 0), coalesce(NEW.retry_count, 0),
                coalesce(NEW.snooze_count, 0), coalesce(NEW.lost_count, 0), NEW.cancel_requested_at,
                coalesce(NEW.enqueued_at, clock_timestamp()))
        ON CONFLICT DO NOTHING RETURNING m.id INTO stored;
        IF stored IS NULL THEN
            RETURN NULL;
        END IF;
        PERFORM kombu_message_stand(NEW);
        RETURN NEW;
    END IF;
    IF TG_OP = 'UPDATE' AND NEW.id IS DISTINCT FROM OLD.id THEN  -- the message of that id would be overwritten
        RAISE EXCEPTION 'the id of a message may not be changed' USING errcode = 'feature_not_supported';
    END IF;
    IF durable_keep(OLD.id, TG_OP = 'DELETE') IS DISTINCT FROM OLD.lease_token THEN
        RETURN NULL;
    ELSIF TG_OP = 'DELETE' THEN
        RETURN CASE WHEN durable_drop(OLD.id) THEN OLD END;
    END IF;
    PERFORM FROM durable_lease WHERE id = OLD.id FOR NO KEY UPDATE;
    SELECT * INTO mine FROM kombu_message WHERE id = OLD.id;
    IF (mine.id, mine.visible, mine.delay_reason) IS DISTINCT FROM (OLD.id, OLD.visible, OLD.delay_reason) THEN
        RETURN NULL;
    END IF;
    IF NEW.payload IS DISTINCT FROM OLD.payload THEN
        mine.payload := NEW.payload;
    END IF;
    NEW.payload := OLD.payload;
    SELECT jsonb_object_agg(n.key, n.value) INTO changed
      FROM jsonb_each(to_jsonb(NEW)) AS n JOIN jsonb_each(to_jsonb(OLD)) AS o USING (key) WHERE n.value <> o.value;
    mine := jsonb_populate_record(mine, coalesce(changed, '{}'));
    ended := mine.delivery_count - (mine.lease_token IS NOT NULL)::integer;
    UPDATE durable_message AS d
       SET payload = mine.payload, queue_id = mine.queue_id, task_id = mine.task_id, tenant = mine.user_id,
           unique_key = mine.unique_key, step = mine.rank_step, delivery_count = ended, retry_count = mine.retry_count,
           snooze_count = mine.snooze_count, lost_count = mine.lost_count,
           cancel_requested_at = mine.cancel_requested_at, enqueued_at = mine.enqueued_at
     WHERE d.id = mine.id AND (d.payload, d.queue_id, d.task_id, d.tenant, d.unique_key, d.step, d.delivery_count,
                               d.retry_count, d.snooze_count, d.lost_count, d.cancel_requested_at, d.enqueued_at)
           IS DISTINCT FROM (mine.payload, mine.queue_id, mine.task_id, mine.user_id, mine.unique_key, mine.rank_step,
                             ended, mine.retry_count, mine.snooze_count, mine.lost_count, mine.cancel_requested_at,
                             mine.enqueued_at);
    IF mine.lease_token IS NOT NULL AND mine.lease_token = OLD.lease_token THEN
        UPDATE durable_lease
           SET queue_id = mine.queue_id, rank = coalesce(mine.rank, rank), node = mine.lease_owner,
               until = mine.visible_at, started_at = mine.started_at
         WHERE id = mine.id;
    ELSIF NOT (mine.visible AND OLD.visible) OR (mine.rank, mine.visible_at, mine.queue_id, mine.user_id, mine.lease_token)
          IS DISTINCT FROM (OLD.rank, OLD.visible_at, OLD.queue_id, OLD.user_id, OLD.lease_token) THEN
        PERFORM kombu_message_stand(mine);   -- else it keeps its place, and what turn it has given away
    END IF;
    RETURN mine;
END $$;
REVOKE ALL ON FUNCTION kombu_message_write FROM PUBLIC;  -- else a trigger of anybody's might call it
CREATE OR REPLACE TRIGGER write INSTEAD OF INSERT OR UPDATE OR DELETE ON kombu_message
    FOR EACH ROW EXECUTE FUNCTION kombu_message_write();

-- Who may do something with the tables, or with columns of theirs, may do it with the names that they had.
DO $$
DECLARE
    one record;
BEGIN
    FOR one IN
        SELECT name, part, privilege_type AS act, bool_or(is_grantable) AS is_grantable,
               CASE WHEN grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END AS role
          FROM (SELECT oid, relname AS name, NULL::text AS part, relowner AS owner, relacl AS acl FROM pg_class
                UNION ALL
                SELECT attrelid, relname, CASE attname WHEN 'tenant' THEN 'user_id' WHEN 'step' THEN 'rank_step'
                                                       ELSE attname::text END, relowner, attacl
                  FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid WHERE NOT attisdropped) AS given
         CROSS JOIN LATERAL aclexplode(acl)
         WHERE oid IN ('durable_message'::regclass, 'durable_queue'::regclass) AND grantee <> owner
           AND privilege_type IN ('SELECT', 'INSERT', 'UPDATE', 'DELETE')
         GROUP BY name, part, privilege_type, grantee
    LOOP
        EXECUTE format('GRANT %s %s ON %I TO %s %s', one.act, '(' || quote_ident(one.part) || ')',
                       replace(one.name, 'durable_', 'kombu_'), one.role,
                       CASE WHEN one.is_grantable THEN 'WITH GRANT OPTION' END);
    END LOOP;
END $$;
