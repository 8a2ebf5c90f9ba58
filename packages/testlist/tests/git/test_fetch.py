"""Getting at one commit: which one a name means, what is refused, and that nothing stays behind."""

import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from testlist import GitLimits, InventoryError, Source, fetched, inventory, resolve
from testlist_harness.githost import serving
from testlist_harness.processes import no_children_left
from testlist_harness.repositories import MakeRepository, commit, git

SIMPLE = {"test_a.py": "def test_a(): pass\n", "README": "x\n"}


def code(caught: pytest.ExceptionInfo[InventoryError]) -> str:
    return caught.value.code


def test_resolve_finds_head_branches_tags_and_commits_of_a_local_repository(make_repository: MakeRepository) -> None:
    repository = make_repository(SIMPLE)
    head = git(repository, "rev-parse", "HEAD")
    git(repository, "tag", "--annotate", "--message=x", "v1")
    source = Source.local(repository)
    assert resolve(source, None) == (head, "main")
    assert resolve(source, "v1") == (head, "v1")
    assert resolve(source, head[:10]) == (head, head[:10])


def test_commits_of_one_second_have_instants_in_the_order_of_the_history(
    make_repository: MakeRepository, tmp_path: Path
) -> None:
    repository = make_repository(SIMPLE)
    commits = []
    for day in (9, 11, 11, 11, 12):
        env = {"GIT_COMMITTER_DATE": f"2026-11-{day:02} 10:00:00 +0200"}
        git(repository, "commit", "--quiet", "--allow-empty", "--message=x", env=env)
        commits.append(git(repository, "rev-parse", "HEAD"))
    instants = []
    for commit_id in commits:
        with fetched(Source.local(repository), commit_id, workdir=tmp_path) as found:
            instants.append(found.committed_at())
    same = [datetime(2026, 11, 11, 8, 0, tzinfo=UTC) + timedelta(microseconds=number) for number in range(3)]
    assert instants == [datetime(2026, 11, 9, 8, tzinfo=UTC), *same, datetime(2026, 11, 12, 8, tzinfo=UTC)]


def test_one_git_answers_all_questions_of_a_kind(make_repository: MakeRepository, tmp_path: Path) -> None:
    """A process that is started for each level of folders took 8 ms, and half of a run on what is known."""
    repository = make_repository({f"{'deep/' * depth}test_a.py": f"# {depth}\n" for depth in range(9)})
    with fetched(Source.local(repository), git(repository, "rev-parse", "HEAD"), workdir=tmp_path) as found:
        answering = []
        for _ in range(2):
            blobs = [entry.blob_id for entry in found.entries()]
            assert len(found.sizes(blobs)) == len(list(found.read(blobs))) == 9
            kept = (found.objects.checks.idle, found.objects.contents.idle)
            answering.append([process and process.pid for process in kept])
    assert answering[0] == answering[1] != [None, None]


@pytest.mark.parametrize("date", ["@0 +0000", "@99999999999 +0000", "@18446744073709551615 +0000"])
def test_a_commit_of_an_odd_time_has_one_that_a_database_can_store(
    make_repository: MakeRepository, tmp_path: Path, date: str
) -> None:
    repository = make_repository(SIMPLE)
    tree = git(repository, "rev-parse", "HEAD^{tree}")
    by = f"A <a@example.org> {date.removeprefix('@')}"
    content = f"tree {tree}\nauthor {by}\ncommitter {by}\n\nx\n".encode()
    made = git(repository, "hash-object", "-t", "commit", "-w", "--literally", "--stdin", feed=content)
    with fetched(Source.local(repository), made, workdir=tmp_path) as found:
        instant = found.committed_at()
    assert instant is not None
    assert datetime(1970, 1, 1, tzinfo=UTC) <= instant <= datetime(2101, 1, 1, tzinfo=UTC)


