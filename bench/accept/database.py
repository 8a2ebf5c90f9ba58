"""A migrated PostgreSQL of a benchmark's own, as durable as the service's, and users in it."""

import contextlib
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

from celery import Celery
from sqlalchemy import text
from sqlalchemy.engine import make_url

from app import embedded
from app.adapters.publishing import publisher
from app.domain.plans import Tier
from app.migrate import migrate
from app.services.accounts import accounts, tokens
from app.store.core.connections import make_engine
from app.store.core.unit_of_work import UnitOfWork


@contextlib.contextmanager
def database() -> Iterator[tuple[str, UnitOfWork]]:
    """(its URL, transactions on it that publish)."""
    with tempfile.TemporaryDirectory(prefix="fairlane-bench-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        with embedded.hold(Path(folder) / "home") as server:
            owner = make_engine(server.owner_url)
            migrate(owner)
            with owner.begin() as connection:  # rivals make tables of their own
                url = make_url(server.url)
                connection.execute(text(f"GRANT CREATE ON SCHEMA public TO {url.username}"))
                connection.execute(text(f"GRANT CREATE ON DATABASE {url.database} TO {url.username}"))
            owner.dispose()
            engine = make_engine(server.url, pool_size=20)
            yield server.url, UnitOfWork(engine, publisher(Celery("bench", set_as_current=False, broker="memory://")))
            engine.dispose()


def user(uow: UnitOfWork, name: str, tier: Tier = Tier.ENTERPRISE) -> UUID:
    """A new user."""
    return accounts.add_user(uow, f"{name}@example.org", tier=tier, actor="bench", now=datetime.now(UTC)).user_id


def token(uow: UnitOfWork, user_id: UUID) -> str:
    """A token of the user's."""
    return tokens.add_token(uow, user_id, now=datetime.now(UTC)).secret
