"""Servers of other brokers, for what is received from them; a machine without one skips its tests."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from durable_harness.postgres import _free_port
from durable_harness.waiting import wait_for

REDIS = shutil.which("redis-server")
#: Not the wrapper of Debian in the path, which insists on an account.
RABBIT = next((place for place in (Path("/usr/lib/rabbitmq/bin/rabbitmq-server"),) if place.exists()), None)


class OtherServer:
    """A server in a folder of its own, killed at the end."""

    def __init__(self, *argv: Any, port: int, environment: dict[str, str] | None = None) -> None:
        self.folder, self.port = Path(tempfile.mkdtemp(prefix="other-broker-")), port
        self.log = self.folder / "log"
        with self.log.open("wb") as out:
            self.process = subprocess.Popen(
                argv, cwd=self.folder, env={**os.environ, **(environment or {})}, stdout=out, stderr=out,
                start_new_session=True,
            )  # fmt: skip

    def close(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def answers(self) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=60):
            return True
        return False


class RedisServer(OtherServer):
    """Keeps nothing on disk."""

    def __init__(self) -> None:
        port = _free_port()
        super().__init__(
            REDIS, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", port=port
        )
        wait_for(self.answers, "Redis")

    def url(self, database: int = 0) -> str:
        return f"redis://127.0.0.1:{self.port}/{database}"


class RabbitServer(OtherServer):
    """A node of RabbitMQ, with a name server of Erlang's of its own."""

    def __init__(self) -> None:
        port, names = _free_port(), str(_free_port())
        home = Path(tempfile.mkdtemp(prefix="rabbit-home-"))
        self._epmd = subprocess.Popen(
            ["epmd", "-port", names], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        super().__init__(
            RABBIT, port=port,
            environment={
                "HOME": str(home), "ERL_EPMD_PORT": names, "RABBITMQ_NODENAME": f"test{port}@localhost",
                "RABBITMQ_NODE_PORT": str(port), "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
                "RABBITMQ_DIST_PORT": str(_free_port()), "RABBITMQ_MNESIA_BASE": str(home / "data"),
                "RABBITMQ_LOG_BASE": str(home / "logs"), "RABBITMQ_ENABLED_PLUGINS_FILE": str(home / "plugins"),
                "RABBITMQ_CONFIG_FILE": str(home / "none"), "RABBITMQ_PID_FILE": str(home / "pid"),
            },
        )  # fmt: skip
        self._home = home
        wait_for(self.answers, "RabbitMQ", seconds=180)

    def url(self) -> str:
        return f"amqp://guest:guest@127.0.0.1:{self.port}//"

    def close(self) -> None:
        super().close()
        self._epmd.kill()
        self._epmd.wait()
        shutil.rmtree(self._home, ignore_errors=True)
