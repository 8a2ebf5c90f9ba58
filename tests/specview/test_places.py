import pytest

from app.domain.specification import UNGROUPED, Place
from app.specview.builtin import built_in
from tests.specview.conftest import MakeSubject


@pytest.mark.parametrize(
    ("file", "suites", "name", "place"),
    [
        ("tests/unit/auth/test_login.py", (), "test_a", Place("Authentication", "Login")),
        ("tests/test_url_parsing.py", (), "test_cookie_a", Place("URL parsing", "Cookies")),
        ("tests/test_url_parsing.py", ("TestQueryString",), "test_a", Place("URL parsing", "Query string")),
        ("tests/test_cart.py", (), "test_it", Place("Cart", UNGROUPED)),
        ("packages/shop/src/__tests__/checkout.spec.ts", ("Checkout",), "works", Place("Shop", "Checkout")),
        ("crates/globset/src/glob.rs", ("tests",), "re1", Place("Globset", "Glob")),
        ("src/test/java/com/acme/billing/InvoiceServiceTest.java", ("InvoiceServiceTest",), "a", Place("Billing", "Invoice service")),
        ("encoding/json/decode_test.go", (), "TestX", Place("Encoding / JSON", "Decode")),
        ("spec/models/user_spec.rb", ("User",), "is valid", Place("Models", "User")),
        ("e2e/dashboard.mocked.spec.ts", ("Dashboard page",), "x", Place("Dashboard", "Dashboard page")),
        ("tests/test_misc.py", (), "test_it", Place(UNGROUPED, UNGROUPED)),
        ("test/index.js", ("Router", "match"), "x", Place("Router", "Match")),
        ("", (), "", Place(UNGROUPED, UNGROUPED)),
    ],
)  # fmt: skip
def test_a_place_comes_from_path_suites_and_name(
    make_subject: MakeSubject, file: str, suites: tuple[str, ...], name: str, place: Place
) -> None:
    [placed] = built_in().place([make_subject(name, *suites, file=file)], [], "en")
    assert placed.places[0][1] == place


def test_korean_headings_are_translated_where_they_are_known(make_subject: MakeSubject) -> None:
    [placed] = built_in().place([make_subject("test_session", file="tests/test_config.py")], [], "ko")
    assert placed.places[0][1] == Place("설정", "세션")


def test_another_file_moves_no_test(make_subject: MakeSubject) -> None:
    before = [make_subject(f"test_{n}_session", file=f"tests/{folder}/test_a.py") for n in range(9) for folder in "xyz"]
    added = [make_subject(f"test_new_{n}", "TestA", file="tests/x/test_b.py") for n in range(200)]
    [alone], [together] = built_in().place(before, [], "en"), built_in().place([*added, *before], [], "en")
    assert dict(together.places).items() >= dict(alone.places).items()


def test_a_known_place_is_taken_where_it_means_the_same(make_subject: MakeSubject) -> None:
    known = [Place("authentication", "Logins"), Place("Authentication", "Sessions")]
    login = make_subject("test_a", file="tests/auth/test_login.py")
    tokens = make_subject("test_a", file="tests/auth/test_tokens.py")
    [placed] = built_in().place([login, tokens], known, "en")
    assert [place for _, place in placed.places] == [
        Place("authentication", "Logins"),
        Place("authentication", "Tokens"),
    ]


def test_a_heading_is_short_and_has_no_control_characters(make_subject: MakeSubject) -> None:
    [placed] = built_in().place([make_subject("a", "\x00" + "é " * 500, file="\x1b/x" * 100 + ".py")], [], "en")
    place = placed.places[0][1]
    assert max(len(place.domain), len(place.feature)) <= 163
    assert "\x1b" not in place.domain
