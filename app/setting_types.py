"""The types of settings: durations, addresses, hosts and keys.  Each refusal says what is expected."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import parse_qsl, unquote, urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr

from app.domain.cells import NAME as CELL_NAME
from app.domain.emails import is_address

if TYPE_CHECKING:
    from sqlalchemy.engine import URL

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_HOST = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)(\.(?!-)[a-z0-9-]{1,63}(?<!-))*")
#: Drivers that may be named; psycopg2 is used in any case.
_DRIVERS = ("postgresql", "postgres", "postgresql+psycopg2")
#: A URL with several hosts, and one of these hosts: SQLAlchemy's parser knows neither.
_SEVERAL = re.compile(
    r"(?P<before>[a-z0-9+]+://(?:[^:/@]*(?::[^@]*)?@)?)(?P<hosts>[^/?@]*,[^/?@]*)(?P<path>/[^?]*)?(?:\?(?P<query>.*))?"
)
_PLACE = re.compile(r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::([0-9]{1,5}))?")
#: A shorter key can be guessed from one signed cookie.
SHORTEST_KEY = 16


def duration(raw: object) -> object:
    """`30s`, `5m`, `1h`, `2d` or seconds; pydantic alone refuses these short forms.  Raises: ValueError."""
    if isinstance(raw, str):
        if short := re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([smhd]?)", raw.strip()):
            try:
                return timedelta(seconds=float(short[1]) * _UNITS[short[2] or "s"])
            except OverflowError as error:
                raise ValueError("is too long") from error
        raise ValueError("expected a duration such as 30s, 5m or 1h, or a number of seconds")
    return raw


def _words(raw: object) -> object:
    return tuple(w for w in re.split(r"[,\s]+", raw.strip().lower()) if w) if isinstance(raw, str) else raw


def _hosts(given: tuple[str, ...]) -> tuple[str, ...]:
    wrong = [name for name in given if not _HOST.fullmatch(name) or len(name) > 253]
    if wrong or not given:
        named = ", ".join(map(repr, wrong)) or "nothing"
        raise ValueError(f"{named} is not a host; expected names such as git.example.org")
    return given


def _names(given: tuple[str, ...]) -> tuple[str, ...]:
    """Hosts, and `.name` for all names below one."""
    _hosts(tuple(name.removeprefix(".") for name in given))
    return given


def _web_address(given: str) -> str:
    """An address without the slash at its end, so that paths can follow."""
    allowed = "expected an address such as https://fairlane.example.org, without user, query and fragment"
    try:
        parts = urlsplit(given)
        port, host = parts.port, parts.hostname
    except ValueError:
        raise ValueError(allowed) from None
    odd = parts.scheme not in ("http", "https") or not host or port == 0 or re.search(r"[\s\x00-\x1f\\]", given)
    if odd or "@" in parts.netloc or parts.query or parts.fragment:
        raise ValueError(allowed)
    return given.rstrip("/")


@dataclass(frozen=True, slots=True)
class Bucket:
    """Where objects are in a service with the protocol of S3.  endpoint, region: None = that of the environment."""

    name: str
    prefix: str = ""
    endpoint: str | None = None
    region: str | None = None


def object_place(url: str) -> Bucket | Path:
    """The folder or bucket of an address.  Raises: ValueError."""
    allowed = "expected file:///FOLDER, or s3://BUCKET/PREFIX?endpoint=…&region=…, with credentials in AWS_… variables"
    try:
        parts = urlsplit(url)
        options = dict(parse_qsl(parts.query, strict_parsing=True)) if parts.query else {}
    except ValueError:
        raise ValueError(allowed) from None
    if parts.scheme == "file" and not parts.netloc and parts.path.strip("/") and not parts.query:
        return Path(unquote(parts.path))
    is_bucket = re.fullmatch(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]", parts.netloc)
    if parts.scheme != "s3" or not is_bucket or parts.fragment or options.keys() - {"endpoint", "region"}:
        raise ValueError(allowed)
    endpoint = options.get("endpoint")
    return Bucket(parts.netloc, parts.path.strip("/"), endpoint and _web_address(endpoint), options.get("region"))


def _object_store(given: str) -> str:
    object_place(given)
    return given


def _database(given: SecretStr) -> SecretStr:
    """An address as SQLAlchemy and psycopg2 take it, with user and password in their usual places."""
    url = _parsed(given.get_secret_value())
    if url.drivername not in _DRIVERS:
        raise ValueError(f"is for {url.drivername!r}; expected postgresql://…")
    ports = url.query.get("port", "")
    several = ports.split(",") if isinstance(ports, str) and "," in ports else []
    if url.port == 0 or not all(port.isdecimal() and 0 < int(port) < 65536 for port in (*several, str(url.port or 1))):
        raise ValueError("expected a port from 1 to 65535")
    return SecretStr(_named(url).render_as_string(hide_password=False))


def _cells(given: SecretStr) -> SecretStr:
    """Names and addresses of cells, in the form in which addresses are compared."""
    allowed = "expected NAME=postgresql://… for each cell, separated by spaces; a name is of a-z, 0-9 and -"
    found = dict[str, str]()
    for word in given.get_secret_value().split():
        name, equals, address = word.partition("=")
        if not (equals and CELL_NAME.fullmatch(name)):
            raise ValueError(allowed)
        if "://" in address.partition("://")[2]:  # separated by commas, perhaps, which may stand between hosts
            raise ValueError(allowed)
        if name in found:
            raise ValueError(f"the cell {name!r} stands there twice")
        found[name] = _database(SecretStr(address)).get_secret_value()
    if not found:
        raise ValueError(allowed)
    if len({_database_of(address) for address in found.values()}) < len(found):
        raise ValueError("two cells have the same database")
    return SecretStr(" ".join(f"{name}={address}" for name, address in found.items()))


def _database_of(address: str) -> tuple[object, ...]:
    """What an address leads to, whoever signs in there."""
    url = _parsed(address)
    return (url.query.get("host") or url.host, url.query.get("port") or url.port or 5432, url.database)


def split_cells(given: SecretStr) -> dict[str, str]:
    """The addresses of cells by their names."""
    return {name: address for name, _, address in (word.partition("=") for word in given.get_secret_value().split())}


def password(address: SecretStr) -> str:
    """The password in the address of a database or a mail server; empty where it has none."""
    given = address.get_secret_value()
    if given.startswith("smtp"):
        return unquote(urlsplit(given).password or "")
    return str(_parsed(given).password or "")


def _parsed(given: str) -> URL:
    from sqlalchemy.engine import make_url  # noqa: PLC0415 - half a second, for commands that need no database
    from sqlalchemy.exc import ArgumentError  # noqa: PLC0415 - as above

    try:
        return make_url(_one_host(given))
    except (ArgumentError, ValueError):  # their text may show a part of the password
        allowed = "expected postgresql://USER:PASSWORD@HOST:PORT/DATABASE, with special characters as %XX"
        raise ValueError(f"{allowed}; several hosts as HOST:PORT,HOST:PORT") from None


def _one_host(url: str) -> str:
    """A URL with several hosts, as libpq writes them (`a:1,b:2`), in the form of SQLAlchemy; any other as it is."""
    found = _SEVERAL.fullmatch(url)
    if found is None:
        return url
    places = [_PLACE.fullmatch(place) for place in found["hosts"].split(",")]
    if None in places:
        raise ValueError("expected HOST:PORT,HOST:PORT")
    hosts = ",".join(place[1].strip("[]") for place in places if place)
    ports = ",".join(place[2] or "5432" for place in places if place)
    more = f"&{found['query']}" if found["query"] else ""
    return f"{found['before']}{found['path'] or '/'}?host={hosts}&port={ports}{more}"


def _named(url: URL) -> URL:
    """Move `?user=…&password=…`, which libpq also accepts, to where passwords are recognised and hidden."""
    user, secret = url.query.get("user"), url.query.get("password")
    if isinstance(user, str):
        url = url.set(username=user).difference_update_query(["user"])
    if isinstance(secret, str):
        url = url.set(password=secret).difference_update_query(["password"])
    return url.set(drivername="postgresql+psycopg2")


def _bearer(given: SecretStr) -> SecretStr:
    """Check a header's value here, as the error message of an HTTP library would show it."""
    if not re.fullmatch(r"[!-~]+", given.get_secret_value()):
        raise ValueError("expected visible ASCII characters without spaces")
    return given


