"""Where Git may go: public addresses, and nothing outside of LOCAL_REPOS_ROOT."""

import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from testlist.errors import CODES, InventoryError

from app.adapters.git_sources import _problem, public_address, resolve_commit, source_of
from app.domain.repositories import Repository
from app.errors import CommitNotFound, GitHostUnreachable, InvalidInput, Problem, RepositoryNotFound
from app.settings import Settings

PUBLIC = "140.82.112.3"
SHA = "0123456789abcdef0123456789abcdef01234567"
Resolver = Callable[..., None]


@pytest.fixture
def resolves_to(monkeypatch: pytest.MonkeyPatch) -> Resolver:
    """Answer every look-up with these addresses."""

    def answer(*addresses: str) -> None:
        def getaddrinfo(host: str, port: int, **_: object) -> list[tuple[object, ...]]:
            kinds = [(socket.AF_INET6 if ":" in a else socket.AF_INET, a) for a in addresses]
            return [(kind, socket.SOCK_STREAM, 6, "", (address, port)) for kind, address in kinds]

        monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)

    return answer


@pytest.mark.parametrize(
    "address",
    [
        PUBLIC,
        "8.8.8.8",
        "192.0.1.0",
        "192.88.98.255",
        "192.88.100.0",
        "100.63.255.255",
        "198.20.0.0",
        "223.255.255.255",
        "2606:4700::1111",
        "2a00:1450:4001:80b::200e",
        "2001:200::1",
        "2001:4860:4860::8888",
        "64:ff9b::808:808",
    ],
)
def test_a_public_address_is_what_git_is_pinned_to(resolves_to: Resolver, address: str) -> None:
    resolves_to(address, PUBLIC)
    assert public_address("github.com") == address


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.255.255.254", "0.0.0.0", "0.1.2.3", "10.0.0.1", "172.16.0.1", "172.31.255.255",
        "168.63.129.16", "100.100.100.200", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254",
        "192.168.0.1", "169.254.169.254", "100.64.0.1", "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1",
        "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
        "::", "::1", "fe80::1", "fe80::1%eth0", "fec0::1", "fc00::1", "fd12:3456:789a::1", "ff02::1", "ff0e::1",
        "2001:db8::1", "2001::1", "100::1",
        # an IPv4 address in the clothes of IPv6
        "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "::10.0.0.1",
        "64:ff9b::7f00:1", "64:ff9b::a00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::7f00:1", "::ffff:0:127.0.0.1",
        # special by the registries of IANA, which the library's tables know in part
        "192.0.0.1", "192.0.0.8", "192.0.0.9", "192.0.0.10", "192.0.0.170", "192.88.99.0", "192.88.99.255", "192.31.196.1",
        "192.52.193.1", "192.175.48.1", "3fff::1", "3fff:fff:ffff::1", "3ffe::1", "2001:1::1", "2001:20::1", "2001:1ff::1",
        "2620:4f:8000::1", "5f00::1", "::ffff:192.0.0.8", "64:ff9b::192.88.99.1", "64:ff9b::192.0.0.8", "2002:808:808::1",
        "2002:7f00:1::", "2002:a00:1::1", "2002:a9fe:a9fe::1",
    ],
)  # fmt: skip
def test_an_address_inside_is_refused_also_beside_a_public_one(resolves_to: Resolver, address: str) -> None:
    for addresses in ((address,), (PUBLIC, address), (address, PUBLIC)):
        resolves_to(*addresses)
        with pytest.raises(InventoryError, match="not public") as refused:
            public_address("rebind.example.org")
        assert refused.value.code == "host_refused"


@pytest.mark.parametrize("address", ["::ffff:140.82.112.3", "64:ff9b::8c52:7003"])
def test_a_public_ipv4_address_written_as_ipv6_is_public(resolves_to: Resolver, address: str) -> None:
    resolves_to(address)
    assert public_address("github.com") == address


