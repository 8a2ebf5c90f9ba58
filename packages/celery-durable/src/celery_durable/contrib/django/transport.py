"""The transport of `durable-django://ALIAS`: its address is that of Django's database, at each new connection.

A test that runs in Django's test database so has its broker there as well, and settings need no second password.
"""

from typing import Any

from celery_durable.transport import Transport

from .aliases import SCHEME, alias_in, broker_url


class DjangoTransport(Transport):
    """The transport of the package, which only finds its URL in another place."""

    def __init__(self, client: Any, **kwargs: Any) -> None:
        if str(client.hostname).startswith(SCHEME):
            client.hostname = broker_url(alias_in(client.hostname))
        super().__init__(client, **kwargs)
