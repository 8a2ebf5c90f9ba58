"""A broker URL in its parts: the driver, and the words of libpq that `psycopg2.connect` takes."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple
from urllib.parse import parse_qsl, quote, unquote

_URL = re.compile(
    r"(?P<driver>[A-Za-z][A-Za-z0-9+_]*)://"
    r"(?:(?P<user>[^:/@?]*)(?::(?P<password>[^@]*))?@)?"
    r"(?P<hosts>[^/?@]*)(?:/(?P<dbname>[^?]*))?(?:\?(?P<query>.*))?",
    re.DOTALL,
)
#: A host, with its port or without.
_PLACE = re.compile(r"(?P<host>[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.%]+\])?(?::(?P<port>[0-9]{0,5}))?")
#: libpq's, for hosts of a list that are given without one.
DEFAULT_PORT = "5432"


class BrokerUrl(NamedTuple):
    """driver: what stands before `://`; words: those of libpq, several hosts or ports with commas between them."""

    driver: str
    words: Mapping[str, str]

    def replaced(self, **words: str | None) -> "BrokerUrl":
        """The URL with other words; None takes one away."""
        return self._replace(words={name: one for name, one in {**self.words, **words}.items() if one is not None})

    def render(self) -> str:
        """The URL with its password."""
        words = dict(self.words)
        login = ""
        if "user" in words:
            login = quote(words.pop("user"), safe="")
            if "password" in words:
                login += f":{quote(words.pop('password'), safe='')}"
            login += "@"
        place = _authority(words)
        if place is not None:
            words.pop("host", None)
            words.pop("port", None)
        path = f"/{quote(words.pop('dbname'), safe='')}" if "dbname" in words else ""
        query = "&".join(f"{name}={quote(words[name], safe='/,')}" for name in sorted(words))
        return f"{self.driver}://{login}{place or ''}{path or '/' * bool(query)}{'?' * bool(query)}{query}"


def parse(url: str) -> BrokerUrl:
    """The parts of a URL, with one host or several: `a:1,b:2`, `?host=a&host=b:2` or `?host=a,b&port=1,2`.

    What the query says comes before the rest.  Raises ValueError, which does not repeat the URL.
    """
    found = _URL.fullmatch(url)
    if found is None:
        raise ValueError("expected a URL such as durable://me@host/shop")
    words = {name: unquote(found[name]) for name in ("user", "password", "dbname") if found[name]}
    places = [found["hosts"]] if found["hosts"] else []
    for name, value in parse_qsl(found["query"] or ""):
        if name == "host" and "host" in words:
            words["host"] += f",{value}"
        elif name == "port" and "port" in words:
            words["port"] += f",{value}"
        else:
            words[name] = value
    if "host" not in words and places:
        words["host"] = places[0]
    return BrokerUrl(found["driver"], {**words, **_hosts_and_ports(words)})


def _hosts_and_ports(words: Mapping[str, str]) -> dict[str, str]:
    """What libpq calls `host` and `port`.  Raises ValueError."""
    given = words.get("host", "").split(",") if words.get("host") else []
    hosts, ports = zip(*(_host_and_port(one) for one in given), strict=True) if given else ((), ())
    if "port" in words:
        if any(ports):
            raise ValueError("a port is given twice: behind a host, and as a parameter of its own")
        ports = tuple(words["port"].split(","))
        if not all(re.fullmatch(r"[0-9]{0,5}", port) for port in ports):
            raise ValueError("expected numbers as ports")
    result = {}
    if any(hosts):
        result["host"] = ",".join(hosts)
    if any(ports):
        result["port"] = ",".join(port or DEFAULT_PORT for port in ports)
    return result


def _host_and_port(place: str) -> tuple[str, str]:
    """The parts of HOST:PORT.  The folder of a socket, and an address with colons and no brackets, have no port."""
    if place.startswith(("/", "@")) or (place.count(":") > 1 and "[" not in place):
        return place, ""
    found = _PLACE.fullmatch(place)
    if found is None:
        raise ValueError("expected HOST:PORT,HOST:PORT")
    return (found["host"] or "").strip("[]"), found["port"] or ""


def _authority(words: Mapping[str, str]) -> str | None:
    """Hosts and ports as they stand before the path; None where they cannot."""
    hosts = words.get("host", "").split(",")
    ports = words.get("port", "").split(",") if words.get("port") else [""] * len(hosts)
    if len(ports) != len(hosts) or any(host.startswith(("/", "@")) for host in hosts):
        return None
    return ",".join(_written(zip(hosts, ports, strict=True)))


def _written(places: Iterator[tuple[str, str]]) -> Iterator[str]:
    for host, port in places:
        yield (f"[{host}]" if ":" in host else host) + (f":{port}" if port else "")
