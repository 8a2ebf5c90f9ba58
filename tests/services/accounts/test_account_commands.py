"""`fairlane user` and `fairlane token`: add, list, revoke."""

import json
import os
import pwd
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from app.cli.wiring import actor
from app.errors import InvalidInput
from app.services.accounts import password_resets, tokens
from tests.conftest import World
from tests.tiers import few

Fairlane = Any


def added(fairlane: Fairlane, email: str, *flags: str) -> dict[str, Any]:
    done = fairlane("user", "add", email, *flags, "--json")
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.output)
    return found


def made(fairlane: Fairlane, email: str, *flags: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(fairlane("token", "add", email, *flags, "--json").output)
    return found


def listed(fairlane: Fairlane, *arguments: str) -> list[dict[str, Any]]:
    done = fairlane(*arguments, "--json")
    assert done.exit_code == 0, done.output
    found: list[dict[str, Any]] = json.loads(done.output)
    return found


@pytest.fixture
def people(world: World, fairlane: Fairlane) -> None:
    added(fairlane, "Zoe@example.org", "--tier", "pro")
    added(fairlane, "ann@example.org", "--operator")
    added(fairlane, "bob@other.test", "--read-only-operator")
    world.rows("INSERT INTO users (id, kind, created_at) VALUES (:id, 'anonymous', now()) RETURNING 1", id=uuid4())


@pytest.mark.usefixtures("people")
def test_people_are_listed_by_address_with_tier_and_role(fairlane: Fairlane) -> None:
    rows = [(row["email"], row["tier"], row["role"]) for row in listed(fairlane, "user", "list")]
    assert rows == [
        ("ann@example.org", "free", "operator"),
        ("bob@other.test", "free", "read-only operator"),
        ("Zoe@example.org", "pro", "user"),
    ]
    table = fairlane("user", "list").output
    assert all(email in table for email, _, _ in rows)


@pytest.mark.usefixtures("people")
def test_a_list_is_narrowed_and_comes_in_pages(fairlane: Fairlane) -> None:
    def emails(*options: str) -> list[str]:
        return [row["email"] for row in listed(fairlane, "user", "list", *options)]

    assert emails("--match", "EXAMPLE.") == ["ann@example.org", "Zoe@example.org"]
    assert emails("--match", "%") == []
    first = emails("--most", "2")
    assert (first, emails("--after", first[-1].upper())) == (["ann@example.org", "bob@other.test"], ["Zoe@example.org"])


def test_the_two_roles_exclude_each_other(world: World, fairlane: Fairlane) -> None:
    done = fairlane("user", "add", "ann@example.org", "--operator", "--read-only-operator")
    assert done.exit_code == 2
    assert world.rows("SELECT 1 FROM users") == []


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize(
    ("email", "scopes"),
    few(
        1,
        [
            ("ann@example.org", ["read", "write", "operator"]),
            ("bob@other.test", ["read", "write", "operator:read"]),
            ("zoe@example.org", ["read", "write"]),
        ],
    ),
)
def test_a_new_token_has_the_scopes_of_the_role(fairlane: Fairlane, email: str, scopes: list[str]) -> None:
    assert made(fairlane, email)["scopes"] == scopes


@pytest.mark.usefixtures("people")
def test_tokens_are_listed_without_their_secrets(fairlane: Fairlane) -> None:
    one, two = (made(fairlane, "zoe@example.org") for _ in range(2))
    made(fairlane, "ann@example.org")
    done = fairlane("token", "list", "ZOE@example.org", "--json")
    assert {row["prefix"] for row in json.loads(done.output)} == {one["prefix"], two["prefix"]}
    assert one["token"] not in done.output
    assert one["prefix"] in fairlane("token", "list", "zoe@example.org").output
    assert fairlane("token", "list", "nobody@example.org").exit_code == 1


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize("by", few(1, ["prefix", "id", "token"]))
def test_a_token_is_revoked_by_its_name_and_only_once(world: World, fairlane: Fairlane, by: str) -> None:
    kept, gone = (made(fairlane, "zoe@example.org") for _ in range(2))
    ids = {row["prefix"]: row["id"] for row in listed(fairlane, "token", "list", "zoe@example.org")}
    name = gone[by] if by != "id" else ids[gone["prefix"]]
    done = fairlane("token", "revoke", name, "--json")
    told = json.loads(done.output)
    assert (done.exit_code, told["prefix"], told["email"]) == (0, gone["prefix"], "Zoe@example.org")
    assert [row["prefix"] for row in listed(fairlane, "token", "list", "zoe@example.org")] == [kept["prefix"]]
    assert fairlane("token", "revoke", name).exit_code == 1
    assert world.rows("SELECT actor, subject FROM audit_log WHERE action = 'token.revoke'") == [
        {"actor": actor(), "subject": str(told["user_id"])}
    ]


@pytest.mark.usefixtures("people")
def test_each_new_token_is_in_the_audit_log_with_its_scopes_and_without_its_secret(
    world: World, fairlane: Fairlane
) -> None:
    token = made(fairlane, "zoe@example.org")
    owner = world.value("SELECT id FROM users WHERE email = 'Zoe@example.org'")
    tokens.add_token(world.uow, UUID(str(owner)), scopes=("read", "operator"), now=world.now)
    by_command, by_person = world.rows(
        "SELECT actor, subject, facts FROM audit_log WHERE action = 'token.add' ORDER BY id"
    )
    assert (by_command["actor"], by_command["subject"]) == (actor(), str(owner))
    assert by_command["facts"]["scopes"] == token["scopes"]
    assert (by_person["actor"], by_person["subject"]) == (str(owner), str(owner))
    assert by_person["facts"]["scopes"] == ["read", "operator"]
    ids = {str(row["id"]) for row in world.rows("SELECT id FROM api_tokens")}
    assert {by_command["facts"]["token"], by_person["facts"]["token"]} == ids
    assert world.rows("SELECT 1 FROM audit_log WHERE strpos(facts::text, 'fl_') > 0") == []


def test_the_actor_of_every_command_is_the_user_of_the_machine(world: World, fairlane: Fairlane) -> None:
    email = "ops@example.org"
    for arguments in (
        ["user", "add", email, "--operator"], ["user", "tier", email, "pro"], ["user", "limit", email, "2"],
        ["tier", "limit", "free", "2"], ["pause", "analysis_default"], ["resume", "analysis_default"],
        ["token", "add", email], ["user", "delete", email, "--yes"],
    ):  # fmt: skip
        assert fairlane(*arguments).exit_code == 0, arguments
    rows = world.rows("SELECT action, actor FROM audit_log")
    assert len(rows) == 8
    assert {row["actor"] for row in rows} == {actor()}
    assert actor() == f"cli:{pwd.getpwuid(os.getuid()).pw_name}@{socket.gethostname()}"


@pytest.mark.proof
@pytest.mark.usefixtures("people")
def test_a_prefix_of_several_tokens_revokes_none(world: World, fairlane: Fairlane) -> None:
    tokens = [made(fairlane, "zoe@example.org") for _ in range(2)]
    world.rows("UPDATE api_tokens SET prefix = :prefix RETURNING 1", prefix=tokens[0]["prefix"])
    done = fairlane("token", "revoke", tokens[0]["prefix"])
    assert done.exit_code == 1
    rows = listed(fairlane, "token", "list", "zoe@example.org")
    assert len(rows) == 2
    assert all(row["id"] in done.output for row in rows)


@pytest.mark.parametrize(
    ("words", "offered"),
    few(
        1,
        [
            ("fairlane to", {"token"}),
            ("fairlane token ", {"add", "list", "revoke"}),
            ("fairlane user list --ma", {"--match"}),
        ],
    ),
)
def test_a_shell_completes_commands_and_options(words: str, offered: set[str]) -> None:
    env = {
        **os.environ,
        "_FAIRLANE_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
    }
    argv = [Path(sys.executable).parent / "fairlane"]
    done = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=240, check=False)
    assert {line.partition(",")[2] for line in done.stdout.splitlines()} == offered, done.stderr


