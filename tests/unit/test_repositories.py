"""Repository addresses: every form of docs/api.md, and what is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.repositories import Repository, SubmittedAddress, check_commit, check_ref, parse_address
from app.errors import InvalidInput

HOSTS = ("github.com", "gitlab.com", "bitbucket.org", "codeberg.org")
SHA = "0123456789abcdef0123456789abcdef01234567"


def remote(host: str, owner: str, name: str, *, ref: str | None = None, commit: str | None = None) -> SubmittedAddress:
    return SubmittedAddress(Repository(host, owner, name), ref, commit)


SHOP = remote("github.com", "Acme", "Shop")


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("Acme/Shop", SHOP),
        ("  Acme/Shop\n", SHOP),
        ("Acme/Shop.git", SHOP),
        ("https://github.com/Acme/Shop", SHOP),
        ("https://github.com/Acme/Shop/", SHOP),
        ("https://github.com/Acme/Shop.git", SHOP),
        ("HTTPS://GitHub.COM/Acme/Shop", SHOP),
        ("https://github.com:443/Acme/Shop", SHOP),
        ("https://github.com./Acme/Shop", SHOP),
        ("https://github.com/Acme/Shop?tab=readme-ov-file", SHOP),
        ("https://github.com/Acme/Shop#readme", SHOP),
        ("git@github.com:Acme/Shop.git", SHOP),
        ("git@GitHub.com:Acme/Shop", SHOP),
        ("https://gitlab.com/a/b", remote("gitlab.com", "a", "b")),
        ("https://bitbucket.org/a/b", remote("bitbucket.org", "a", "b")),
        ("git@codeberg.org:a/b.git", remote("codeberg.org", "a", "b")),
        ("https://github.com/Acme/Shop/tree/main", remote("github.com", "Acme", "Shop", ref="main")),
        ("https://github.com/Acme/Shop/tree/feature/cart", remote("github.com", "Acme", "Shop", ref="feature/cart")),
        ("https://github.com/Acme/Shop/tree/v1.0%2B1", remote("github.com", "Acme", "Shop", ref="v1.0+1")),
        ("https://github.com/Acme/Shop/blob/main/src/a.py", remote("github.com", "Acme", "Shop", ref="main")),
        (f"https://github.com/Acme/Shop/commit/{SHA.upper()}", remote("github.com", "Acme", "Shop", commit=SHA)),
        ("https://gitlab.com/a/b/-/tree/main", remote("gitlab.com", "a", "b", ref="main")),
        (f"https://gitlab.com/a/b/-/commit/{SHA}", remote("gitlab.com", "a", "b", commit=SHA)),
        ("a/.github", remote("github.com", "a", ".github")),
        ("a_b/c.d-e_f", remote("github.com", "a_b", "c.d-e_f")),
        ("0/1", remote("github.com", "0", "1")),
        (f"{'a' * 100}/{'b' * 100}", remote("github.com", "a" * 100, "b" * 100)),
        ("local:shop", remote("local", "-", "shop")),
        ("local:My.Shop_2", remote("local", "-", "My.Shop_2")),
    ],
)
def test_every_form_of_the_contract_is_read(text: str, address: SubmittedAddress) -> None:
    assert parse_address(text, HOSTS) == address


@pytest.mark.parametrize(
    "text",
    [
        # not an address
        "", "   ", "shop", "/", "//", "a/", "/b", "a/b/c", "a//b", "./a", "../a", "a/..", "a/.", "..", "~/a",
        "/etc/passwd", "C:\\repos\\shop", "\\\\host\\share", "a\\b", "a b/c", "a/b c", "a/b;id", "a/$(id)", "a/`id`",
        "a/b|c", "a/b&c", "a/b*", "a/b?", "a/b'", 'a/b"', "a/<b>", "a/b@main", "a/b:main", "a/b#x", "a/b\x00",
        "a/b\x1b[31m", "a\tb/c", "a/b\nc/d", "a/b\r\nHost: x", "a/b\x7f", "a/" + "b" * 101, "a/" + "b" * 600,
        "a/.git", "a/...", "a/b..c", "a/-b", "-a/b",
        # options in disguise
        "-", "--upload-pack=id", "-oProxyCommand=id", "--", "local:-shop", "git@github.com:-a/b",
        "https://github.com/-a/b", "https://github.com/a/--upload-pack=id",
        # other transports
        "file:///etc/passwd", "file://localhost/srv/git/shop", "ext::sh -c id", "ext::id", "fd::17", "git::a/b",
        "ssh://git@github.com/a/b", "git://github.com/a/b", "git+ssh://github.com/a/b", "http://github.com/a/b",
        "ftp://github.com/a/b", "javascript://github.com/a/b", "data:text/plain,a/b", "https:github.com/a/b",
        "https:/github.com/a/b", "https:///github.com/a/b", "://github.com/a/b", "https://", "https:///a/b",
        # other hosts
        "https://example.org/a/b", "https://github.com.example.org/a/b", "https://evilgithub.com/a/b",
        "https://www.github.com/a/b", "https://localhost/a/b", "https://127.0.0.1/a/b", "https://10.0.0.1/a/b",
        "https://192.168.1.1/a/b", "https://169.254.169.254/latest/meta-data", "https://[::1]/a/b",
        "https://[::ffff:127.0.0.1]/a/b", "https://[fe80::1%25eth0]/a/b", "https://2130706433/a/b",
        "https://0x7f.1/a/b", "https://0/a/b", "https://github.com%00.example.org/a/b", "https://local/-/shop",
        "git@example.org:a/b.git", "git@127.0.0.1:a/b", "git@localhost:a/b", "root@github.com:a/b", "git@:a/b",
        "https://github.com@example.org/a/b", "https://example.org\\@github.com/a/b", "https://github.com\\a\\b",
        "https://[/a/b", "https://]/a/b", "https://[::1/a/b", "https://github.com,example.org/a/b",
        # secrets and ports
        "https://user@github.com/a/b", "https://user:password@github.com/a/b", "https://:x@github.com/a/b",
        "https://@github.com/a/b", "https://x-access-token:ghp_1@github.com/a/b", "https://github.com:8443/a/b",
        "https://github.com:22/a/b", "https://github.com:0/a/b", "https://github.com:99999/a/b",
        "https://github.com:https/a/b", "https://github.com:-1/a/b",
        # letters that only look like ours
        "https://g\u0456thub.com/a/b", "https://\u0261ithub.com/a/b", "https://\uff47ithub.com/a/b", "https://github\u3002com/a/b",
        "https://github.com\uff0fa/b", "https://bitbuc\u212aet.org/a/b", "git@g\u0456thub.com:a/b", "\u0430cme/shop", "acme/\u0455hop",
        "acme/sh\u200bop", "acme/shop\u202e", "acme\u2215shop", "local:\u0455hop", "acme/sh\u00e9p", "acme/shop\u0661",
        # more than an address
        "https://github.com/a", "https://github.com/", "https://github.com", "https://github.com/a/b/c",
        "https://github.com/a/b/pull/1", "https://github.com/a/b/tree", "https://github.com/a/b/blob",
        "https://github.com/a/b/commit", "https://github.com/a/b/commit/main", f"https://github.com/a/b/commit/{SHA}0",
        f"https://github.com/a/b/commit/{SHA}/x", "https://github.com/a/b/tree/a..b", "https://github.com/a/b/tree/-x",
        "https://github.com/a/b/tree/x.lock", "https://github.com/a/b/tree/x@{1}", "https://github.com/a/b/tree/x%00y",
        "https://github.com/a/b/tree/x%0Ay", "https://github.com/a/b/tree/x%20y",
        "https://github.com/a/b/-/issues", "https://gitlab.com/group/subgroup/project", "git@github.com:a/b.git/x",
        "https://github.com/%2e%2e/b", "https://github.com/a/%2e%2e", "https://github.com/a%2Fb/c",
        "https://github.com/a/b%00", "https://github.com/a/b%0a", "git@github.com:", "git@github.com:a",
        "git@github.com:../b", "git@github.com:a/../b", "git@github.com:~/b",
        # out of LOCAL_REPOS_ROOT
        "local:", "local:.", "local:..", "local:../shop", "local:a/b", "local:/etc", "local:a\\b", "local:a/../b",
        "local:a..b", "local:%2e%2e", "local:%2Fetc", "local:a%2Fb", "local:a:b", "local://shop", "local: shop",
        "local:shop\x00", "local:~", "local:$HOME", "LOCAL:shop",
    ],
)  # fmt: skip
def test_everything_else_is_refused_with_what_is_allowed(text: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse_address(text, HOSTS)
    assert refused.value.extensions["errors"]


def test_a_password_in_an_address_is_not_repeated_in_the_refusal() -> None:
    for text in ("https://user:hunter2@github.com/a/b", "https://user:hunter2@example.org/a/b"):
        with pytest.raises(InvalidInput) as refused:
            parse_address(text, HOSTS)
        assert "hunter2" not in f"{refused.value.detail} {refused.value.extensions}"


def test_only_hosts_the_operator_allows_are_read() -> None:
    assert parse_address("https://git.example.org/a/b", ["git.example.org"]).repository.host == "git.example.org"
    with pytest.raises(InvalidInput, match=r"the allowed hosts are git\.example\.org"):
        parse_address("acme/shop", ["git.example.org"])


FORMS = st.sampled_from([
    "{}", "{}/{}", "local:{}", "https://{}/{}/{}", "https://github.com/{}/{}", "https://github.com/a/b/{}/{}",
    "https://github.com/a/b/tree/{}", "git@{}:{}/{}", "git@github.com:{}", "{}://{}", "https://{}@github.com/a/b",
])  # fmt: skip
#: characters that mean something to URLs, to Git, to file systems or to Unicode
PIECES = st.text() | st.text(st.sampled_from("aB0._-/\\:@%[]?#~^*{} \x00\n\u212a\u3002\uff0f\u2024\u202e\ud800"))


@given(st.text() | st.builds(lambda form, a, b, c: form.format(a, b, c), FORMS, PIECES, PIECES, PIECES))
def test_any_text_is_either_an_address_or_a_refusal(text: str) -> None:
    try:
        address = parse_address(text, HOSTS)
    except InvalidInput:
        return
    repository = address.repository
    assert repository.host in {*HOSTS, "local"}
    assert f"{repository.owner}{repository.name}".isascii()
    assert not {"/", "\\", "\x00", ":", "%"} & set(repository.owner + repository.name)
    assert ".." not in repository.name
    assert address.ref is None or address.commit is None


@given(PIECES)
def test_an_accepted_local_name_is_one_plain_segment(name: str) -> None:
    try:
        repository = parse_address(f"local:{name}", HOSTS).repository
    except InvalidInput:
        return
    assert repository.name == name.strip()
    assert not {"/", "\\", "\x00"} & set(repository.name)
    assert repository.name not in {"", ".", ".."}
    assert not repository.name.startswith("-")


@given(st.sampled_from([*HOSTS, "local"]), st.from_regex(r"[a-z0-9_][a-z0-9_-]{0,20}", fullmatch=True))
def test_the_url_of_a_repository_leads_back_to_it(host: str, name: str) -> None:
    repository = Repository(host, "-" if host == "local" else "acme", name)
    assert parse_address(repository.url, HOSTS) == SubmittedAddress(repository)


def test_two_spellings_of_one_repository_have_one_key() -> None:
    one, other = Repository("github.com", "Acme", "Shop"), Repository("github.com", "acme", "SHOP")
    assert one.unique_key(SHA) == other.unique_key(SHA.upper()) == f"analysis:github.com/acme/shop@{SHA}"


@pytest.mark.parametrize(
    "ref", ["main", "feature/cart", "v1.0.0", "release-2026", "a@b", "\u00fcn\u00efcode", "x" * 200, "a.b"]
)
def test_a_ref_git_would_accept_is_accepted(ref: str) -> None:
    assert check_ref(ref) == ref


@pytest.mark.parametrize(
    "ref",
    [
        "", "-x", "--upload-pack=id", "a..b", "a//b", "a/", "a.", "a.lock", "a.lock/b", "a@{1}", "a b", "a\tb", "a\nb",
        "main\n", "a\x00b", "a\x7f", "a~1", "a^", "a:b", "a?", "a*", "a[b", "a\\b", "x" * 201,
    ],
)  # fmt: skip
def test_a_ref_git_would_refuse_or_read_as_an_option_is_refused(ref: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        check_ref(ref)
    assert refused.value.extensions["errors"] == [{"pointer": "/ref", "detail": "expected the name of a branch or tag"}]


def test_a_commit_is_forty_hexadecimal_digits_in_any_case() -> None:
    assert check_commit(SHA.upper()) == SHA


@pytest.mark.parametrize("commit", ["", "main", SHA[:39], SHA + "0", SHA[:39] + "g", SHA + "\n", "-" + SHA[1:], "HEAD"])
def test_an_abbreviated_or_broken_commit_is_refused(commit: str) -> None:
    with pytest.raises(InvalidInput, match="is not a commit id") as refused:
        check_commit(commit)
    assert "a Git host does not find a commit by the beginning of its id" in str(refused.value.extensions["errors"])


def test_the_beginning_of_an_id_is_enough_where_it_can_be_looked_up() -> None:
    assert check_commit(SHA[:4].upper(), may_be_short=True) == SHA[:4]
    for wrong in (SHA[:3], "main", f"-{SHA[:6]}", SHA + "0"):
        with pytest.raises(InvalidInput):
            check_commit(wrong, may_be_short=True)
