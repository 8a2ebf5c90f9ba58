"""Stores of objects for tests: in memory, with faults, and a real server of S3's protocol."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from app.domain.objects import ObjectsAwayError, digest_of

KEYS = {"AWS_ACCESS_KEY_ID": "fairlane", "AWS_SECRET_ACCESS_KEY": "a secret of the bucket"}


@dataclass
class MemoryObjects:
    """Objects in memory, for what takes an app.domain.objects.Objects.

    is_away: whether it refuses to answer; asked: what was asked for; after_put: called once an object is there.
    """

    contents: dict[bytes, bytes] = field(default_factory=dict)
    is_away: bool = False
    asked: list[str] = field(default_factory=list)
    after_put: Callable[[bytes], None] = lambda _: None

    def answers(self) -> bool:
        return not self.is_away

    def put(self, content: bytes) -> None:
        self._ask("put")
        self.contents[digest_of(content)] = content
        self.after_put(digest_of(content))

    def get(self, digests: Collection[bytes]) -> Mapping[bytes, bytes]:
        self._ask("get")
        return {one: self.contents[one] for one in digests if digest_of(self.contents.get(one, b"")) == one}

    def delete(self, digests: Collection[bytes]) -> None:
        self._ask("delete")
        for digest in digests:
            self.contents.pop(digest, None)

    def _ask(self, what: str) -> None:
        self.asked.append(what)
        if self.is_away:
            raise ObjectsAwayError("away")


@dataclass
class BucketServer:
    """A server of S3's protocol on this machine, which can be stopped and started again at the same port."""

    server: Any
    port: int
    name: str

    @property
    def url(self) -> str:
        """What OBJECT_STORE_URL is."""
        return f"s3://{self.name}/some/prefix?endpoint=http://127.0.0.1:{self.port}&region=eu-central-1"

    def stop(self) -> None:
        self.server.stop()

    def start(self) -> None:
        """Its objects are still there."""
        self.server = _server(self.port)


@contextmanager
def bucket_server() -> Iterator[BucketServer]:
    """Run moto's server, which keeps objects in memory, in a thread of this process."""
    import boto3

    server = _server(0)
    port = server.get_host_and_port()[1]
    client = boto3.client(
        "s3", endpoint_url=f"http://127.0.0.1:{port}", region_name="eu-central-1",
        aws_access_key_id=KEYS["AWS_ACCESS_KEY_ID"], aws_secret_access_key=KEYS["AWS_SECRET_ACCESS_KEY"],
    )  # fmt: skip
    found = BucketServer(server, port, f"objects-{uuid4().hex}")
    client.create_bucket(Bucket=found.name, CreateBucketConfiguration={"LocationConstraint": "eu-central-1"})
    client.close()
    yield found
    found.stop()


def _server(port: int) -> Any:
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=port, verbose=False)
    server.start()
    return server
