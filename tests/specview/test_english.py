import pytest

from tests.specview.conftest import Say


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("test_cookie_jar", "Covers the cookie jar."),
        ("test_custom_converters", "Covers custom converters."),
        ("test_exception_propagation", "Covers exception propagation."),
        ("test_session_expires_after_logout", "The session expires after the logout."),
        ("test_url_generation_requires_server_name", "URL generation requires a server name."),
        ("test_get_missing_key", "Covers getting the missing key."),
        ("test_encode_exception_as_json", "Covers encoding the exception as JSON."),
        ("test_raises_when_queue_is_empty", "Raises when the queue is empty."),
        ("test_should_not_retry", "Does not retry."),
        ("test_header_keys_are_native", "Header keys are native."),
        ("test_schemes_dont_check_URLs", "Schemes do not check URLs."),
        ("test_cannot_delete_user", "It cannot delete the user."),
        ("test_no_routes", "Covers the case of no routes."),
        ("test_without_context", "Covers the case without a context."),
        ("test_on_node_lost", "Covers `on_node_lost`."),
        ("test___repr__", "Covers `__repr__`."),
        ("test_set_cookie_on_301", "Covers setting the cookie on 301."),
        ("test_run_skip_verbose", "Covers the case “run skip verbose”."),
        ("test_reprtask__no_fmt", "Covers the case “reprtask: no fmt”."),
        ("r1412_look_behind", "Covers the case “r1412 look behind”."),
        ("test_sanity3", "Covers `sanity3`."),
        ("test", "Covers `test`."),
    ],
)
def test_snake_case(say: Say, name: str, sentence: str) -> None:
    assert say(name) == sentence


@pytest.mark.parametrize(
    ("name", "framework", "sentence"),
    [
        ("shouldReturnEmptyListWhenUserIsUnknown", "junit5", "Returns an empty list when the user is unknown."),
        ("testParseUrl", "junit4", "Covers parsing the URL."),
        ("`returns null without a session`()", "kotest", "Returns null without a session."),
        ("`returns null without a session`", "junit5", "Returns null without a session."),
        ("Add_EmptyString_ReturnsZero", "xunit", "`Add` returns zero (empty string)."),
        ("given_empty_cart_when_user_pays_then_payment_fails", "pytest",
         "Given an empty cart, when the user pays, the payment fails."),
        ("TestReadAfterBigSeek", "go-testing", "Covers `ReadAfterBigSeek`."),
        ("TestReadFile/missing_file", "go-testing", "Covers `ReadFile` for “missing file”."),
        ("BenchmarkIndexByte", "go-testing", "Measures `IndexByte`."),
        ("ExampleBuffer_Cap", "go-testing", "Shows an example of `Buffer.Cap`."),
        ("ExampleScanner_emptyFinalToken", "go-testing", "Shows an example of `Scanner` (emptyFinalToken)."),
        ("test_parse[1-2]", "pytest", "Covers `parse` for “1-2”."),
        ("test_0001_returns the first value", "minitest", "Returns the first value."),
        ("ParsesEmptyInput", "gtest", "Parses empty input."),
    ],
)  # fmt: skip
def test_other_identifiers(say: Say, name: str, framework: str, sentence: str) -> None:
    assert say(name, framework=framework) == sentence


@pytest.mark.parametrize(
    ("suites", "name", "sentence"),
    [
        ((), "should return undefined if signals are not provided", "Returns undefined if signals are not provided."),
        ((), "should not show upgrade prompt", "Does not show the upgrade prompt."),
        ((), "does not parse the empty string", "Does not parse the empty string."),
        ((), "can be nested", "It can be nested."),
        ((), "never sends the token", "Never sends the token."),
        ((), "array item", "Covers the array item."),
        ((), "namedExports: true, stringify: false", "Covers the case “namedExports: true, stringify: false”."),
        ((), "should display empty state when no results", "Displays the empty state when there are no results."),
        ((), "should disable button when quota exceeded", "Disables the button when the quota is exceeded."),
        ((), "should update count and reset state", "Updates the count and resets the state."),
        ((), "external modules should not be hoisted", "External modules should not be hoisted."),
        ((), 'keeps "a  b" and `x`', 'Keeps "a b" and `x`.'),
        ((), "fixes #1234", "Fixes #1234."),
        (("Foo::Bar", "#run", "when the list is empty"), "returns false", "When the list is empty, `#run` returns false."),
        (("AxiosHeaders", "toString"), "should serialize the headers", "`toString` serializes the headers."),
        (("Cart", "with items"), "can be emptied", "With items, it can be emptied."),
        (("Search", "Mobile"), "should hide the hints", "Hides the hints (Mobile)."),
        (("Given a cart", "When an item is added"), "then the total is updated",
         "Given a cart, when an item is added, the total is updated."),
    ],
)  # fmt: skip
def test_titles(say: Say, suites: tuple[str, ...], name: str, sentence: str) -> None:
    assert say(name, *suites, framework="vitest") == sentence


def test_a_korean_name_keeps_its_words(say: Say) -> None:
    assert say("로그인 시 토큰을 반환한다", framework="vitest") == "Covers the case “로그인 시 토큰을 반환한다”."
    assert say("test_로그인_실패") == "Covers the case “로그인 실패”."


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("test_enter_exit", "Covers the case “enter exit”."),
        ("test_connect_timeout", "Covers the case “connect timeout”."),
        ("test_move_transform", "Covers the case “move transform”."),
        ("test_duplicate_tag", "Covers the duplicate tag."),
        ("test_is_locked", "Covers `is_locked`."),
        ("test_expires_invalid_int", "Covers the case “expires invalid int”."),
        ("test_mock_block_is_passed_function_block", "Covers the case “mock block is passed function block”."),
        ("test_http_303_doesnt_change_head_to_get", "Covers the case “HTTP 303 does not change head to get”."),
        ("test_abort_no_app", "Covers the case “abort no app”."),
        ("test_eta_to_datetime", "Covers the case “ETA to datetime”."),
        ("test_AsyncResult", "Covers `AsyncResult`."),
        ("test_should_strip_auth_host_change", "Covers the case “should strip auth host change”."),
    ],
)
def test_a_name_with_two_readings_is_left_open(say: Say, name: str, sentence: str) -> None:
    assert say(name) == sentence


def test_an_ambiguous_word_of_a_title_becomes_no_second_act(say: Say) -> None:
    assert (
        say("should display error state and retry button", framework="jest")
        == "Displays the error state and the retry button."
    )
    assert say("transform hook in build", framework="jest") == "Covers the case “transform hook in build”."


def test_the_names_of_go_stay_verbatim(say: Say) -> None:
    assert say("BenchmarkSortInt1K_Sorted", framework="go-testing") == "Measures `SortInt1K_Sorted`."
    assert say("TestSearchWrappers", framework="go-testing") == "Covers `SearchWrappers`."
    assert say("FuzzReader", framework="go-testing") == "Tries random input on `Reader`."


def test_a_suite_is_the_subject_only_where_it_is_the_innermost(say: Say) -> None:
    assert say("supports a function", "AxiosHeaders", "get", framework="jest") == "Supports a function (get)."
    assert say("is empty", "Cart::Items", framework="rspec") == "`Cart::Items` is empty."


def test_a_title_that_stands_in_its_suite_is_read_from_there(say: Say) -> None:
    assert say("", "Cart", "is empty", framework="rspec") == "Is empty."