@pytest.mark.proof
def test_resolve_takes_what_rev_parse_takes(make_repository: MakeRepository) -> None:
    repository = make_repository(SIMPLE)
    git(repository, "tag", "--annotate", "--message=x", "v1")
    for name in ("b", "c"):
        (repository / name).write_text(name)
        commit(repository)
    git(
        repository,
        "merge",
        "--quiet",
        "--no-ff",
        "--allow-unrelated-histories",
        "--strategy=ours",
        "-m",
        "x",
        _other(repository),
    )
    head = git(repository, "rev-parse", "HEAD")
    for text in (
        "HEAD", "@", "HEAD~1", "@~2", "HEAD^", "HEAD^2", "@^^", "@~1^1~1", "main~1", "v1", "v1^{}", "v1^{commit}", "v1^0",
        "refs/heads/main~1", head, head[:7], head[:4].upper(), f"{head[:12]}~1", f"v1-2-g{head[:9]}",
    ):  # fmt: skip
        expected = git(repository, "rev-parse", "--verify", "--end-of-options", f"{text}^{{commit}}")
        assert resolve(Source.local(repository), text)[0] == expected, text


def _other(repository: Path) -> str:
    return git(repository, "commit-tree", "-m", "other", git(repository, "rev-parse", "HEAD^{tree}"))


@pytest.mark.parametrize(
    ("text", "said"),
    [("HEAD~99", "no branch, tag or commit 'HEAD~99'"), ("nosuch", "'nosuch'"), ("abcdef", "not exactly one commit"),
     ("HEAD@{1}", "logs of references"), ("@{u}", "upstream"), (":/x", "messages"), ("HEAD^{/x}", "messages"),
     ("HEAD^{tree}", "not read"), ("HEAD:x", "allowed are"), ("~1", "allowed are"), ("-x", "allowed are"),
     ("--all", "allowed are"), ("HEAD --all", "allowed are"), ("HEAD~1\n--all", "allowed are")],
)  # fmt: skip
def test_a_revision_that_is_none_says_what_is_allowed(make_repository: MakeRepository, text: str, said: str) -> None:
    with pytest.raises(InventoryError, match=re.escape(said)) as caught:
        resolve(Source.local(make_repository(SIMPLE)), text)
    assert code(caught) == "commit_not_found"


@pytest.mark.parametrize("text", ["HEAD~1", "@^", "v1^{commit}"])
def test_steps_need_a_repository_on_this_machine(text: str) -> None:
    with pytest.raises(InventoryError, match="whole commit ids only"):
        resolve(Source.remote("https://example.org/a/b"), text)


@pytest.mark.parametrize("ref", ["--upload-pack=touch x", "-x", "a..b", "a b", "a\nb", "a:b", "@{-1}", "x" * 300])
def test_resolve_refuses_what_cannot_be_a_ref(make_repository: MakeRepository, ref: str) -> None:
    with pytest.raises(InventoryError) as caught:
        resolve(Source.local(make_repository(SIMPLE)), ref)
    assert code(caught) == "commit_not_found"


def test_resolve_tells_an_empty_repository_from_a_missing_one(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "empty")
    with pytest.raises(InventoryError) as caught:
        resolve(Source.local(tmp_path / "empty"), None)
    assert code(caught) == "repository_empty"
    with pytest.raises(InventoryError) as caught:
        resolve(Source.local(tmp_path / "nowhere"), None)
    assert code(caught) == "repository_not_found"


def test_a_directory_inside_another_repository_is_none_itself(make_repository: MakeRepository) -> None:
    repository = make_repository({"inner/test_a.py": "def test_a(): pass\n"})
    with pytest.raises(InventoryError) as caught:
        resolve(Source.local(repository / "inner"), None)
    assert code(caught) == "repository_not_found"


@pytest.mark.parametrize(
    "url",
    ["ext::sh -c touch% x", "file:///etc", "http://example.org/a/b", "ssh://example.org/a", "-u/bin/sh", "/etc",
     "https://user:secret@example.org/a/b", "https://exa mple.org/", "git://example.org/a", "https:///a"],
)  # fmt: skip
def test_addresses_that_are_not_plain_https_are_refused_without_a_process(url: str) -> None:
    with pytest.raises(InventoryError) as caught:
        Source.remote(url)
    assert code(caught) == "host_refused"
    assert "secret" not in str(caught.value)


def test_a_remote_commit_is_fetched_without_other_blobs_and_leaves_nothing(
    make_repository: MakeRepository, tmp_path: Path
) -> None:
    repository = make_repository({**SIMPLE, "large.bin": os.urandom(300_000)})
    head = git(repository, "rev-parse", "HEAD")
    with serving(tmp_path) as host:
        source = Source.remote(f"{host}/repo/.git", plain_http=True)
        assert resolve(source, None) == (head, "main")
        assert resolve(source, "main") == (head, "main")
        with fetched(source, head, workdir=tmp_path / "work") as repo:
            found = inventory(repo)
            size = sum(path.stat().st_size for path in repo.directory.rglob("*") if path.is_file())
    assert [(test.file, test.name) for test in found.tests] == [("test_a.py", "test_a")]
    assert size < 100_000
    assert list((tmp_path / "work").iterdir()) == []
    no_children_left()


