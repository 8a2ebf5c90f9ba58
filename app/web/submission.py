"""From what somebody typed to a repository and a commit."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from flask import request

from app.domain.repositories import Address, check_commit, check_ref, parse_address
from app.errors import InvalidInput, Problem
from app.services.submit import Wanted
from app.web.context import wired
from app.web.schemas import SubmitAnalysis
from app.web.wiring import Wired

LONGEST_KEY = 255
#: Tells that an answer was given before.
REPLAYED = {"Idempotency-Replayed": "true"}
PARALLEL_LOOKUPS = 8  # a batch asks the Git hosts about so many repositories at once


def wanted(asked: SubmitAnalysis) -> Wanted:
    """Read the address and ask its host for the commit.

    Raises: InvalidInput, RepositoryNotFound, CommitNotFound, Unavailable.
    """
    return _wanted(asked, wired())


def asks_host(asked: SubmitAnalysis) -> bool:
    """Whether `wanted` has to ask the repository's host, which takes time and may fail.  Raises: InvalidInput."""
    address = parse_address(asked.repository, wired().settings.allowed_git_hosts)
    return address.repository.is_local or _revision(asked, address)[1] is None


def wanted_each(asked: Sequence[SubmitAnalysis]) -> list[Wanted | Problem]:
    """As wanted, for many; the Problem in the place of an item that has one."""
    services = wired()

    def one(item: SubmitAnalysis) -> Wanted | Problem:
        try:
            return _wanted(item, services)
        except Problem as problem:
            return problem

    with ThreadPoolExecutor(PARALLEL_LOOKUPS, "lookup") as pool:
        return list(pool.map(one, asked))


def idempotency_key(body: dict[str, Any]) -> tuple[str, bytes] | None:
    """The key of this request and the fingerprint of what it asks for.  Raises: InvalidInput."""
    key = request.headers.get("Idempotency-Key")
    if key is None:
        return None
    if not 0 < len(key) <= LONGEST_KEY or not key.isprintable():
        detail = f"allowed are 1 to {LONGEST_KEY} printable characters"
        raise InvalidInput(
            "The Idempotency-Key is empty or too long.", errors=[{"pointer": "/Idempotency-Key", "detail": detail}]
        )
    canonical = json.dumps([request.method, request.path, body], sort_keys=True, separators=(",", ":"))
    return key, hashlib.sha256(canonical.encode()).digest()


def _wanted(asked: SubmitAnalysis, services: Wired) -> Wanted:
    settings = services.settings
    address = parse_address(asked.repository, settings.allowed_git_hosts)
    if address.repository.is_local and settings.local_repos_root is None:
        detail = "allowed are local repositories only where LOCAL_REPOS_ROOT is set"
        raise InvalidInput(
            "This service serves no local repositories.", errors=[{"pointer": "/repository", "detail": detail}]
        )
    ref, commit = _revision(asked, address)
    commit, ref = services.resolve(address.repository, ref, commit)
    return Wanted(address.repository, commit, ref, asked.retry)


def _revision(asked: SubmitAnalysis, address: Address) -> tuple[str | None, str | None]:
    """Members of their own win over what the address ends in."""
    if asked.ref is not None or asked.commit is not None:
        return (
            None if asked.ref is None else check_ref(asked.ref),
            None if asked.commit is None else check_commit(asked.commit),
        )
    return address.ref, address.commit
