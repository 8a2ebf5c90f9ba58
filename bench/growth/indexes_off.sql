-- Rows are added in half of the time or less when `indexes_on.sql` builds the indexes afterwards, of all rows at once.
UPDATE pg_index SET indisready = false, indisvalid = false
 WHERE indrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r');
