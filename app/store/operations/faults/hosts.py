"""Faults between hosts: clocks and settings that differ."""

from __future__ import annotations

from sqlalchemy import text

CLOCKS = text("""
    SELECT host, program, round(ahead_seconds::numeric, 3)::float AS ahead_seconds, measured_at FROM host_clocks
     WHERE measured_at > clock_timestamp() - interval '15 minutes' AND abs(ahead_seconds) > :seconds
     ORDER BY abs(ahead_seconds) DESC LIMIT :most""")

# Each process writes digests of the settings that have to be equal (app/equal_settings.py).
SETTINGS = text("""
    WITH written AS (
        SELECT s.key AS setting, s.value AS digest, c.host || ' (' || c.program || ')' AS process, c.measured_at
          FROM host_clocks c CROSS JOIN LATERAL jsonb_each_text(c.settings) s
         WHERE c.measured_at > clock_timestamp() - interval '15 minutes')
    SELECT setting, digest, array_agg(process ORDER BY process) AS processes, max(measured_at) AS measured_at
      FROM written
     WHERE setting IN (SELECT setting FROM written GROUP BY setting HAVING count(DISTINCT digest) > 1)
     GROUP BY setting, digest ORDER BY setting, digest LIMIT :most""")
