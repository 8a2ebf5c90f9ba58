"""What people paste into the first page, and what the API then reads."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.repositories import parse_address
from app.errors import InvalidInput
from app.web.analyses.pasted_addresses import plain_address
from tests.unit.test_repositories import HOSTS, SHA, SHOP, remote


@pytest.mark.parametrize(("text", "address"), [
    ("github.com/Acme/Shop", SHOP), ("www.github.com/Acme/Shop", SHOP), ("http://github.com/Acme/Shop", SHOP),
    ("https://www.github.com/Acme/Shop/", SHOP), ("ssh://git@github.com/Acme/Shop.git", SHOP),
    ("ssh://git@github.com:22/Acme/Shop.git", SHOP), ("git://github.com/Acme/Shop.git", SHOP),
    ("git+https://github.com/Acme/Shop.git", SHOP), ("git+ssh://git@github.com/Acme/Shop.git", SHOP),
    ("git@github.com:Acme/Shop.git", SHOP), ("Acme/Shop", SHOP), ("<https://github.com/Acme/Shop>", SHOP),
    ("`Acme/Shop`", SHOP), ('"https://github.com/Acme/Shop"', SHOP), ("git clone https://github.com/Acme/Shop.git", SHOP),
    ("$ git clone --depth=1 git@github.com:Acme/Shop.git shop", SHOP), ("gh repo clone Acme/Shop", SHOP),
    ("git remote add origin git@github.com:Acme/Shop.git", SHOP), ("https://github.com/Acme/Shop/issues/7", SHOP),
    ("https://github.com/Acme/Shop/actions?query=x", SHOP), ("https://github.com/Acme/Shop/pulls", SHOP),
    ("https://github.com/Acme/Shop/commits", SHOP), ("https://gitlab.com/Acme/Shop/-/pipelines", remote("gitlab.com", "Acme", "Shop")),
    ("https://github.com/Acme/Shop/tree/feature/cart", remote("github.com", "Acme", "Shop", ref="feature/cart")),
    ("https://github.com/Acme/Shop/commits/main", remote("github.com", "Acme", "Shop", ref="main")),
    (f"https://github.com/Acme/Shop/commits/{SHA}", remote("github.com", "Acme", "Shop", commit=SHA)),
    ("https://github.com/Acme/Shop/blame/main/a.py#L3", remote("github.com", "Acme", "Shop", ref="main")),
    ("https://github.com/Acme/Shop/raw/refs/heads/main/a.py", remote("github.com", "Acme", "Shop", ref="main")),
    ("https://github.com/Acme/Shop/releases/tag/v1.0", remote("github.com", "Acme", "Shop", ref="v1.0")),
    ("https://bitbucket.org/a/b/src/main/x.py", remote("bitbucket.org", "a", "b", ref="main")),
    ("https://codeberg.org/a/b/src/branch/main/x.py", remote("codeberg.org", "a", "b", ref="main")),
    (f"https://codeberg.org/a/b/src/commit/{SHA}/x.py", remote("codeberg.org", "a", "b", commit=SHA)),
    ("local:shop", remote("local", "-", "shop")),
])  # fmt: skip
def test_every_form_that_people_paste_is_read(text: str, address: object) -> None:
    assert parse_address(plain_address(text, HOSTS), HOSTS) == address


@pytest.mark.parametrize("text", [
    "https://github.com/Acme/Shop/pull/7", "https://gitlab.com/a/b/-/merge_requests/7/diffs",
    "https://bitbucket.org/a/b/pull-requests/7",
])  # fmt: skip
def test_a_change_is_refused_with_what_to_paste_instead(text: str) -> None:
    with pytest.raises(InvalidInput, match="Paste the address of its branch"):
        plain_address(text, HOSTS)


@pytest.mark.parametrize("text", [
    "", "shop", "git clone", "https://example.org/a/b", "http://example.org/a/b", "ssh://root@github.com/a/b",
    "https://user:password@github.com/a/b", "file:///etc/passwd", "http://github.com:8080/a/b", "github.com", "github.com/a",
    "git clone ext::id", "https://gitlab.com/group/sub/name", "https://github.com.example.org/a/b", "https://github.com/a/b/unknown/x",
])  # fmt: skip
def test_whatever_else_is_pasted_keeps_its_refusal(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_address(plain_address(text, HOSTS), HOSTS)


@given(st.text(max_size=80), st.sampled_from(["", "https://github.com/", "git clone ", "ssh://git@"]))
def test_nothing_that_is_pasted_leads_to_another_host_or_fails(text: str, start: str) -> None:
    try:
        found = parse_address(plain_address(start + text, HOSTS), HOSTS)
    except InvalidInput:
        return
    assert found.repository.host in {*HOSTS, "local"}
