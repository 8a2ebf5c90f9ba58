-- What a role needs that only publishes: no right on a table.  {schema}: of the broker, with a dot, or empty; {place}: its
-- name; {role}: whom.
GRANT USAGE ON SCHEMA {place} TO {role};
GRANT EXECUTE ON FUNCTION
    {schema}kombu_message_publish, {schema}kombu_message_publish_many, {schema}kombu_message_in_the_way,
    {schema}kombu_queue_add, {schema}kombu_queue_exists, {schema}kombu_queue_size TO {role};