def _mail_server(given: SecretStr) -> SecretStr:
    allowed = "expected smtp://USER:PASSWORD@HOST:PORT, or smtps://…, with special characters as %XX"
    try:
        parts = urlsplit(given.get_secret_value())
        port, host = parts.port, parts.hostname
    except ValueError:
        raise ValueError(allowed) from None
    if parts.scheme not in ("smtp", "smtps") or not host or port == 0 or parts.path.strip("/") or parts.query:
        raise ValueError(allowed)
    return given


def _mail_address(given: str) -> str:
    if not is_address(given):
        raise ValueError("expected an address such as fairlane@example.org")
    return given


def _keys(given: SecretStr) -> SecretStr:
    words = split_keys(given)
    if not words or any(len(word) < SHORTEST_KEY for word in words):
        raise ValueError(
            f"expected keys of at least {SHORTEST_KEY} characters, the newest first, separated by spaces or commas"
        )
    return given


def split_keys(given: SecretStr) -> tuple[str, ...]:
    """The single keys, the newest first."""
    return tuple(word for word in re.split(r"[,\s]+", given.get_secret_value()) if word)


def _ports(raw: object) -> object:
    return tuple(re.split(r"[,\s]+", raw.strip())) if isinstance(raw, str) else raw


def _key(given: SecretStr) -> SecretStr:
    if len(given.get_secret_value()) < SHORTEST_KEY:
        raise ValueError(f"expected at least {SHORTEST_KEY} characters, for instance from `openssl rand -base64 48`")
    return given


