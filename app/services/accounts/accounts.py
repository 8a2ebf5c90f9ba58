"""Create and find accounts of people and of anonymous visitors."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
from datetime import datetime
from functools import lru_cache
from uuid import UUID, uuid4

from app.domain import emails
from app.domain.plans import Tier
from app.errors import Conflict, InvalidInput, Message, NotFound
from app.store.accounts import plans, users
from app.store.accounts.users import Account
from app.store.core.unit_of_work import Tx, UnitOfWork
from app.store.operations import audit_log

LONGEST_EMAIL = emails.LONGEST
_PORT = re.compile(r"\A(?:\[([^]]*)\]|([0-9.]+))(?::[0-9]+)?\Z")
EXPECTED = "expected NAME@HOST; NAME of letters, digits and .!#$%&'*+/=?^_`{|}~-, without quotes, comments and lists"


def add_user(
    uow: UnitOfWork,
    email: str,
    *,
    tier: Tier,
    is_operator: bool = False,
    is_read_only_operator: bool = False,
    actor: str,
    now: datetime,
) -> Account:
    """Create a person's account; its address is verified, because an operator knows the person.

    Raises: InvalidInput, Conflict if the address is taken.
    """
    check_email(email)
    with uow.begin() as tx:
        user_id = new_person(
            tx,
            email,
            tier=tier,
            is_operator=is_operator,
            is_read_only_operator=is_read_only_operator,
            actor=actor,
            now=now,
        )
        if user_id is None:
            raise Conflict(Message("There is an account for %(email)s already", email=email))
        users.verify_email(tx, user_id, now=now)
        account = users.find(tx, user_id)
    if account is None:
        raise RuntimeError("the account vanished in its own transaction")
    return account


def is_here(uow: UnitOfWork, user_id: UUID) -> bool:
    """Whether this database has the account."""
    with uow.once() as tx:
        return users.find(tx, user_id) is not None


def check_email(email: str) -> None:
    """Check that the text is the address of one mailbox.  Raises: InvalidInput."""
    if not emails.is_address(email):
        raise InvalidInput(
            Message("%(email)s is not an e-mail address", email=repr(email[:LONGEST_EMAIL])),
            errors=[{"pointer": "/email", "detail": EXPECTED}],
        )


def new_person(
    tx: Tx,
    email: str,
    *,
    tier: Tier,
    is_operator: bool = False,
    is_read_only_operator: bool = False,
    actor: str,
    user_id: UUID | None = None,
    now: datetime,
) -> UUID | None:
    """Add a person with a checked address.  Returns: the id, None if the address (or the given id) is taken."""
    user_id = user_id or uuid4()
    added = users.add(
        tx,
        user_id,
        email=email,
        is_operator=is_operator,
        is_read_only_operator=is_read_only_operator,
        now=now,
    )
    if not added or not tx.register(user_id, email):
        return None
    users.set_tier(tx, user_id, tier, now=now)
    may_operate = is_operator or ("read" if is_read_only_operator else False)
    audit_log.add(tx, actor, "user.add", str(user_id), tier=tier.value, operator=may_operate)
    return user_id


def find_person(uow: UnitOfWork, email: str) -> Account:
    """Find the account with this e-mail address.  Raises: NotFound."""
    with uow.begin() as tx:
        account = users.find_by_email(tx, email)
    if account is None:
        raise NotFound(Message("There is no account for %(email)s", email=email))
    return account


def people(uow: UnitOfWork, *, part: str = "", after: str = "", most: int) -> list[Account]:
    """People's accounts by their addresses.  part: of the address, ignoring case; after: the last address before."""
    with uow.begin() as tx:
        return users.people(tx, part=part, after=after, most=most)


def find(uow: UnitOfWork, user_id: UUID) -> Account:
    """Find the account with this id.  Raises: NotFound."""
    with uow.begin() as tx:
        account = users.find(tx, user_id)
    if account is None:
        raise NotFound("No such user")
    return account


def anonymous(uow: UnitOfWork, address: str, secret: str, *, now: datetime, only_reads: bool = False) -> Account:
    """The pseudonymous account of a client address: a keyed hash, from which the address cannot be recovered.

    An IPv6 client is its /64, which usually belongs to one household.  only_reads: then a new one is not stored.
    """
    user_id = anonymous_id(address, secret)
    with uow.begin() as tx:
        account = users.find(tx, user_id)
        if account is None and only_reads:
            free = plans.find(tx, Tier.FREE)
            roles = {"is_operator": False, "is_read_only_operator": False}
            return Account(user_id, "anonymous", None, free, now, {}, None, **roles)
        if account is None:
            users.add(tx, user_id, kind="anonymous", email=None, now=now)
            account = users.find(tx, user_id)
    if account is None:
        raise RuntimeError("the account vanished after its insert")
    return account


def anonymous_id(address: str, secret: str) -> UUID:
    """The id of that account, whether or not it exists."""
    return _pseudonym(household(address), secret)


def network_id(address: str, secret: str) -> UUID:
    """A pseudonym of the network of an address: IPv6 by its /48, in which one person may have many /64."""
    return _pseudonym(household(address, prefix=48), secret)


def _pseudonym(name: str, secret: str) -> UUID:
    digest = hmac.new(secret.encode(), name.encode(), hashlib.sha256).digest()
    return UUID(bytes=digest[:16], version=4)


@lru_cache(maxsize=8192)  # 7 µs each time otherwise, and a request asks twice or more
def household(address: str, *, prefix: int = 64) -> str:
    """Name the client of an address, with which some proxies name its port.  prefix: bits that name an IPv6 client."""
    try:
        parsed = ipaddress.ip_address(_PORT.sub(r"\1\2", address))
    except ValueError:  # a server on a Unix socket sees no address, so all such clients are one
        return "unknown"
    # a server that listens on :: sees IPv4 clients as ::ffff:a.b.c.d, which all share one /64
    parsed = getattr(parsed, "ipv4_mapped", None) or parsed
    return str(ipaddress.ip_network(f"{parsed}/{prefix}", strict=False)) if parsed.version == 6 else str(parsed)
