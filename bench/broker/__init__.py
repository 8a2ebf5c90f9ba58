"""The broker against kombu's own SQLAlchemy transport, on one server in one run: `python -m bench.broker`."""
