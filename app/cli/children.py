"""The programs that `fairlane up` starts, and how it knows that they are ready."""

from __future__ import annotations

import socket
import sys
import time
import urllib.request
from functools import partial

from app import signs_of_life
from app.adapters.object_store import address_of
from app.cli.listen_address import ListenAddress
from app.domain.sizing import NodeSize, WorkerSize
from app.settings import Settings
from app.supervisor import Child


def children(settings: Settings, url: str, place: ListenAddress, size: WorkerSize) -> list[Child]:
    """The web, the nodes and beat.  url: of the database, with its password."""
    # an empty variable is not set: the address may have come from a file, and the owner's is for migrations only
    ours = {
        "DATABASE_URL": url,
        "FAIRLANE_HOME": str(settings.home),
        "LOCAL_REPOS_ROOT": str(settings.local_repos_root),
        "OBJECT_STORE_URL": address_of(settings) or "",  # they are told of a database, and not that it is in the home
    }
    unset = dict.fromkeys(("DATABASE_OWNER_URL", "DATABASE_OWNER_URL_FILE", *(f"{name}_FILE" for name in ours)), "")
    env = unset | ours
    env |= {"PORT": str(place.port), "PYTHONUNBUFFERED": "1"}
    # IP addresses are always accepted; a name that this process was configured to bind to is one of its own
    bound = () if ":" in place.host else (place.host,)
    names = {"TRUSTED_HOSTS": " ".join((*(settings.trusted_hosts or ()), *bound))}
    web = [
        *_python("gunicorn"),
        # a second process boots after the first one answers, and would say so below the line of `ready`
        *("-c", "python:app.server.config", "--workers", str(settings.web_concurrency), "--log-level", "warning"),
        *("-b", place.address),
    ]
    lives = partial(_lives, settings, time.monotonic())
    return [
        Child("web", web, env | names, ready=lambda: _serves(place)),
        *(Child(node.name, _worker(node), env, ready=partial(lives, node.name)) for node in size.nodes),
        Child(
            "beat", [*_python("celery"), "-A", "tasks", "--quiet", "beat", "--pidfile="], env, partial(lives, "beat")
        ),
    ]


def _worker(node: NodeSize) -> list[str]:
    return [
        *_python("celery"),
        *("-A", "tasks", "--quiet", "worker", "-Q", ",".join(node.queues), "-c", str(node.processes)),
        *("-n", f"{node.name}@%h", "--without-gossip", "--without-mingle"),
    ]


def _python(module: str) -> list[str]:
    # by module, not by script: a script's first line is limited to 127 bytes, which deep folders exceed
    return [sys.executable, "-m", module]


def _serves(place: ListenAddress) -> bool:
    with urllib.request.urlopen(f"{place.near_url}/readyz", timeout=2) as answer:  # noqa: S310 - http, and ours
        return bool(answer.status == 200)


def _lives(settings: Settings, began: float, name: str) -> bool:
    """Whether a node or beat has given a sign of life since we began."""
    age = signs_of_life.age(settings.home, f"{name}@{socket.gethostname()}")
    return age is not None and age < time.monotonic() - began
