"""Where objects are kept: a folder, a bucket behind a real server, and what happens while it is away."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest
from service_harness.objects import KEYS, BucketServer, bucket_server

from app.adapters import object_bucket, object_folder, object_store
from app.adapters.object_bucket import ForkedError, ObjectBucket
from app.adapters.object_folder import ObjectFolder
from app.adapters.object_store import objects_of
from app.adapters.verified_objects import PAUSE_SECONDS, ObjectPlace, VerifiedObjects, name_of
from app.cli.children import children
from app.cli.listen_address import ListenAddress
from app.cli.worker_size import size_of
from app.domain.objects import ObjectsAwayError, digest_of
from app.errors import BadSetting
from app.setting_types import Bucket, object_place
from app.settings import Settings, load

#: what a request to a server that is away takes at most on a busy machine
BOUND_SECONDS = 30


@pytest.fixture(scope="module")
def server() -> Iterator[BucketServer]:
    pytest.importorskip("obstore", reason="obstore is not installed: pip install 'fairlane[s3]'")
    pytest.importorskip("moto", reason="moto is not installed: pip install 'fairlane[dev]'")
    with bucket_server() as found:
        yield found


@pytest.fixture
def bucket(server: BucketServer, monkeypatch: pytest.MonkeyPatch) -> ObjectBucket:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    return bucket_of(server.url)


@pytest.fixture(params=["folder", "bucket"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> ObjectPlace:
    if request.param == "folder":
        return ObjectFolder(tmp_path)
    bucket: ObjectBucket = request.getfixturevalue("bucket")
    return bucket


def bucket_of(url: str) -> ObjectBucket:
    where = object_place(url)
    assert isinstance(where, Bucket)
    return ObjectBucket(where)


def test_objects_are_read_as_they_were_stored(place: ObjectPlace) -> None:
    objects = VerifiedObjects(place)
    contents = [bytes([n]) * n * 1000 for n in range(1, 21)]
    for content in contents:
        objects.put(content)
    objects.put(contents[0])  # again
    digests = [digest_of(content) for content in contents]
    assert objects.get([*digests, digest_of(b"none")]) == dict(zip(digests, contents, strict=True))
    objects.delete([*digests[1:], digest_of(b"none")])
    assert objects.get(digests) == {digests[0]: contents[0]}
    objects.delete([])


def test_a_damaged_object_is_not_read_and_is_mended_by_storing_it_again(place: ObjectPlace) -> None:
    objects, digest = VerifiedObjects(place), digest_of(b"content")
    objects.put(b"content")
    place.put(name_of(digest), b"something else")
    assert objects.get([digest]) == {}
    objects.put(b"content")
    assert objects.get([digest]) == {digest: b"content"}


def test_only_our_user_may_open_files(tmp_path: Path) -> None:
    VerifiedObjects(ObjectFolder(tmp_path)).put(b"content")
    for path in tmp_path.rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)


def test_a_folder_that_is_not_there_is_away_not_empty(tmp_path: Path) -> None:
    folder = ObjectFolder(tmp_path / "disk")
    for act in (
        lambda: folder.get("ab/abc"),
        lambda: folder.put("ab/abc", b"x"),
        lambda: VerifiedObjects(folder).get([b"\1"]),
    ):
        with pytest.raises(ObjectsAwayError):
            act()


def test_files_that_dead_processes_did_not_finish_are_deleted_after_a_day(tmp_path: Path) -> None:
    folder = ObjectFolder(tmp_path)
    folder.put("ab/abc", b"x")
    old, new = (tmp_path / "unfinished" / name for name in ("old", "new"))
    for path in (old, new):
        path.write_bytes(b"half")
    os.utime(old, (0, time.time() - object_folder.LEFT_SECONDS - 60))
    folder.delete([])
    assert (old.exists(), new.exists(), folder.get("ab/abc")) == (False, True, b"x")


def test_a_disk_that_is_full_is_away_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    folder = ObjectFolder(tmp_path)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ObjectsAwayError, match="No space"):
        folder.put("ab/abc", b"x")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


class Failing:
    """A place that fails as often as it is told."""

    def __init__(self) -> None:
        self.fails, self.asked = True, 0

    def put(self, name: str, content: bytes) -> None:
        self._ask()

    def get(self, name: str) -> bytes | None:
        self._ask()
        return b"content"

    def delete(self, names: Collection[str]) -> None:
        self._ask()

    def _ask(self) -> None:
        self.asked += 1
        if self.fails:
            raise ObjectsAwayError("no answer")


def test_a_store_that_is_away_for_a_minute_is_asked_a_few_times_and_then_used_again() -> None:
    seconds = 0.0
    failing = Failing()
    objects = VerifiedObjects(failing, clock=lambda: seconds)
    refused = 0
    while seconds < 60:
        try:
            objects.get([digest_of(b"content")])
        except ObjectsAwayError:
            refused += 1
        seconds += 0.5
    assert (refused, failing.asked, objects.answers()) == (120, 4, False)  # at 0, 5, 15 and 35 s
    failing.fails = False
    seconds += PAUSE_SECONDS[1]
    assert objects.get([digest_of(b"content")]) == {digest_of(b"content"): b"content"}
    failing.fails = True
    with pytest.raises(ObjectsAwayError, match="no answer"):
        objects.delete([])
    seconds += PAUSE_SECONDS[0] + 0.1
    with pytest.raises(ObjectsAwayError, match="no answer"):  # the pause is short again
        objects.put(b"content")


def test_a_server_that_is_away_is_noticed_and_used_again_when_it_is_back(
    bucket: ObjectBucket, server: BucketServer
) -> None:
    seconds = 0.0
    objects = VerifiedObjects(bucket, clock=lambda: seconds)
    objects.put(b"content")
    server.stop()
    try:
        began = time.monotonic()
        with pytest.raises(ObjectsAwayError):
            objects.get([digest_of(b"content"), *(bytes([n]) for n in range(50))])
        assert time.monotonic() - began < BOUND_SECONDS
        with pytest.raises(ObjectsAwayError, match="a moment ago"):
            objects.put(b"other")
    finally:
        server.start()
    seconds = 60
    assert objects.get([digest_of(b"content")]) == {digest_of(b"content"): b"content"}


@pytest.mark.usefixtures("bucket")
def test_a_bucket_that_is_not_there_is_away_not_empty(server: BucketServer) -> None:
    other = bucket_of(server.url.replace(server.name, "another-bucket"))
    for act in (lambda: other.get("ab/abc"), lambda: other.put("ab/abc", b"x")):
        with pytest.raises(ObjectsAwayError) as refused:
            act()
        assert KEYS["AWS_SECRET_ACCESS_KEY"] not in str(refused.value)


def test_a_process_forked_from_one_that_used_a_bucket_says_so(
    bucket: ObjectBucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_bucket, "_user", [os.getpid() + 1])
    with pytest.raises(ForkedError):
        bucket.get("ab/abc")


def settings(**given: str) -> Settings:
    return load(given)


def test_files_of_the_home_are_the_default_of_one_machine(tmp_path: Path) -> None:
    objects = objects_of(settings(FAIRLANE_HOME=str(tmp_path)))
    assert objects is not None
    objects.put(b"content")
    digest = digest_of(b"content")
    assert (tmp_path / "objects" / name_of(digest)).read_bytes() == b"content"


def test_hosts_that_share_a_database_share_no_files_unless_a_setting_says_so(tmp_path: Path) -> None:
    hosts = {"FAIRLANE_HOME": str(tmp_path), "DATABASE_URL": "postgresql://user@host/db"}
    assert objects_of(settings(**hosts)) is None
    shared = tmp_path / "shared"
    shared.mkdir()
    objects = objects_of(settings(**hosts, OBJECT_STORE_URL=f"file://{shared}"))
    assert objects is not None
    objects.put(b"content")
    assert (shared / name_of(digest_of(b"content"))).exists()


def test_without_its_package_a_bucket_is_refused_by_the_name_of_the_extra(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(object_store, "find_spec", lambda _: None)
    with pytest.raises(BadSetting, match=r"fairlane\[s3\]"):
        objects_of(settings(FAIRLANE_HOME=str(tmp_path), OBJECT_STORE_URL="s3://bucket"))


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("s3://bucket", Bucket("bucket")),
        ("s3://bucket/a/b/", Bucket("bucket", "a/b")),
        ("s3://my.bucket/a?endpoint=https://s3.example.org:9000/&region=eu-1", Bucket("my.bucket", "a", "https://s3.example.org:9000", "eu-1")),
        ("file:///srv/a%20b", Path("/srv/a b")),
    ],
)  # fmt: skip
def test_addresses(url: str, place: object) -> None:
    assert object_place(url) == place


@pytest.mark.parametrize(
    "url",
    [
        "bucket", "s3://", "s3://key:secret@bucket", "s3://Bucket", "s3://bucket?acl=public", "s3://bucket#x", "s3://bucket?endpoint=ftp://x",
        "s3://bucket?endpoint=http://user:pass@host", "file://host/folder", "file:///", "file:///folder?x=1", "gs://bucket", "/srv/objects",
    ],
)  # fmt: skip
def test_other_addresses_are_refused_and_no_secret_is_shown(url: str) -> None:
    with pytest.raises(BadSetting) as refused:
        load({"OBJECT_STORE_URL": url})
    assert "OBJECT_STORE_URL" in str(refused.value)
    assert "expected" in str(refused.value)
    assert "secret" not in str(refused.value)


def test_a_folder_has_to_be_there_when_a_process_starts(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="does not exist"):
        load({"OBJECT_STORE_URL": f"file://{tmp_path}/none"})


def test_the_programs_of_one_machine_are_told_of_the_folder_beside_their_database(tmp_path: Path) -> None:
    one = settings(FAIRLANE_HOME=str(tmp_path))
    place = ListenAddress("127.0.0.1", 8000)
    for child in children(one, "postgresql://app@localhost/fairlane", place, size_of(one, "tier")[0]):
        its = load({name: value for name, value in child.env.items() if value} | {"LOCAL_REPOS_ROOT": str(tmp_path)})
        assert its.object_store == tmp_path / "objects"
