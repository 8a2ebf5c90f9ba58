"""The address of a client, which is the proxy's word only where the operator trusts the proxy."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from werkzeug.middleware.proxy_fix import ProxyFix

from app.services.accounts.accounts import household

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication, WSGIEnvironment

#: Bits of an IPv6 address that name a client, and the network in which one person may have many clients.
CLIENT_BITS, NETWORK_BITS = 64, 48


def behind_proxy(app: WSGIApplication) -> ProxyFix:
    """The application as clients of one trusted proxy reach it."""
    return ProxyFix(app, x_for=1, x_proto=1, x_host=1)


def client_of(environ: WSGIEnvironment, *, trusts_proxy: bool, prefix: int = CLIENT_BITS) -> str:
    """Name the client of a request, as the application will see it, before the request has a thread.

    prefix: bits that name an IPv6 client, or its network.
    """
    return household(address_of(environ, trusts_proxy=trusts_proxy), prefix=prefix)


def address_of(environ: WSGIEnvironment, *, trusts_proxy: bool) -> str:
    """The address of the client of a request, as the application will see it."""
    if trusts_proxy:
        environ = environ.copy()
        behind_proxy(_nothing)(environ, _nothing)  # type: ignore[arg-type]  # it begins no answer
    return str(environ["REMOTE_ADDR"])


def _nothing(*_: Any) -> Iterable[bytes]:
    """An application that only wants to see its environ."""
    return ()
