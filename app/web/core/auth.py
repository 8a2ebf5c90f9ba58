"""Identify the client (a token, a session of our pages, or an address), and check what it may do."""

from __future__ import annotations

from dataclasses import dataclass, replace
from uuid import UUID

from flask import g, request, session

from app.errors import Forbidden, Message, Unauthenticated
from app.services.accounts import accounts, check_caller, sessions, tokens
from app.services.accounts.throttle import charge, throttle
from app.services.jobs.disclose import Reader
from app.store.accounts.users import Account
from app.web.core import rate_limits, residence
from app.web.core.context import utc_now, wired

SESSION_KEY = "secret"
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
#: Endpoints that are POST because of their body, and change nothing.
ONLY_ASKING = frozenset({"api.check_quota"})
#: Calls that take an operator's scope instead of `write`.
OPERATING = "/api/v1/operator/"
ONLY_READS = Message("This account, or its token, may read what operators see, and may change nothing")
#: Open to clients without an account, and counted like reads; where a password is compared, it is throttled as well
#: (services/accounts/passwords.py).
OPEN = frozenset(
    {
        "pages.spend_link",
        "pages.enter_password",
        "pages.sign_up",
        "pages.sign_out",
        "pages.ask_for_passkey",
        "pages.enter_passkey",
        "pages.ask_for_first_passkey",
        "pages.sign_up_with_passkey",
        "pages.ask_github",
        "pages.forget_password",
        "pages.reset_password",
        "pages.choose_language",
    }
)

_OWN_PAGES = frozenset({"read", "write"})


@dataclass(frozen=True, slots=True)
class Caller:
    """Whoever sends a request.  account: None for an unidentified client, who may read public resources."""

    account: Account | None
    scopes: frozenset[str]


def identify_program() -> None:
    """Runs before each API request.  A session may only read, because a write with only a cookie could be forged.

    Raises: Unauthenticated; as residence.require_place.
    """
    residence.require_place()
    header = request.headers.get("Authorization")
    if header is not None:
        g.caller = _by_token(header)
    elif request.method in SAFE_METHODS:
        g.caller = Caller(_by_session(), frozenset({"read"}))
    else:
        g.caller = Caller(None, _OWN_PAGES)


def identify_person() -> None:
    """Runs before each page request.  Raises: Unauthenticated where the account lived; as residence.require_place."""
    residence.require_place()
    g.caller = Caller(_by_session(), _OWN_PAGES)


def own_token() -> str | None:
    """The secret of the request's token."""
    return (request.headers.get("Authorization") or "").partition(" ")[2].strip() or None


def own_session() -> str:
    """The secret of the browser's session; empty without one."""
    secret = session.get(SESSION_KEY)
    return secret if isinstance(secret, str) else ""


def renew_session(secret: str) -> None:
    """Replace the browser's session after a proof: a new cookie with the given secret, and a new form token."""
    session.clear()
    session[SESSION_KEY] = secret


def is_fresh() -> bool:
    """Whether the signed-in person has just proved who they are."""
    return sessions.is_fresh(wired().uow, own_session(), now=utc_now())


def person_with_proof() -> Account:
    """A signed-in person who has just proved who they are, for pages that add a way in, a token or a webhook.

    Raises: Unauthenticated, ConfirmationNeeded.
    """
    account = person("write")
    sessions.require_fresh(wired().uow, own_session(), now=utc_now())
    return account


def viewer() -> Account | None:
    """The account that reads, if any.  Raises: Forbidden for a token without the scope."""
    return _allowed("read").account


def asker() -> UUID:
    """The reader, for values that only the payer sees: the account, or that of a visitor from this address."""
    account = viewer()
    return account.user_id if account else accounts.anonymous_id(request.remote_addr or "", wired().visitors_key)


def reader() -> Reader:
    """The reader of jobs: the asker, and whether it is an operator."""
    account = viewer()
    return Reader(asker(), sees_all=account is not None and account.is_operator)


def person(scope: str = "read") -> Account:
    """The account of a signed-in person.  Raises: Unauthenticated, Forbidden."""
    account = _allowed(scope).account
    if account is None:
        raise Unauthenticated("Send `Authorization: Bearer fl_…`, or sign in")
    return account


def operator() -> Account:
    """An operator, identified by a token, who changes something.  Raises: Unauthenticated, Forbidden."""
    account = reading_operator()
    if not account.is_operator:
        raise Forbidden(ONLY_READS)
    return account


def reading_operator() -> Account:
    """An operator, perhaps a read-only one, identified by a token.

    A session is not enough for the API, because a write with only a cookie could be forged.
    Raises: Unauthenticated, Forbidden.
    """
    caller: Caller = g.caller
    if caller.account is None:
        raise Unauthenticated("Send `Authorization: Bearer fl_…` of an operator")
    if not (_sees_operations(caller.account) and caller.scopes & tokens.OPERATORS_READ):
        raise Forbidden("This needs an operator's token with the scope 'operator', or 'operator:read' to read")
    return caller.account