def test_a_read_never_fetches_what_is_missing(make_repository: MakeRepository, tmp_path: Path) -> None:
    repository = make_repository(SIMPLE)
    head = git(repository, "rev-parse", "HEAD")
    readme = git(repository, "rev-parse", "HEAD:README")
    seen: list[str] = []
    with serving(tmp_path, seen=seen) as host:
        source = Source.remote(f"{host}/repo/.git", plain_http=True)
        with fetched(source, head, workdir=tmp_path / "work") as repo:
            before = len(seen)
            assert repo.sizes([readme]) == {}
            assert len(seen) == before


def test_missing_things_on_a_host_have_clear_codes(make_repository: MakeRepository, tmp_path: Path) -> None:
    make_repository(SIMPLE)
    git(tmp_path, "init", "--quiet", "empty")
    with serving(tmp_path) as host:
        source = Source.remote(f"{host}/repo/.git", plain_http=True)
        with pytest.raises(InventoryError) as caught:
            resolve(Source.remote(f"{host}/nowhere", plain_http=True), None)
        assert code(caught) == "repository_not_found"
        with pytest.raises(InventoryError) as caught:
            resolve(Source.remote(f"{host}/empty/.git", plain_http=True), None)
        assert code(caught) == "repository_empty"
        with pytest.raises(InventoryError) as caught:
            resolve(source, "no-such-branch")
        assert code(caught) == "commit_not_found"
        with pytest.raises(InventoryError) as caught, fetched(source, "0" * 39 + "1", workdir=tmp_path / "work"):
            pass
        assert code(caught) == "commit_not_found"
    assert list((tmp_path / "work").iterdir()) == []


def test_a_private_repository_looks_like_a_missing_one_and_opens_with_its_header(
    make_repository: MakeRepository, tmp_path: Path
) -> None:
    repository = make_repository(SIMPLE)
    with serving(tmp_path, password="Basic c2VjcmV0") as host:
        with pytest.raises(InventoryError) as caught:
            resolve(Source.remote(f"{host}/repo/.git", plain_http=True), None)
        assert code(caught) in ("repository_not_found", "access_denied")
        source = Source.remote(f"{host}/repo/.git", plain_http=True, authorization="Basic c2VjcmV0")
        assert resolve(source, None)[0] == git(repository, "rev-parse", "HEAD")
    assert "c2VjcmV0" not in repr(source)


def test_a_redirect_is_not_followed(make_repository: MakeRepository, tmp_path: Path) -> None:
    make_repository(SIMPLE)
    with serving(tmp_path) as inside, serving(tmp_path, location=inside) as host:
        with pytest.raises(InventoryError) as caught:
            resolve(Source.remote(f"{host}/repo/.git", plain_http=True), None)
        assert code(caught) == "host_refused"


def test_connections_go_to_the_pinned_address(make_repository: MakeRepository, tmp_path: Path) -> None:
    repository = make_repository(SIMPLE)
    with serving(tmp_path) as host:
        port = host.rpartition(":")[2]
        source = Source.remote(f"http://pinned.invalid:{port}/repo/.git", address="127.0.0.1", plain_http=True)
        assert resolve(source, None)[0] == git(repository, "rev-parse", "HEAD")


@pytest.mark.proof
def test_a_large_blob_is_left_out_and_the_others_arrive(make_repository: MakeRepository, tmp_path: Path) -> None:
    files = {f"test_{number}.py": f"def test_{number}(): pass\n" for number in range(9)}
    repository = make_repository({**files, "test_large.py": os.urandom(900_000)})
    head = git(repository, "rev-parse", "HEAD")
    limits = GitLimits(blob_bytes=200_000)
    with serving(tmp_path) as host:
        source = Source.remote(f"{host}/repo/.git", plain_http=True)
        with fetched(source, head, workdir=tmp_path / "work", limits=limits) as repo:
            found = inventory(repo)
    assert len(list(found.tests)) == 9
    assert [(file.path, file.skipped) for file in found.files if file.skipped] == [("test_large.py", "too_large")]


