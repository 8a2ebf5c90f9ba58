"""Faults of replication: standbys that are behind, and slots that nobody reads."""

from __future__ import annotations

from sqlalchemy import text

# Of a sender that the role may not see only the process is known.
HIDDEN = text("SELECT count(*) AS senders FROM pg_stat_replication WHERE state IS NULL HAVING count(*) > 0")

BEHIND = text("""
    WITH here AS (
        SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_receive_lsn() ELSE pg_current_wal_lsn() END AS lsn
    ), standbys AS (
        SELECT application_name AS standby, 'connected' AS how, sync_state,
               pg_wal_lsn_diff(here.lsn, flush_lsn)::bigint AS bytes_not_received,
               pg_wal_lsn_diff(here.lsn, replay_lsn)::bigint AS bytes_not_replayed
          FROM pg_stat_replication, here
         WHERE state IN ('streaming', 'catchup') AND application_name <> 'pg_basebackup'
        UNION ALL
        SELECT slot_name, 'not connected, its slot keeps the log for it', NULL,
               pg_wal_lsn_diff(here.lsn, restart_lsn)::bigint, pg_wal_lsn_diff(here.lsn, restart_lsn)::bigint
          FROM pg_replication_slots, here WHERE slot_type = 'physical' AND NOT active AND restart_lsn IS NOT NULL)
    SELECT * FROM standbys WHERE greatest(bytes_not_received, bytes_not_replayed) > :bytes
     ORDER BY bytes_not_replayed DESC LIMIT :most""")
