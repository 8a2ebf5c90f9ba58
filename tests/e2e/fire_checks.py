"""Triggers that judge every commit: how many live slots it leaves a user, and whether a writer still holds the lease.

They only write down what they find, so that what they watch goes on as without them.  A slot can become live in two ways:
it is taken, or a message gets the token of a slot that is there; both are checked, when their transaction commits.
"""

from __future__ import annotations

from tests.conftest import World

#: Starts of one user queue up on the row of `users`.  Were that lock missing, two commits could pass each other unseen,
#: so the check has a lock of its own, taken when nothing else is left to be done.
INSTALL = """
CREATE UNLOGGED TABLE fire_commits (
    at timestamptz DEFAULT clock_timestamp(), how text, user_id uuid, service text, job_id uuid, lease_token uuid,
    live integer, slot_limit integer, tier_limit integer);
CREATE UNLOGGED TABLE fire_writes (
    at timestamptz DEFAULT clock_timestamp(), wrote text, job_id uuid, lease text, held boolean);

CREATE FUNCTION fire_count(slot execution_slots, how text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('fire'), hashtext(slot.user_id::text));
    INSERT INTO fire_commits (how, user_id, service, job_id, lease_token, live, slot_limit, tier_limit)
    SELECT how, slot.user_id, slot.service, slot.job_id, slot.lease_token, (
               SELECT count(*) FROM execution_slots s
                 JOIN kombu_message m ON m.task_id = s.job_id::text AND m.lease_token = s.lease_token
                WHERE s.user_id = slot.user_id AND s.service = slot.service),
           slot.slot_limit, p.concurrent_jobs
      FROM subscription_plans p
     WHERE p.tier = coalesce((SELECT tier FROM user_subscriptions WHERE user_id = slot.user_id AND status = 'active'),
                             'free');
END $$;

CREATE FUNCTION fire_taken() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM fire_count(NEW, 'taken');
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER fire_taken
    AFTER INSERT OR UPDATE OF user_id, service, slot_no, job_id, lease_token ON execution_slots
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION fire_taken();

CREATE FUNCTION fire_revived() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM fire_count(s, 'revived') FROM execution_slots s JOIN durable_message m ON m.task_id = s.job_id::text
      WHERE m.id = NEW.id AND s.lease_token = NEW.token;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER fire_revived AFTER INSERT OR UPDATE OF token ON durable_lease
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION fire_revived();

CREATE FUNCTION fire_wrote() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    job uuid := (to_jsonb(NEW) ->> TG_ARGV[0])::uuid;
BEGIN
    INSERT INTO fire_writes (wrote, job_id, lease, held)
    SELECT concat_ws(' ', lower(TG_OP), TG_TABLE_NAME, to_jsonb(NEW) ->> 'status'), job, lease, EXISTS (
               SELECT FROM kombu_message WHERE task_id = job::text AND lease_token::text = lease)
      FROM current_setting('fire.lease', true) AS lease;
    RETURN NULL;
END $$;
CREATE TRIGGER fire_wrote AFTER INSERT OR UPDATE ON analyses FOR EACH ROW EXECUTE FUNCTION fire_wrote('id');
CREATE TRIGGER fire_wrote AFTER INSERT OR UPDATE OF status ON spec_documents
    FOR EACH ROW EXECUTE FUNCTION fire_wrote('id');
CREATE TRIGGER fire_wrote AFTER INSERT ON usage_events FOR EACH ROW EXECUTE FUNCTION fire_wrote('job_id');
CREATE TRIGGER fire_wrote AFTER INSERT ON execution_slots FOR EACH ROW EXECUTE FUNCTION fire_wrote('job_id');
"""

#: A downgrade lets what runs go on, so only the commit that takes a slot is held to a limit: to the one it read, and to
#: the one in force when it commits.
ABOVE = "SELECT * FROM fire_commits WHERE live > least(slot_limit, tier_limit)"
STRAY = "SELECT wrote, job_id, lease, at FROM fire_writes WHERE held IS NOT TRUE"
#: A start whose commit nobody checked.
UNSEEN = """
    SELECT job_id FROM job_events WHERE event = 'started' GROUP BY job_id
    HAVING count(*) > (SELECT count(*) FROM fire_commits c WHERE c.job_id = job_events.job_id AND c.how = 'taken')"""
#: Slots whose worker is gone: no message has their token any more.
LEAKED = """
    SELECT s.lease_token FROM execution_slots s
     WHERE NOT EXISTS (SELECT FROM kombu_message m
                        WHERE m.task_id = s.job_id::text AND m.lease_token = s.lease_token)"""


def install(world: World) -> None:
    """Watch every commit from now on."""
    with world.uow.engine.begin() as connection:
        connection.exec_driver_sql(INSTALL)
        connection.exec_driver_sql("CREATE INDEX ON fire_commits (job_id)")


def missed(world: World) -> dict[str, list[dict[str, object]]]:
    """What was not as it must be, by kind; empty when all was."""
    kinds = {"above the limit": ABOVE, "written without the lease": STRAY, "not checked": UNSEEN}
    return {kind: rows for kind, query in kinds.items() if (rows := world.rows(query))}
