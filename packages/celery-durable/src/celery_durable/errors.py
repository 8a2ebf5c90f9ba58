"""What a publisher may have to handle."""

import psycopg2


class DuplicateKey(Exception):  # noqa: N818  it is an answer, not a failure
    """Another message holds this unique key; nothing was published.

    `task_id` is the id of the task that is there (None when it has none), `unique_key` the key both asked for.
    """

    def __init__(self, unique_key: str, task_id: str | None) -> None:
        super().__init__(f"unique key {unique_key!r} is held by task {task_id}")
        self.unique_key = unique_key
        self.task_id = task_id


class LeaseTokenMissing(Exception):  # noqa: N818
    """A running task was published again, as a retry, without the token of the delivery it retries.

    Nothing was published.  Accepting it quietly would lose the task: Celery acknowledges the old delivery next.
    `Task.retry` carries the token in the request's headers; with `headers=` of your own, add `**self.request.headers`.
    """


class BadOption(ValueError):  # noqa: N818
    """An unknown option of the transport, or a value it cannot take."""


class NewerSchema(Exception):  # noqa: N818  it says what the database is
    """The database has a later version of the broker's tables than this package knows: use a newer package."""

    def __init__(self, found: int, known: int) -> None:
        super().__init__(f"the broker's tables are of version {found}; this celery-durable knows up to {known}")
        self.found, self.known = found, known


class OlderSchema(Exception):  # noqa: N818  it says what the database is
    """The database has an earlier version of the broker's tables than this package upgrades: use an older one first.

    Version 0 has none: the tables are a stock transport's, or from before there were versions.
    """

    def __init__(self, found: int, oldest: int) -> None:
        are = f"are of version {found}" if found else "have no version, as those of kombu's own transport have none"
        super().__init__(f"the broker's tables {are}; this celery-durable upgrades from version {oldest} on")
        self.found, self.oldest = found, oldest


class NotUpgraded(Exception):  # noqa: N818  it says what the database is
    """Rights are granted on tables and functions of this package's version, and the database has an earlier one."""

    def __init__(self, found: int | None, wanted: int) -> None:
        are = "are not there" if found is None else f"are of version {found}" if found else "have no version"
        super().__init__(
            f"the broker's tables {are}; rights are granted on those of version {wanted}: run python -m"
            " celery_durable.schema for this database first, which keeps the rights that roles have"
        )
        self.found, self.wanted = found, wanted


class Unsafe(Exception):  # noqa: N818  it says what the role may
    """A role that is to publish only may create objects beside the broker's tables.

    An operator of its own there might be taken for one of PostgreSQL's by a function that has the owner's rights.
    """

    def __init__(self, role: str) -> None:
        super().__init__(
            f"role {role!r} may create objects in the schema of the broker's tables, or owns it, so it would have more"
            " than a publisher's rights; before PostgreSQL 15: REVOKE CREATE ON SCHEMA public FROM PUBLIC"
        )
        self.role = role


class MissingTables(psycopg2.ProgrammingError):
    """The broker's tables or functions are not in the database, or older than this package."""

    #: As of the error in whose place it is raised.
    pgcode = "42P01"

    def __init__(self, url: str, schema: str | None, error: Exception) -> None:
        """Name the database by its URL, which has no password."""
        said = str(error).strip().partition("\n")[0]
        command = " ".join(filter(None, ("python -m celery_durable.schema", url, schema)))
        super().__init__(f"the broker's tables are missing or too old ({said}): run {command}")


class UnknownQueue(ValueError):  # noqa: N818  it says what the caller named
    """No publisher and no worker has declared a queue of this name."""

    def __init__(self, queue: str) -> None:
        super().__init__(f"there is no queue {queue!r}")
        self.queue = queue


class AlreadyReceived(Exception):  # noqa: N818  it says what else goes on
    """Another run of `receive` takes the messages of this queue from the same source."""

    def __init__(self, queue: str) -> None:
        super().__init__(f"another run receives queue {queue!r} from this source: wait for its end, or end it")
        self.queue = queue


class OwnTables(Exception):  # noqa: N818  it says what the source is
    """The source of `receive` is this broker: the tables are the same, read by kombu's own transport."""

    def __init__(self) -> None:
        super().__init__(
            "the source is this broker itself: its tables are in the same place; see README, sqla+postgresql"
        )
