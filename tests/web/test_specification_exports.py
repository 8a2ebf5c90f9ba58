import io
import json
import zipfile
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import pytest
from gherkin.parser import Parser
from markdown_it import MarkdownIt

from app.domain.contents import contents
from app.domain.specification import Behaviour, Domain, Feature, Specification
from app.web.core.visible_text import visible
from app.web.specifications.document import Source
from app.web.specifications.exports import EXPORTS, file_name
from app.web.specifications.words import words
from tests.web.made_up import COMMIT, HOSTILE, SOURCE, behaviour, document, hostile, large, shop, specification

LINK = f"https://github.com/acme/shop/blob/{COMMIT}/tests/test_cart.py#L12"
LANGUAGES = ("en", "ko")


def text(form: str, of: Specification, *, source: Source = SOURCE) -> str:
    return "".join(EXPORTS[form].write(document(of, source=source)))  # type: ignore[arg-type]


def features(of: Specification, *, source: Source = SOURCE) -> dict[str, str]:
    """The files of the archive by their names."""
    packed = b"".join(EXPORTS["gherkin"].write(document(of, source=source)))  # type: ignore[arg-type]
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name).decode() for name in archive.namelist()}


def parsed(file: str) -> dict[str, Any]:
    found: dict[str, Any] = Parser().parse(file)["feature"]
    return found


def behaviours(of: Specification) -> Iterator[tuple[Domain, Feature, Behaviour]]:
    for domain in of.domains:
        for feature in domain.features:
            for one in feature.behaviours:
                yield domain, feature, one


