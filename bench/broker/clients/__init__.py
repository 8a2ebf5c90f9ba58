"""The programs that are measured: each publishes for one system, and runs its nodes.

They are run by name with a count, `python -m bench.broker.clients.raw publish 1000`, and answer with a line of JSON.
"""
