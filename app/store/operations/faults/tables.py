"""Faults of the server's upkeep: dead rows, indexes that are larger than their entries, old statistics."""

from __future__ import annotations

from sqlalchemy import text

# Autovacuum begins at a fifth of a table, or at a tenth of the broker's, and looks each minute.  Dead rows that are
# half of it and are not removed within ten minutes, or many more than it has rows, stay because something keeps them.
DEAD_ROWS = text("""
    SELECT s.relname AS "table", s.n_live_tup AS live, s.n_dead_tup AS dead,
           greatest(s.last_vacuum, s.last_autovacuum) AS vacuumed_at, pg_total_relation_size(s.relid) AS bytes
      FROM pg_stat_user_tables s
     WHERE s.schemaname = current_schema() AND s.n_dead_tup > :rows + s.n_live_tup / 2
       AND (coalesce(greatest(s.last_vacuum, s.last_autovacuum) < clock_timestamp() - interval '10 minutes', true)
            OR s.n_dead_tup > 20 * :rows + 2 * s.n_live_tup)
     ORDER BY s.n_dead_tup DESC LIMIT :most""")

# No row that such a transaction may still see can be removed.
OLD_TRANSACTIONS = text("""
    SELECT pid, application_name AS program, state, xact_start AS since FROM pg_stat_activity
     WHERE xact_start < clock_timestamp() - interval '10 minutes' AND datname = current_database()
       AND backend_type = 'client backend' ORDER BY xact_start LIMIT :most""")

# An entry takes 20 bytes and the width of its columns, and pages are about seven tenths full in an index of random ids.
# The widths are those of the last ANALYZE, and so nothing is known of a table that has changed much since.
LARGE_INDEXES = text("""
    SELECT i.relname AS "index", t.relname AS "table", pg_relation_size(i.oid) AS bytes, needed.bytes AS needed
      FROM pg_index x
      JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class t ON t.oid = x.indrelid
      JOIN pg_am a ON a.oid = i.relam AND a.amname = 'btree'
      JOIN pg_stat_user_tables s ON s.relid = t.oid
     CROSS JOIN LATERAL (
           SELECT ceil(i.reltuples * (20 + sum(coalesce(w.avg_width, 16))) / 0.7)::bigint + 65536 AS bytes
             FROM pg_attribute c
             LEFT JOIN pg_attribute o ON o.attrelid = t.oid AND o.attnum = x.indkey[c.attnum - 1]
             LEFT JOIN pg_stats w ON w.schemaname = current_schema()
                   AND w.tablename = CASE WHEN o.attname IS NULL THEN i.relname ELSE t.relname END
                   AND w.attname = coalesce(o.attname, c.attname)
            WHERE c.attrelid = i.oid AND c.attnum > 0) needed
     WHERE i.relnamespace = current_schema()::regnamespace AND x.indisvalid AND i.reltuples >= 0
       AND pg_relation_size(i.oid) > :bytes AND pg_relation_size(i.oid) > 2 * needed.bytes
       AND s.n_mod_since_analyze < 10000 + t.reltuples / 5
     ORDER BY pg_relation_size(i.oid) DESC LIMIT :most""")

# Autovacuum analyzes after a change of a tenth of the rows.
OLD_STATISTICS = text("""
    SELECT s.relname AS "table", greatest(c.reltuples, 0)::bigint AS rows, s.n_mod_since_analyze AS changed,
           greatest(s.last_analyze, s.last_autoanalyze) AS analyzed_at
      FROM pg_stat_user_tables s JOIN pg_class c ON c.oid = s.relid
     WHERE s.schemaname = current_schema() AND s.n_mod_since_analyze > :rows + greatest(c.reltuples, 0) / 5
       AND coalesce(greatest(s.last_analyze, s.last_autoanalyze) < clock_timestamp() - interval '10 minutes', true)
     ORDER BY s.n_mod_since_analyze DESC LIMIT :most""")

# An index that is being built is not valid yet.
INDEXES = text("""
    SELECT c.relname AS name, t.relname AS "table", x.indisvalid AND x.indisready AND x.indislive AS is_valid,
           EXISTS (SELECT FROM pg_stat_progress_create_index p WHERE p.index_relid = x.indexrelid
                       OR (p.relid = x.indrelid AND p.index_relid = 0)) AS is_built,
           NOT EXISTS (SELECT FROM pg_index y
                        WHERE y.indrelid = x.indrelid AND y.indexrelid > x.indexrelid) AS is_newest
      FROM pg_index x JOIN pg_class c ON c.oid = x.indexrelid JOIN pg_class t ON t.oid = x.indrelid
     WHERE c.relnamespace = current_schema()::regnamespace""")

TABLES = text("""
    SELECT relname AS name, pg_has_role(relowner, 'USAGE') AS is_owned FROM pg_class
     WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')""")

# Beat makes each part two months before it is needed.
MONTHS = text("""
    SELECT to_char(m.begins AT TIME ZONE 'UTC', 'YYYY-MM') AS month, 'has no part' AS fault,
           CAST(NULL AS bigint) AS deliveries
      FROM generate_series(date_trunc('month', now(), 'UTC'), now() + interval '1 month', interval '1 month') m(begins)
     WHERE NOT EXISTS (SELECT FROM partition_bounds('webhook_deliveries') b
                        WHERE b.begins < m.begins + interval '1 month' AND b.ends > m.begins)
    UNION ALL
    SELECT to_char(happened_at AT TIME ZONE 'UTC', 'YYYY-MM'), 'is in the part for what is in no other', count(*)
      FROM webhook_deliveries_default GROUP BY 1 ORDER BY 1 LIMIT :most""")

EXTENSIONS = text("""
    SELECT e.extname AS name, quote_ident(n.nspname) AS schema
      FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace""")