class Shown(HTMLParser):
    """What a browser makes of a page: its elements, their attributes, and the text outside of the style."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.elements and self.elements[-1][0] != "style":
            self.texts.append(data.strip("\n"))

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")


def test_markdown_reads_as_a_document() -> None:
    found = text("markdown", shop())
    assert found.startswith("# Specification of acme/shop\n\n")
    assert "The shop sells items\\. Customers fill a cart and pay\\." in found
    assert (
        "\n## Orders\n\n### Cart\n\n- Adds an item to the cart · [tests/test\\_cart\\.py:12](" + LINK + ")\n" in found
    )
    assert "- Has a test that is active · [" in found
    assert "- Has a test that is xfail **expected to fail** · [" in found
    assert "\n## Not assigned to a domain\n\n### Other behaviours\n\n- Works · " in found
    assert "> 1 of 8 sentences were written by the built\\-in generator" in found


def test_markdown_shows_hostile_text_as_text() -> None:
    of = hostile()
    tokens = MarkdownIt("commonmark").enable("strikethrough").enable("table").parse(text("markdown", of))
    kinds = {child.type for token in tokens for child in token.children or []}
    assert kinds == {"text", "code_inline", "link_open", "link_close", "strong_open", "strong_close"}
    blocks = {token.type.removesuffix("_open").removesuffix("_close") for token in tokens}
    assert blocks == {"heading", "inline", "paragraph", "bullet_list", "list_item"}
    told = ["".join(child.content for child in token.children or []) for token in tokens if token.type == "inline"]
    links = {child.attrs["href"] for token in tokens for child in token.children or [] if child.type == "link_open"}
    assert all(str(link).startswith(f"https://github.com/acme/shop/blob/{COMMIT}/") for link in links)
    for _, feature, one in behaviours(of):
        assert visible(feature.name).strip(" ") in told or not feature.name.strip()
        said = visible(one.sentence).strip(" ")
        assert any(
            line.startswith(f"{said} ".lstrip()) and visible(one.subject.file).strip(" ") in line for line in told
        )


def test_bare_addresses_and_mentions_are_not_links() -> None:
    of = specification(
        Domain("A", [Feature("B", [behaviour("See https://evil.example, @everyone, www.evil.example")])])
    )
    assert "See https\\://evil\\.example, \\@everyone, www\\.evil\\.example" in text("markdown", of)


def test_html_reads_as_a_document_and_loads_nothing() -> None:
    page = Shown(text("html", shop()))
    tags = {tag for tag, _ in page.elements}
    assert tags <= {
        "html", "head", "meta", "title", "style", "body", "header", "h1", "h2", "h3", "ul", "li", "p", "nav", "a", "small",
        "main", "section", "bdi", "span",
    }  # fmt: skip
    attributes = {name for _, attrs in page.elements for name in attrs}
    assert attributes <= {
        "lang", "charset", "http-equiv", "content", "name", "class", "href", "id", "rel", "aria-labelledby"
    }  # fmt: skip
    assert ("a", {"href": LINK, "rel": "noreferrer"}) in page.elements
    assert {"Adds an item to the cart", "expected to fail", "Not assigned to a domain"} <= set(page.texts)
    assert "default-src 'none'" in str(page.elements)
    assert "url(" not in text("html", shop())
    ids = [attrs["id"] for _, attrs in page.elements if "id" in attrs]
    entries = [entry for domain in contents(shop()).domains for entry in (domain, *domain.features)]
    assert [entry.anchor for entry in entries] == ids[1:]
    assert {f"#{entry.anchor}" for entry in entries} <= {attrs.get("href") for _, attrs in page.elements}


def test_html_shows_hostile_text_as_text() -> None:
    plain, page = Shown(text("html", shop())), Shown(text("html", hostile()))
    assert {tag for tag, _ in page.elements} == {tag for tag, _ in plain.elements}
    assert {name for _, attrs in page.elements for name in attrs} <= {
        name for _, attrs in plain.elements for name in attrs
    }
    links = {attrs["href"] for tag, attrs in page.elements if tag == "a"}
    assert all(link and link.startswith(("#", f"https://github.com/acme/shop/blob/{COMMIT}/")) for link in links)
    shown = set(page.texts)
    for domain, feature, one in behaviours(hostile()):
        told = (domain.name, feature.name, one.sentence, one.subject.status)
        assert {visible(some).strip() for some in told} - {""} <= {some.strip() for some in shown}


def test_json_holds_every_fact_exactly() -> None:
    of = hostile()
    found = json.loads(text("json", of))
    assert (found["language"], found["version"], found["commit"], found["count"]) == ("en", 2, COMMIT, 2 * len(HOSTILE))
    assert found["summary"] == of.summary
    assert found["generated_at"] == "2026-11-20T09:30:00+00:00"
    told = [
        (
            domain["name"],
            feature["name"],
            one["sentence"],
            one["file"],
            one["suites"],
            one["name"],
        )
        for domain in found["domains"]
        for feature in domain["features"]
        for one in feature["behaviours"]
    ]
    assert told == [
        (domain.name, feature.name, one.sentence, one.subject.file, [*one.subject.suites], one.subject.name)
        for domain, feature, one in behaviours(of)
    ]
    cart = json.loads(text("json", shop()))["domains"][0]["features"][0]
    assert (cart["name"], cart["count"], cart["by_status"]["xfail"], cart["fell_back"]) == ("Cart", 6, 1, 1)
    assert cart["behaviours"][0]["url"] == LINK
    assert [one["fell_back"] for one in cart["behaviours"]] == [True, False, False, False, False, False]


@pytest.mark.parametrize("language", LANGUAGES)
def test_gherkin_is_a_file_for_each_feature_with_a_scenario_for_each_behaviour(language: str) -> None:
    of, say = shop(language), words(language)
    files = features(of)
    found = {one["name"]: one for one in map(parsed, files.values())}
    assert list(found) == [say.feature(feature.name) for domain in of.domains for feature in domain.features]
    assert {one["language"] for one in found.values()} == {language}
    cart = next(iter(found.values()))
    told = [
        (child["scenario"]["name"], [tag["name"] for tag in child["scenario"]["tags"]]) for child in cart["children"]
    ]
    marks = [[], [], ["@skipped"], ["@todo"], ["@focused"], ["@xfail"]]
    assert told == list(zip((one.sentence for one in of.domains[0].features[0].behaviours), marks, strict=True))
    comments = Parser().parse(next(iter(files.values())))["comments"]
    assert f"# tests/test_cart.py:12 {LINK}" in [comment["text"].strip() for comment in comments]


@pytest.mark.parametrize("language", LANGUAGES)
def test_gherkin_takes_hostile_text_as_names(language: str) -> None:
    of, say = hostile(language), words(language)
    files = features(of)
    assert all(name.isascii() and ".." not in name and name.count("/") == 1 for name in files)
    names = [(domain.name, feature.name) for domain in of.domains for feature in domain.features]
    assert len(files) == len(names)
    for (_, feature, one), file in zip(behaviours(of), files.values(), strict=True):
        found = parsed(file)
        assert (found["language"], found["name"]) == (language, visible(say.feature(feature.name)).strip())
        assert "description" not in found or not found["description"]
        (child,) = found["children"]
        scenario = child["scenario"]
        assert (scenario["name"], scenario["steps"], scenario["examples"]) == (visible(one.sentence).strip(), [], [])
        assert len(scenario["tags"]) == bool(one.subject.status)


def test_the_archive_is_the_same_each_time() -> None:
    packed = [b"".join(EXPORTS["gherkin"].write(document(shop()))) for _ in range(2)]  # type: ignore[arg-type]
    assert packed[0] == packed[1]


@pytest.mark.parametrize("form", ["markdown", "html"])
def test_korean_documents_have_korean_words(form: str) -> None:
    found = text(form, shop("ko"))
    for told in ("acme/shop 명세", "도메인 미분류", "기타 동작", "건너뜀", "버전 2", "동작 8개", "실패 예상"):
        assert told in found
    assert "skipped 상태의 테스트" in found
    for told in ("Contents", "Specification", "Version", "8 behaviours", "expected to fail"):
        assert told not in found
    assert '<html lang="ko">' in found or form == "markdown"


@pytest.mark.parametrize("form", ["markdown", "html", "json"])
def test_a_document_without_tests_says_so(form: str) -> None:
    found = text(form, specification())
    assert "This commit has no tests" in found or json.loads(found)["count"] == 0
    assert features(specification()) == {}


@pytest.mark.parametrize("form", EXPORTS)
def test_exports_are_made_in_pieces(form: str) -> None:
    sizes = [len(piece) for piece in EXPORTS[form].write(document(large(10, 10, 10)))]
    assert len(sizes) > 50
    assert max(sizes) < 16_000


@pytest.mark.parametrize(
    ("host", "link"),
    [
        ("gitlab.com", f"https://gitlab.com/acme/shop/-/blob/{COMMIT}/tests/test_cart.py#L12"),
        ("bitbucket.org", f"https://bitbucket.org/acme/shop/src/{COMMIT}/tests/test_cart.py#lines-12"),
        ("codeberg.org", f"https://codeberg.org/acme/shop/src/commit/{COMMIT}/tests/test_cart.py#L12"),
    ],
)
def test_links_have_the_form_of_their_host(host: str, link: str) -> None:
    source = Source(host, "acme", "shop", f"https://{host}/acme/shop", COMMIT)
    assert f"]({link})" in text("markdown", shop(), source=source)
    assert f'href="{link}"' in text("html", shop(), source=source)
    assert json.loads(text("json", shop(), source=source))["domains"][0]["features"][0]["behaviours"][0]["url"] == link
    assert f"# tests/test_cart.py:12 {link}\n" in next(iter(features(shop(), source=source).values()))


def test_a_local_repository_has_no_links() -> None:
    source = Source("local", "-", "sample", "local:sample", COMMIT)
    assert "- Works · tests/test\\_misc\\.py:12\n" in text("markdown", shop(), source=source)
    assert "# Specification of sample" in text("markdown", shop(), source=source)
    assert "https://" not in "".join(features(shop(), source=source).values()) + text("html", shop(), source=source)


def test_a_link_holds_whatever_a_path_is_made_of() -> None:
    odd = behaviour(file='a b/(c)[d]#"<e>?%41\n\u202e한\udcff.py')
    link = SOURCE.link(odd.subject)
    assert link
    assert link.isascii()
    assert set(link.rsplit("#", 1)[0]) & set(' ()[]"<>?#\n') == set()


def test_the_name_of_a_file_is_plain() -> None:
    odd = Source("github.com", "acme", '"sh\nop"/..한', "https://github.com/acme/x", COMMIT)
    assert file_name(document(shop(), source=odd), EXPORTS["gherkin"]) == "specification-sh-op--..--0123456789-en-2.zip"


@pytest.mark.parametrize(("language", "expected"), [("ko-KR", "ko"), ("EN", "en"), ("fr", "en"), ("", "en")])
def test_words_of_a_language_or_english(language: str, expected: str) -> None:
    assert words(language).language == expected


def test_one_behaviour_is_not_many() -> None:
    assert [words("en").count(number) for number in (0, 1, 1_234)] == [
        "0 behaviours",
        "1 behaviour",
        "1,234 behaviours",
    ]
