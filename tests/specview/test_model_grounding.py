"""Which sentences may stand: plausible ones of a good model do, and those that say something else do not."""

import pytest
from service_harness.model_runs import subject

from app.domain.specification import Subject
from app.specview.model.grounding import about, borrowed, grounded, telling_words

#: (name, suites, file, sentence), as a good model writes them
ENGLISH = [
    ("test_login_success", "", "tests/auth/test_login.py", "A user logs in successfully."),
    ("test_login_with_wrong_password_fails", "", "tests/auth/test_login.py", "Login fails when the password is wrong."),
    (
        "should return 404 for missing user",
        "UserController > GET /users/:id",
        "src/user.controller.spec.ts",
        "Returns 404 when the user is missing.",
    ),
    ("TestParseEmptyInput", "", "pkg/parse/parse_test.go", "Parsing an empty input is handled."),
    ("test_ignores_unknown_keys", "TestConfig", "tests/test_config.py", "Unknown configuration keys are ignored."),
    ("renders the header", "Header", "src/Header.test.tsx", "The header is rendered."),
    ("does not retry on 4xx", "HttpClient > retry", "src/http.test.ts", "Requests are not retried on 4xx responses."),
    (
        "test_crontab_remaining_estimate::test_day_after_dst_end",
        "",
        "t/unit/app/test_schedules.py",
        "Estimates the remaining time on the day after daylight saving time ends.",
    ),
    (
        "allows passing FormData",
        "supports http with nodejs > FormData",
        "test/unit/adapters/http.js",
        "FormData can be passed to an HTTP request.",
    ),
    (
        "isParentDirectory returns true for equal paths",
        "",
        "utils.spec.ts",
        "A directory counts as the parent of an equal path.",
    ),
    (
        "cannot be set to any other values",
        "RSpec::Core::Configuration > #shared_context_metadata_behavior",
        "spec/configuration_spec.rb",
        "The shared context metadata behavior cannot be set to other values.",
    ),
    (
        "test_max_length_exceeded_raises",
        "FieldTests",
        "tests/test_fields.py",
        "Raises an error when the maximum length is exceeded.",
    ),
    ("adds two numbers", "Calculator", "calc.test.js", "Adds two numbers."),
    ("TestServer_ShutdownGraceful", "", "server_test.go", "The server shuts down gracefully."),
    ("test_user_can_reset_password", "", "tests/test_accounts.py", "A user can reset their password."),
    ("emits 'close' event once", "Socket", "socket.test.js", "The socket emits the close event only once."),
    ("test_no_duplicates", "TestImport", "tests/test_import.py", "Imports contain no duplicates."),
    ("rejects expired tokens", "JWT", "jwt.spec.ts", "Expired tokens are rejected."),
    ("test_rejects_expired_token", "", "tests/test_jwt.py", "An expired token is not accepted."),
    ("works with IE11", "Polyfills", "poly.test.js", "The polyfills work with IE11."),
    ("test_a_job_that_fails_is_retried", "", "tests/test_jobs.py", "A failed job is retried."),
    ("toString", "Money", "MoneyTest.java", "Money is converted to a string."),
    (
        "shouldThrowExceptionWhenNameIsNull",
        "UserServiceTest",
        "UserServiceTest.java",
        "An exception is thrown when the name is null.",
    ),
    ("test_get_absolute_url", "PostModelTest", "blog/tests.py", "A post has an absolute URL."),
    (
        "it calculates the total price with discount",
        "Cart",
        "tests/CartTest.php",
        "The total price of the cart is calculated with the discount.",
    ),
    ("handles SIGTERM", "worker", "worker_test.go", "The worker handles SIGTERM."),
    ("test_pickle", "TestRequest", "tests/test_request.py", "A request can be pickled."),
    ("returns undefined if not found", "find", "find.test.js", "Returns undefined when nothing is found."),
    ("can be disabled", "Telemetry", "telemetry.spec.ts", "Telemetry can be disabled."),
]
KOREAN = [
    ("test_login_success", "", "tests/auth/test_login.py", "사용자가 성공적으로 로그인한다."),
    (
        "should return 404 for missing user",
        "UserController",
        "user.spec.ts",
        "존재하지 않는 사용자에 대해 404를 반환한다.",
    ),
    ("emits 'close' event once", "Socket", "socket.test.js", "소켓은 close 이벤트를 한 번만 발생시킨다."),
    ("test_api_key_required", "", "tests/test_api.py", "API 키가 필요하다."),
    ("handles SIGTERM", "worker", "worker_test.go", "작업자가 SIGTERM 신호를 처리한다."),
    ("parses JSON with BOM", "Parser", "parser.test.js", "BOM이 있는 JSON을 파싱한다."),
    ("test_max_length_exceeded_raises", "FieldTests", "tests/test_fields.py", "최대 길이를 초과하면 오류가 발생한다."),
    ("test_http_get", "", "tests/test_client.py", "HTTP GET 요청을 보낸다."),
]
#: (name, sentence) that are made of the name's words, or of none of them, and say something else
WRONG = [
    ("test_rejects_expired_token", "Payments are charged twice."),
    ("test_rejects_expired_token", "The shop went bankrupt."),
    ("test_adds_item", "Never adds an item."),
    ("test_adds_item", "The item is not added."),
    ("test_does_not_send_mail", "Sends the mail."),
    ("test_never_retries", "The request retries."),
    ("test_adds_item", "Adds item 7."),
    ("test_returns_404", "Returns 500."),
    ("test_adds_item", "Das Element wird hinzugefügt."),
    ("test_adds_item", "항목을 추가한다."),
    ("test_adds_item", "Добавляет элемент."),
    ("test_adds_item", "See evil.com for how the item is added."),
    ("test_adds_item", "<i>Adds item</i>"),
    ("test_adds_item", "As an assistant I cannot help with that."),
]
WRONG_KOREAN = [
    ("test_adds_item", "Adds an item."),
    ("test_adds_item", "PWNED 항목을 추가한다."),
    ("test_adds_item", "항목 7개를 추가한다."),
    ("test_adds_item", "項目を追加する。"),
    ("test_adds_item", "item"),
    ("test_adds_item", "항목 https://x.y"),
]