def operating_person() -> Account:
    """A signed-in operator, for pages that change something.  Raises: Unauthenticated, Forbidden."""
    account = reading_person()
    if not account.is_operator:
        raise Forbidden(ONLY_READS)
    return account


def reading_person() -> Account:
    """A signed-in operator, perhaps a read-only one, for pages.  Raises: Unauthenticated, Forbidden."""
    account = person()
    if not _sees_operations(account):
        raise Forbidden("These pages are for operators")
    return account


def limit_writes() -> None:
    """Runs before each request that writes.  Raises: as somebody; TooManyRequests."""
    if not _writes():
        return
    if request.path.startswith(OPERATING):
        account = operator()
    else:
        account = somebody("read" if request.endpoint in ONLY_ASKING else "write")
    if not g.get("counted"):  # writes with a token are counted where it is looked up, in one transaction
        per_minute = wired().settings.rate_limit_per_minute
        with rate_limits.refusals(rate_limits.WRITES, per_minute):
            remaining = throttle(wired().uow, account.user_id, per_minute=per_minute)
        rate_limits.note(rate_limits.WRITES, per_minute, remaining)


def count_writes(account: Account, more: int) -> None:
    """Count a request with many items as this many requests.  Raises: TooManyRequests."""
    if more <= 0:
        return
    per_minute = wired().settings.rate_limit_per_minute
    with rate_limits.refusals(rate_limits.WRITES, per_minute):
        remaining = charge(wired().uow, account.user_id, per_minute=per_minute, cost=more)
    rate_limits.note(rate_limits.WRITES, per_minute, remaining)


def client() -> str:
    """The key of the client: its account, or the pseudonym of its address."""
    account: Account | None = g.caller.account if "caller" in g else None
    return address() if account is None else str(account.user_id)


def address() -> str:
    """The pseudonym of the client's address, whoever is signed in there."""
    return str(accounts.anonymous_id(request.remote_addr or "", wired().visitors_key))


def has_credentials() -> bool:
    """Whether a program sent credentials, valid or not."""
    return "Authorization" in request.headers


def is_open() -> bool:
    """Whether clients without an account may send this form."""
    return request.method not in SAFE_METHODS and request.endpoint in OPEN


def only_reads() -> bool:
    """Whether this request changes nothing."""
    return request.method in SAFE_METHODS


def somebody(scope: str = "read") -> Account:
    """A person, or the pseudonymous account of the client's address if the operator allows it.

    Raises: Unauthenticated, Forbidden.
    """
    account = _allowed(scope).account
    if account is not None:
        return account
    if not wired().settings.allow_anonymous:
        raise Unauthenticated("Only signed-in users can use this service; send `Authorization: Bearer fl_…`")
    if "anonymous" not in g:
        g.anonymous = accounts.anonymous(
            wired().uow, request.remote_addr or "", wired().visitors_key, now=utc_now(), only_reads=scope == "read"
        )
    found: Account = g.anonymous
    return found


def _writes() -> bool:
    return request.method not in SAFE_METHODS and request.endpoint not in OPEN


def _allowed(scope: str) -> Caller:
    caller: Caller = g.caller
    if scope not in caller.scopes:
        raise Forbidden(Message("This token lacks the scope %(scope)s", scope=repr(scope)))
    return caller


def _by_token(header: str) -> Caller:
    scheme, _, secret = header.partition(" ")
    secret = secret.strip()
    if scheme.lower() != "bearer" or not secret.startswith(check_caller.TOKEN_PREFIX) or not secret.isascii():
        raise Unauthenticated("Send `Authorization: Bearer fl_…`")
    per_minute = wired().settings.rate_limit_per_minute
    counted = per_minute if _writes() else None
    with rate_limits.refusals(rate_limits.WRITES, per_minute):
        found = tokens.by_token(wired().uow, secret, writes_per_minute=counted, now=utc_now())
    g.counted = counted is not None
    if found is None:
        residence.found_nobody()
        raise Unauthenticated("This token is unknown, revoked or expired")
    if found.remaining is not None:
        rate_limits.note(rate_limits.WRITES, per_minute, found.remaining)
    account, scopes = found.account, found.scopes
    # without the scope, an operator's token has no more rights than any other
    operates = account.is_operator and "operator" in scopes
    reads = _sees_operations(account) and not operates and bool(scopes & tokens.OPERATORS_READ)
    return Caller(replace(account, is_operator=operates, is_read_only_operator=reads), scopes)


def _sees_operations(account: Account) -> bool:
    return account.is_operator or account.is_read_only_operator


def _by_session() -> Account | None:
    secret = own_session()
    idle = wired().settings.session_idle_timeout
    account = sessions.by_session(wired().uow, secret, idle=idle, now=utc_now()) if secret else None
    if secret and account is None and residence.is_sent_here():
        residence.found_nobody()
        raise Unauthenticated
    return account
