"""Engines of kombu's SQLAlchemy transport, which it keeps for each URL, for the whole life of a process."""

import sys


def forget_engines() -> None:
    """End their sessions: the next test on this URL would get one that was ended between the tests."""
    stock = sys.modules.get("kombu.transport.sqlalchemy")
    if stock is not None:
        for engine, _ in stock.Channel._engines.values():
            engine.dispose()
        stock.Channel._engines.clear()