def test_an_operator_hands_out_a_link_that_sets_a_new_password_once(world: World, fairlane: Fairlane) -> None:
    added(fairlane, "ann@example.org")
    done = fairlane("user", "link", "ann@example.org", "--password")
    where, _, secret = done.output.strip().partition("/reset?token=")
    assert where.startswith("http")
    now = world.uow.now()
    assert password_resets.reset(world.uow, secret, "another long password", now=now)
    with pytest.raises(InvalidInput):
        password_resets.reset(world.uow, secret, "another long password", now=now)
    assert fairlane("user", "link", "nobody@example.org", "--password").exit_code == 1


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize("options", [[], ["--password"]])
def test_each_link_that_signs_somebody_in_is_in_the_audit_log(
    world: World, fairlane: Fairlane, options: list[str]
) -> None:
    owner = world.value("SELECT id FROM users WHERE email = 'Zoe@example.org'")
    secret = fairlane("user", "link", "zoe@example.org", *options).output.rsplit("=", 1)[1].strip()
    assert world.rows("SELECT actor, subject, facts FROM audit_log WHERE action = 'user.link'") == [
        {"actor": actor(), "subject": str(owner), "facts": {"sets_password": bool(options)}}
    ]
    assert world.rows("SELECT 1 FROM audit_log WHERE strpos(facts::text, :secret) > 0", secret=secret) == []


@pytest.mark.usefixtures("people")
def test_a_token_that_its_owner_revokes_is_in_the_audit_log(world: World) -> None:
    owner = UUID(str(world.value("SELECT id FROM users WHERE email = 'Zoe@example.org'")))
    made = tokens.add_token(world.uow, owner, now=world.now)
    tokens.revoke_token(world.uow, owner, made.token_id, now=world.now)
    assert world.rows("SELECT actor, subject, facts FROM audit_log WHERE action = 'token.revoke'") == [
        {"actor": str(owner), "subject": str(owner), "facts": {"token": str(made.token_id)}}
    ]


def test_a_command_that_reads_a_closed_standard_input_finds_nothing(
    fairlane: Fairlane, world: World, tmp_path: Path
) -> None:
    added(fairlane, "ann@example.org")
    url = world.uow.engine.url.render_as_string(hide_password=False)
    env = os.environ | {"DATABASE_URL": url, "FAIRLANE_HOME": str(tmp_path)}
    argv = ["sh", "-c", 'exec "$0" -m app.cli user password ann@example.org <&-', sys.executable]
    done = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("fairlane: A password has "), done.stderr
