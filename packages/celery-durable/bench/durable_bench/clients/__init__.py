"""The programs that are measured: each publishes for one system, and runs its nodes.

They are run by name with a count, `python -m durable_bench.clients.raw publish 1000`, and answer with a line of JSON.
"""
