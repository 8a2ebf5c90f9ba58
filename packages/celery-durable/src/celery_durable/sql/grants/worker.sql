-- What a role needs whose processes are workers, or use the SQL interface, besides what a publisher may.
GRANT SELECT, INSERT, UPDATE, DELETE ON
    {schema}durable_message, {schema}durable_ready, {schema}durable_lease, {schema}durable_waiting,
    {schema}durable_limit, {schema}durable_line,
    {schema}kombu_group, {schema}kombu_node, {schema}kombu_dead_letter, {schema}kombu_broadcast TO {role};
GRANT SELECT, INSERT, UPDATE ON {schema}durable_queue, {schema}kombu_judgement TO {role};
GRANT SELECT ON {schema}kombu_schema TO {role};
GRANT USAGE ON SEQUENCE {schema}message_id_sequence, {schema}queue_id_sequence TO {role};
GRANT SELECT ON
    {schema}broker_message, {schema}broker_ready, {schema}broker_lease, {schema}broker_waiting, {schema}broker_queue,
    {schema}broker_group, {schema}broker_dead_letter, {schema}broker_node, {schema}broker_facts, {schema}broker_limit
    TO {role};
GRANT UPDATE, DELETE ON {schema}broker_message TO {role};
GRANT DELETE ON {schema}broker_dead_letter TO {role};
