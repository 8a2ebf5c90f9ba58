SET maintenance_work_mem = '1GB';
REINDEX SCHEMA public;
VACUUM ANALYZE;
