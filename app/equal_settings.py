"""Which settings all hosts of a service must have the same values of, and digests by which these are compared.

A digest is kept in the database for some minutes, where a reader of it must learn no secret: it is made by scrypt with
a random salt of that database, and is cut to 32 bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import scrypt, sha256

from pydantic import SecretStr

from app import home
from app.settings import Settings

#: Addresses, folders, numbers of processes, and what only some of the processes need to know.
MAY_DIFFER = frozenset({
    "database_url", "database_owner_url", "database_direct_url", "database_read_url", "cells", "directory_url",
    "fairlane_home", "local_repos_root", "trusted_hosts",
    "trust_proxy", "analyzer_queue_priority_workers", "analyzer_queue_default_workers",
    "analyzer_queue_scheduled_workers", "specgen_queue_priority_workers", "specgen_queue_default_workers",
    "specgen_queue_scheduled_workers", "maintenance_queue_workers", "job_memory_mb", "queue_lending",
    "queue_lending_floor", "llm_parallel", "git_timeout", "sandbox", "shutdown_grace", "lookup_timeout", "heavy_reads",
    "statement_timeout", "web_concurrency", "web_drain", "metrics_token", "log_format", "access_log",
    "fairlane_url", "fairlane_token",
})  # fmt: skip
#: Without a value these have another meaning than with one, so that is compared as well.
MAY_BE_UNSET = tuple(f"fairness_{tier}_limit" for tier in ("free", "pro", "pro_plus", "enterprise"))
BYTES = 4
#: scrypt's cost: 20 to 40 ms of a processor and 8 MB for each secret that is set, once in a process.
COST = 2**13


def digests(settings: Settings, salt: bytes) -> Mapping[str, str]:
    """Digests of the settings that must be equal, by name.

    Other settings without a value are left out: a process may not have been given what it does not need.
    """
    return {name.upper(): _digest(name, value, salt) for name, value in _values(settings)}


def _values(settings: Settings) -> Iterator[tuple[str, object]]:
    for name, value in settings:
        if name == "secret_key":
            value = home.existing_key(settings)  # noqa: PLW2901 - perhaps one that is kept in the home
            value = None if value is None else SecretStr(value)  # noqa: PLW2901 - so that it is treated as one
        if name not in MAY_DIFFER and (value is not None or name in MAY_BE_UNSET):
            yield name, value


def _digest(name: str, value: object, salt: bytes) -> str:
    named = salt + name.encode()
    if isinstance(value, SecretStr):
        return scrypt(value.get_secret_value().encode(), salt=named, n=COST, r=8, p=1, dklen=BYTES).hex()
    return sha256(named + str(value).encode()).digest()[:BYTES].hex()