def test_a_repository_over_the_limit_is_refused(make_repository: MakeRepository, tmp_path: Path) -> None:
    repository = make_repository({f"{number}.txt": f"{os.urandom(30).hex()}" for number in range(400)})
    head = git(repository, "rev-parse", "HEAD")
    with serving(tmp_path) as host:
        source = Source.remote(f"{host}/repo/.git", plain_http=True)
        limits = GitLimits(pack_bytes=4_096)
        with pytest.raises(InventoryError) as caught, fetched(source, head, workdir=tmp_path / "w", limits=limits):
            pass
    assert code(caught) == "repository_too_large"
    assert list((tmp_path / "w").iterdir()) == []


@pytest.mark.parametrize("limits", [GitLimits(entries=3), GitLimits(depth=1), GitLimits(path_bytes=4)])
def test_a_tree_over_a_limit_is_refused(make_repository: MakeRepository, tmp_path: Path, limits: GitLimits) -> None:
    repository = make_repository({f"a/b/{name}": "x" for name in "abcd"})
    head = git(repository, "rev-parse", "HEAD")
    with (
        pytest.raises(InventoryError) as caught,
        fetched(Source.local(repository), head, workdir=tmp_path, limits=limits) as repo,
    ):
        list(repo.entries())
    assert code(caught) == "repository_too_large"
    no_children_left()


def test_links_and_submodules_are_no_files(make_repository: MakeRepository, tmp_path: Path) -> None:
    repository = make_repository(SIMPLE)
    (repository / "test_link.py").symlink_to("/etc/passwd")
    git(repository, "add", "test_link.py")
    head = git(repository, "rev-parse", "HEAD")
    git(repository, "update-index", "--add", "--cacheinfo", f"160000,{head},test_module.py")
    git(repository, "commit", "--quiet", "--message=links")
    head = git(repository, "rev-parse", "HEAD")
    with fetched(Source.local(repository), head, workdir=tmp_path) as repo:
        assert [entry.path for entry in repo.entries()] == ["README", "test_a.py"]


def test_paths_of_any_bytes_are_listed(make_repository: MakeRepository, tmp_path: Path) -> None:
    repository = make_repository({})
    odd = [b"test_\xff\xfe.py", b"test_new\nline.py", "test_é.py".encode(), b"test_tab\t.py"]
    for name in odd:
        Path(os.fsdecode(os.fsencode(repository) + b"/" + name)).write_text("def test_a(): pass\n")
    head = commit(repository)
    with fetched(Source.local(repository), head, workdir=tmp_path) as repo:
        found = inventory(repo)
    assert len(list(found.tests)) == len(odd)


def test_a_hostile_local_configuration_runs_nothing(make_repository: MakeRepository, tmp_path: Path) -> None:
    repository = make_repository(SIMPLE)
    witness = tmp_path / "witness"
    for key in ("core.fsmonitor", "core.sshCommand", "core.pager", "diff.external", "uploadpack.packObjectsHook"):
        git(repository, "config", key, f"touch {witness}")
    git(repository, "config", "remote.origin.url", f"ext::touch {witness}")
    git(repository, "config", "remote.origin.promisor", "true")
    git(repository, "config", "protocol.ext.allow", "always")
    git(repository, "config", "extensions.partialClone", "origin")
    git(repository, "config", "core.repositoryFormatVersion", "1")
    blob = git(repository, "rev-parse", "HEAD:test_a.py")
    head = git(repository, "rev-parse", "HEAD")
    (repository / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with fetched(Source.local(repository), head, workdir=tmp_path) as repo:
        found = inventory(repo)
    assert [(file.path, file.skipped) for file in found.files] == [("test_a.py", "missing")]
    assert not witness.exists()


def test_a_bare_repository_owned_by_another_user_is_read(make_repository: MakeRepository, tmp_path: Path) -> None:
    repository = make_repository(SIMPLE)
    git(tmp_path, "clone", "--quiet", "--bare", str(repository), "bare.git")
    if os.geteuid() == 0:
        os.chown(tmp_path / "bare.git", 12_345, 12_345)
    head, ref = resolve(Source.local(tmp_path / "bare.git"), None)
    assert (re.fullmatch("[0-9a-f]{40}", head) is not None, ref) == (True, "main")