Duration = Annotated[timedelta, BeforeValidator(duration), Field(ge=timedelta(0), le=timedelta(days=366))]
#: For something during which a process waits.
Patience = Annotated[Duration, Field(gt=timedelta(0), le=timedelta(days=1))]
PauseSetting = Annotated[Duration, Field(le=timedelta(days=1))]
SlotSetting = Annotated[int, Field(ge=1, le=1000)]
Seconds = Annotated[float, Field(allow_inf_nan=False)]
Hosts = Annotated[tuple[str, ...], BeforeValidator(_words), AfterValidator(_hosts)]
HostNames = Annotated[tuple[str, ...], BeforeValidator(_words), AfterValidator(_names)]
WebAddress = Annotated[str, AfterValidator(_web_address)]
ObjectStoreAddress = Annotated[str, AfterValidator(_object_store)]
DatabaseAddress = Annotated[SecretStr, AfterValidator(_database)]
CellAddresses = Annotated[SecretStr, AfterValidator(_cells)]
MailServer = Annotated[SecretStr, AfterValidator(_mail_server)]
MailAddress = Annotated[str, AfterValidator(_mail_address)]
SecretKey = Annotated[SecretStr, AfterValidator(_key)]
Keys = Annotated[SecretStr, AfterValidator(_keys)]
Ports = Annotated[
    tuple[Annotated[int, Field(ge=1, le=65535)], ...], BeforeValidator(_ports), Field(min_length=1, max_length=100)
]
#: Belongs to another service, which decides its length.
Bearer = Annotated[SecretStr, AfterValidator(_bearer)]
AccountShare = Annotated[Decimal, Field(ge=Decimal("0.001"), le=1)]
TokenPrice = Annotated[Decimal, Field(ge=0, le=1_000_000, allow_inf_nan=False)]
