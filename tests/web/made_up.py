"""Specifications that nobody generated: small, large, hostile, in two languages."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache

from app.domain.specification import UNGROUPED, Behaviour, Domain, Feature, Specification, Subject
from app.web.specifications.document import Document, Source

COMMIT = "0123456789abcdef0123456789abcdef01234567"
SOURCE = Source("github.com", "acme", "shop", "https://github.com/acme/shop", COMMIT, "main")
AT = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
STATUSES = ("active", "skipped", "todo", "focused", "xfail")
#: Whatever a test's name may hold that means something somewhere.
HOSTILE = (
    "<script>alert(1)</script>",
    "</style></title><img src=x onerror=alert(1)>",
    "one\ntwo\r\n# Heading\n\nScenario: injected\n  Given a step",
    "tab\there, bell\a, escape\x1b[31m, nul\0",
    "\u202egnp.exe and \u2066isolated\u2069 and zero\u200bwidth",
    "line\u2028separator, paragraph\u2029separator, next\x85line",
    "[click](javascript:alert(1)) ![x](http://evil.example/x.png) `code` **bold** ~~gone~~ | cell |",
    "http://evil.example www.evil.example @everyone $x^2$ &lt;b&gt; &#x3c;",
    '"""',
    "```",
    "* a step",
    "Given a step",
    "Scenario: another",
    "Feature: another",
    "기능: 다른 기능",
    "@tag",
    "# language: fr",
    "| a | b |",
    "     indented",
    "1. first",
    "---",
    "===",
    "> quoted",
    "\\",
    "=cmd|' /C calc'!A0",
    "{{ 7 * 7 }} {% raw %}",
    "עברית العربية",
    "\ufffe\uffff\ue000",
    "",
    " ",
)


def subject(
    name: str = "test_adds", *, file: str = "tests/test_cart.py", line: int = 12, status: str = "active"
) -> Subject:
    return Subject(file, "pytest", ("TestCart",), name, line, status)


def behaviour(
    sentence: str = "Adds an item to the cart", name: str = "test_adds", *, fell_back: bool = False, **members: object
) -> Behaviour:
    return Behaviour(subject(name, **members), sentence, fell_back)  # type: ignore[arg-type]


def specification(*domains: Domain, language: str = "en", summary: str = "") -> Specification:
    return Specification(language, summary, domains)


def document(
    of: Specification, *, source: Source = SOURCE, version: int = 2, generator: str = "built-in 1"
) -> Document:
    return Document(of, source, version, generator, AT)


def shop(language: str = "en") -> Specification:
    """Two domains, a behaviour in each status, one that fell back, something ungrouped."""
    korean = language == "ko"
    cart = Feature("장바구니" if korean else "Cart", [
        behaviour("장바구니에 상품을 추가한다" if korean else "Adds an item to the cart", fell_back=True),
        *(
            behaviour(f"{status} 상태의 테스트" if korean else f"Has a test that is {status}", f"test_{status}", line=20 + place, status=status)
            for place, status in enumerate(STATUSES)
        ),
    ])  # fmt: skip
    prices = Feature(
        "가격" if korean else "Prices",
        [behaviour("Rounds prices to cents", "test_rounds", file="tests/test_prices.py")],
    )
    rest = Feature(UNGROUPED, [behaviour("Works", "test_works", file="tests/test_misc.py")])
    summary = "이 제품은 상점이다." if korean else "The shop sells items. Customers fill a cart and pay."
    return specification(
        Domain("주문" if korean else "Orders", [cart, prices]),
        Domain(UNGROUPED, [rest]),
        language=language,
        summary=summary,
    )


def hostile(language: str = "en", status: str | None = None) -> Specification:
    """Each hostile text as a domain, a feature, a sentence, a file, a suite, a name and, unless given, a status."""
    domains = []
    for number, text in enumerate(HOSTILE):
        told = Behaviour(Subject(f"{number}{text}", text, (text,), text, 1, text if status is None else status), text)
        domains.append(Domain(f"{text}{number}", [Feature(f"{number}{text}", [told]), Feature(text, [told])]))
    return specification(*domains, language=language, summary=HOSTILE[0] + HOSTILE[2])


@cache
def large(domains: int = 50, features: int = 28, behaviours: int = 20) -> Specification:
    """28,000 behaviours unless told otherwise."""

    def feature(domain: int, number: int) -> Feature:
        file = f"packages/part-{domain}/tests/test_feature_{number}.py"
        return Feature(f"Feature {number}", [
            behaviour(
                f"Keeps rule {place} of feature {number} in domain {domain}", f"test_rule_{place}", file=file, line=place + 1,
                status="skipped" if place % 10 == 9 else "active",
            )
            for place in range(behaviours)
        ])  # fmt: skip

    return specification(
        *(Domain(f"Domain {one}", [feature(one, two) for two in range(features)]) for one in range(domains))
    )