def one(name: str, suites: str, file: str) -> Subject:
    return subject(name, suites=tuple(filter(None, suites.split(" > "))), file=file)


@pytest.mark.parametrize(("name", "suites", "file", "said"), ENGLISH)
def test_a_plausible_english_sentence_may_stand(name: str, suites: str, file: str, said: str) -> None:
    assert about(said, one(name, suites, file), "en")


@pytest.mark.parametrize(("name", "suites", "file", "said"), KOREAN)
def test_a_plausible_korean_sentence_may_stand(name: str, suites: str, file: str, said: str) -> None:
    assert about(said, one(name, suites, file), "ko")


@pytest.mark.parametrize(("name", "said"), WRONG)
def test_a_sentence_that_says_something_else_may_not(name: str, said: str) -> None:
    assert not about(said, subject(name), "en")


@pytest.mark.parametrize(("name", "said"), WRONG_KOREAN)
def test_a_korean_sentence_that_says_something_else_may_not(name: str, said: str) -> None:
    assert not about(said, subject(name), "ko")


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("de", "Legt den Artikel in den Korb."),
        ("fr", "Ajoute un article au panier."),
        ("ru", "Добавляет товар в корзину."),
        ("ja", "商品を追加する。"),
        ("zh", "将商品加入购物车。"),
        ("ar", "يضيف عنصرًا إلى السلة."),
        ("hi", "टोकरी में वस्तु जोड़ता है।"),
        ("th", "เพิ่มสินค้าลงในตะกร้า"),
        ("el", "Προσθέτει ένα προϊόν."),
        ("uk", "Додає товар до кошика."),
        ("tlh", "Doch chel."),
    ],
)
def test_a_sentence_in_each_script_may_stand(language: str, said: str) -> None:
    assert about(said, subject("test_adds_item"), language)


@pytest.mark.parametrize("language", ["de", "fr", "ru", "ja", "zh", "ar", "hi", "th", "el", "uk"])
def test_english_in_place_of_another_language_may_not(language: str) -> None:
    assert not about("Returns the item when the basket is full, and the price", subject("test_adds_item"), language)


def test_a_test_named_in_another_script_need_not_share_words() -> None:
    assert about("Adds an item to the cart.", subject("장바구니에 항목을 추가한다", file="테스트/장바구니.py"), "en")


def test_a_test_that_is_only_numbered_is_about_what_its_file_is_about() -> None:
    assert about("The cart works.", subject("test_1"), "en")
    assert not about("Users are rich.", subject("test_1"), "en")


def test_a_mark_of_one_test_shows_in_the_sentence_of_another() -> None:
    chunk = [subject("test_keeps_zirkon"), subject("test_adds_item"), subject("test_adds_price")]
    assert borrowed("Adds zirkon", chunk[1], telling_words(chunk))
    assert not borrowed("Keeps zirkon", chunk[0], telling_words(chunk))
    assert grounded({0: "Keeps zirkon", 1: "Adds item zirkon", 2: "Adds price"}, chunk, "en") == {
        0: "Keeps zirkon",
        2: "Adds price",
    }


def test_one_sentence_for_two_names_is_of_neither_unless_the_names_are_one() -> None:
    chunk = [
        subject("test_adds_item"),
        subject("test_adds_item_twice"),
        subject("adds price"),
        subject("test_adds_price", suites=("Cart",)),
    ]
    assert grounded({0: "Adds item", 1: "Adds item"}, chunk, "en") == {}
    same = [subject("adds price", suites=(suite,)) for suite in ("Cart", "Order")]
    assert len(grounded({0: "Adds price", 1: "Adds price"}, same, "en")) == 2
