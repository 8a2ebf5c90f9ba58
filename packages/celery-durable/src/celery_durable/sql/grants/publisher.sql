-- What a role needs that only publishes: no right on a table.  {schema}: of the broker, with a dot, or empty; {place}: its
-- name; {role}: whom.
GRANT USAGE ON SCHEMA {place} TO {role};
GRANT EXECUTE ON FUNCTION
    {schema}durable_publish, {schema}durable_publish_many, {schema}durable_in_the_way,
    {schema}durable_queue_add, {schema}durable_queue_exists, {schema}durable_queue_size TO {role};