def test_a_host_that_cannot_be_looked_up_may_be_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    monkeypatch.setattr(socket, "getaddrinfo", away)
    with pytest.raises(InventoryError) as refused:
        public_address("github.com")
    assert (refused.value.code, refused.value.retryable) == ("git_failed", True)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A LOCAL_REPOS_ROOT with one repository, beside a folder that is none of its business."""
    for folder in ("root/shop", "outside/secret"):
        (tmp_path / folder).mkdir(parents=True)
    return tmp_path / "root"


def local(name: str, root: Path | None) -> Path | None:
    return source_of(Repository("local", "-", name), Settings(local_repos_root=root)).path


def refused(name: str, root: Path | None) -> str:
    with pytest.raises(InventoryError) as error:
        local(name, root)
    return error.value.code


def test_a_local_name_is_a_folder_below_the_root(root: Path) -> None:
    assert local("shop", root) == root / "shop"


def test_without_a_root_there_are_no_local_repositories() -> None:
    assert refused("shop", None) == "repository_not_found"


def test_a_link_that_leaves_the_root_is_refused_and_one_that_stays_is_not(root: Path) -> None:
    (root / "out").symlink_to(root.parent / "outside" / "secret")
    (root / "up").symlink_to("..")
    (root / "self").symlink_to(".")
    (root / "alias").symlink_to("shop")
    (root / "loop").symlink_to("loop")
    (root / "nowhere").symlink_to(root.parent / "outside" / "nothing")
    for name in ("out", "up", "self", "nowhere"):
        assert refused(name, root) == "repository_outside_root"
    assert refused("loop", root) == "repository_damaged"
    assert local("alias", root) == root / "shop"


@pytest.mark.parametrize("name", ["..", ".", "../outside/secret", "shop/../../outside/secret", "missing", ""])
def test_a_name_that_leads_out_or_nowhere_is_refused(root: Path, name: str) -> None:
    assert refused(name, root) == "repository_not_found"


def test_a_name_that_leads_to_a_folder_beside_the_root_is_refused(root: Path) -> None:
    beside = root.parent / "root-2"
    beside.mkdir()
    assert refused("../root-2", root) == "repository_not_found"
    assert refused(str(beside), root) == "repository_not_found"


def test_a_file_is_no_repository(root: Path) -> None:
    (root / "file").write_text("", encoding="utf-8")
    assert refused("file", root) == "repository_not_found"


def test_the_root_itself_may_be_a_link(root: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(root)
    assert local("shop", tmp_path / "link") == root / "shop"


def test_a_remote_commit_is_taken_as_given_without_asking_its_host() -> None:
    remote = Repository("github.com", "acme", "shop")
    assert resolve_commit(remote, "main", SHA, Settings()) == (SHA, "main")


def test_a_local_repository_that_is_not_there_is_told_as_a_problem(root: Path) -> None:
    with pytest.raises(RepositoryNotFound, match="no local repository 'missing'"):
        resolve_commit(Repository("local", "-", "missing"), None, None, Settings(local_repos_root=root))


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("repository_not_found", RepositoryNotFound), ("access_denied", RepositoryNotFound),
        ("commit_not_found", CommitNotFound), ("git_timeout", GitHostUnreachable), ("git_failed", GitHostUnreachable),
        ("repository_empty", InvalidInput), ("repository_too_large", InvalidInput), ("host_refused", InvalidInput),
        ("repository_too_complex", InvalidInput), ("repository_damaged", InvalidInput),
        ("repository_outside_root", InvalidInput),
    ],
)  # fmt: skip
def test_what_git_says_becomes_the_answer_a_client_understands(code: str, problem: type[Problem]) -> None:
    found = _problem(InventoryError(code, "Plain words."))
    assert type(found) is problem
    assert str(found) == "Plain words."


def test_no_code_of_the_engine_is_left_without_an_answer() -> None:
    for code in CODES:
        assert isinstance(_problem(InventoryError(code, "Plain words.")), Problem)


def test_a_host_that_is_away_tells_when_to_come_back() -> None:
    found = _problem(InventoryError("git_timeout", "Slow."))
    assert isinstance(found, GitHostUnreachable)
    assert found.retry_after == 30
