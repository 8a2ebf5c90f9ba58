"""Celery's `broker_use_ssl` in the words of libpq, as part of the broker URL: so each connection has them.

broker_use_ssl = True                                              # sslmode=require
broker_use_ssl = {"ca_certs": "/etc/ca.pem"}                       # sslmode=verify-full, sslrootcert
broker_use_ssl = {"certfile": "/etc/me.crt", "keyfile": "/etc/me.key", "cert_reqs": ssl.CERT_REQUIRED}

The URL may ask for more, and never for less.
"""

import os
import ssl
from collections.abc import Mapping
from typing import Any, NamedTuple

from psycopg2.extensions import libpq_version

from .broker_url import BrokerUrl
from .errors import BadOption

#: From the weakest to the strictest.
MODES = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
#: Celery's word, with or without `ssl_` in front -> libpq's.
FILES = {"ca_certs": "sslrootcert", "certfile": "sslcert", "keyfile": "sslkey"}
WORDS = ("cert_reqs", "check_hostname", *FILES)
#: From this version on libpq can be told to trust the certificates that the system trusts.
SYSTEM_CERTIFICATES = 160_000


class Tls(NamedTuple):
    """What `broker_use_ssl` asks for.

    mode: `sslmode`; is_exact: a stricter mode of the URL is a contradiction as well; files: the other words.
    """

    mode: str
    is_exact: bool
    files: Mapping[str, str]


def with_tls(url: BrokerUrl, given: Any) -> BrokerUrl:
    """The URL with what `broker_use_ssl` asks for.  Raises BadOption where libpq has no word, or the URL denies it."""
    if given is None or given is False:
        return url
    tls = _translated(given)
    mode = url.words.get("sslmode")
    if mode is None:
        mode = tls.mode
    elif mode != tls.mode and (tls.is_exact or mode not in MODES[MODES.index(tls.mode) :]):
        raise BadOption(f"broker_use_ssl means sslmode={tls.mode}, but the broker URL says sslmode={mode}")
    files = dict(tls.files)
    for word, path in files.items():
        if (found := url.words.get(word)) not in (None, path):
            raise BadOption(f"broker_use_ssl means {word}={path}, but the broker URL says {word}={found}")
    if tls.mode == "verify-full" and "sslrootcert" not in files and libpq_version() >= SYSTEM_CERTIFICATES:
        files["sslrootcert"] = url.words.get("sslrootcert") or "system"  # as Python's ssl does without a file
    return url.replaced(sslmode=mode, **files)


def _translated(given: Any) -> Tls:
    if given is True:
        return Tls("require", False, {})
    words = _words(given)
    required = _is_required(words)
    checks_name = words.get("check_hostname", True)
    if type(checks_name) is not bool:
        raise BadOption(f"broker_use_ssl: check_hostname must be True or False, not {checks_name!r}")
    if "keyfile" in words and "certfile" not in words:
        raise BadOption("broker_use_ssl: a keyfile needs its certfile")
    if required is False:
        words.pop("ca_certs", None)  # with a file libpq would check the certificate all the same
        return Tls("require", True, _files(words))
    if not checks_name and "ca_certs" not in words:
        raise BadOption("broker_use_ssl: check_hostname False needs ca_certs, or any certificate of the world would do")
    if required is None and "ca_certs" not in words:
        return Tls("require", False, _files(words))
    return Tls("verify-full" if checks_name else "verify-ca", False, _files(words))


def _words(given: Any) -> dict[str, Any]:
    """Each word once, without `ssl_` in front, and none that is None."""
    if not isinstance(given, Mapping) or not given:
        raise BadOption(f"broker_use_ssl must be True, or a dict with some of {', '.join(WORDS)}; not {given!r}")
    words: dict[str, Any] = {}
    for name, value in given.items():
        word = str(name).removeprefix("ssl_")
        if word not in WORDS:
            raise BadOption(
                f"broker_use_ssl: {name!r} cannot be translated for PostgreSQL; known are {', '.join(WORDS)}, each with"
                " or without ssl_ in front.  libpq's own words, as ssl_min_protocol_version, go into the broker URL"
            )
        if words.get(word, value) != value:
            raise BadOption(f"broker_use_ssl says {word} and ssl_{word}, and not the same")
        words[word] = value
    return {word: value for word, value in words.items() if value is not None}


def _is_required(words: Mapping[str, Any]) -> bool | None:
    """Whether the server's certificate is checked; None: nothing is said."""
    if "cert_reqs" not in words:
        return None
    given = words["cert_reqs"]
    name = given.lower().removeprefix("cert_") if isinstance(given, str) else given
    if name in ("none", ssl.CERT_NONE):
        return False
    if name in ("required", "optional", ssl.CERT_REQUIRED, ssl.CERT_OPTIONAL):  # for a client they are the same
        return True
    raise BadOption(f"broker_use_ssl: cert_reqs must be one of ssl.CERT_NONE and ssl.CERT_REQUIRED, not {given!r}")


def _files(words: Mapping[str, Any]) -> dict[str, str]:
    files: dict[str, str] = {}
    for word, theirs in FILES.items():
        if word in words:
            if not isinstance(words[word], str | os.PathLike):
                raise BadOption(f"broker_use_ssl: {word} must be a path, not {words[word]!r}")
            files[theirs] = os.fspath(words[word])
    if "sslcert" in files:
        files.setdefault("sslkey", files["sslcert"])  # Python looks for the key in the same file
    return files
