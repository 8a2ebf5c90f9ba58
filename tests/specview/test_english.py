import pytest

from tests.specview.conftest import Say


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("test_cookie_jar", "Cookie jar."),
        ("test_custom_converters", "Custom converters."),
        ("test_exception_propagation", "Exception propagation."),
        ("test_session_expires_after_logout", "The session expires after the logout."),
        ("test_url_generation_requires_server_name", "URL generation requires a server name."),
        ("test_get_missing_key", "Get missing key."),
        ("test_encode_exception_as_json", "Encode exception as JSON."),
        ("test_raises_when_queue_is_empty", "Raises when the queue is empty."),
        ("test_should_not_retry", "Does not retry."),
        ("test_header_keys_are_native", "Header keys are native."),
        ("test_schemes_dont_check_URLs", "Schemes do not check URLs."),
        ("test_cannot_delete_user", "It cannot delete the user."),
        ("test_no_routes", "No routes."),
        ("test_without_context", "Without context."),
        ("test_on_node_lost", "Covers `on_node_lost`."),
        ("test___repr__", "Covers `__repr__`."),
        ("test_set_cookie_on_301", "Set cookie on 301."),
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
        ("testParseUrl", "junit4", "Parse URL."),
        ("`returns null without a session`()", "kotest", "Returns null without a session."),
        ("`returns null without a session`", "junit5", "Returns null without a session."),
        ("Add_EmptyString_ReturnsZero", "xunit", "`Add` returns zero (empty string)."),
        ("given_empty_cart_when_user_pays_then_payment_fails", "pytest",
         "Given an empty cart, when the user pays, the payment fails."),
        ("TestReadAfterBigSeek", "go-testing", "Read after big seek."),
        ("TestReadFile/missing_file", "go-testing", "Read file: “missing file”."),
        ("BenchmarkIndexByte", "go-testing", "Measures `IndexByte`."),
        ("ExampleBuffer_Cap", "go-testing", "Shows an example of `Buffer.Cap`."),
        ("ExampleScanner_emptyFinalToken", "go-testing", "Shows an example of `Scanner` (emptyFinalToken)."),
        ("test_parse[1-2]", "pytest", "Parse: “1-2”."),
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
        ((), "array item", "Array item."),
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
        ("test_connect_timeout", "Connect timeout."),
        ("test_move_transform", "Covers the case “move transform”."),
        ("test_duplicate_tag", "Duplicate tag."),
        ("test_is_locked", "Covers `is_locked`."),
        ("test_expires_invalid_int", "Covers the case “expires invalid int”."),
        ("test_mock_block_is_passed_function_block", "Covers the case “mock block is passed function block”."),
        ("test_http_303_doesnt_change_head_to_get", "Covers the case “HTTP 303 does not change head to get”."),
        ("test_abort_no_app", "Covers the case “abort no app”."),
        ("test_eta_to_datetime", "ETA to datetime."),
        ("test_AsyncResult", "Covers `AsyncResult`."),
        ("test_should_strip_auth_host_change", "Covers the case “should strip auth host change”."),
    ],
)
def test_a_name_with_two_readings_gets_neither(say: Say, name: str, sentence: str) -> None:
    assert say(name) == sentence


def test_an_ambiguous_word_of_a_title_becomes_no_second_act(say: Say) -> None:
    said = say("should display the error state and retry button", framework="jest")
    assert said == "Displays the error state and retry button."
    assert say("transform hook in build", framework="jest") == "Transform hook in build."


def test_a_symbol_of_go_stays_verbatim_and_its_test_is_a_label(say: Say) -> None:
    assert say("BenchmarkSortInt1K_Sorted", framework="go-testing") == "Measures `SortInt1K_Sorted`."
    assert say("TestSearchWrappers", framework="go-testing") == "Search wrappers."
    assert say("FuzzReader", framework="go-testing") == "Tries random input on `Reader`."


def test_a_suite_is_the_subject_only_where_it_is_the_innermost(say: Say) -> None:
    assert say("supports a function", "AxiosHeaders", "get", framework="jest") == "Supports a function (get)."
    assert say("is empty", "Cart::Items", framework="rspec") == "`Cart::Items` is empty."


def test_a_title_that_stands_in_its_suite_is_read_from_there(say: Say) -> None:
    assert say("", "Cart", "is empty", framework="rspec") == "Is empty."


@pytest.mark.parametrize(
    ("name", "framework", "sentence"),
    [
        ("testReadLookahead2", "junit4", "Read lookahead (2)."),
        ("r483_non_matching_exit_code", "cargo-test", "`r483`: non-matching exit code."),
        ("test_headers_preserve_order", "pytest", "Headers preserve order."),
        ("test_dotted_name_not_allowed", "pytest", "Dotted name not allowed."),
        ("test_class_based_view", "pytest", "Class-based view."),
        ("TestRangeArgs_WithInvalidCount_WithValid", "go-testing", "Range args: with invalid count, with valid."),
        ("testGetAsLong_returnsValue", "junit5", "Get as long: returns value."),
        ("testIsValidEnum_nullClass", "junit5", "`IsValidEnum`: null class."),
        ("test_stop_when_disabled", "pytest", "Stop when disabled."),
        ("test_basic", "pytest", "Basic case."),
        ("testDouble", "junit4", "Double."),
        ("TestMux/two_routes", "go-testing", "Covers `Mux` for “two routes”."),
    ],
)
def test_a_name_that_states_nothing_is_a_label(say: Say, name: str, framework: str, sentence: str) -> None:
    assert say(name, framework=framework) == sentence


@pytest.mark.parametrize(
    ("suites", "name", "sentence"),
    [
        (("injectQuery",), "path with multiple spaces", "`injectQuery`: path with multiple spaces."),
        (("resolveLib",), "two entries: custom name", "Two entries: custom name (`resolveLib`)."),
        (("Cart", "when the list is empty"), "first item", "First item (when the list is empty)."),
        ((), "basic", "Basic case."),
        ((), "should return 200 response without body - HEAD /page", "Returns a 200 response without a body (HEAD /page)."),
        ((), "should sign & verify with a key", "Signs & verifies with a key."),
        ((), "${alg} sign & verify", "Covers the case “${alg} sign & verify”."),
    ],
)  # fmt: skip
def test_a_title_that_states_nothing_is_a_label(say: Say, suites: tuple[str, ...], name: str, sentence: str) -> None:
    assert say(name, *suites, framework="vitest") == sentence


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("test_replace_string_string", "Covers the case “replace string string”."),
        ("test_assert_equal_different_long", "Covers the case “assert equal different long”."),
        ("test_assert_throws_different", "Covers the case “assert throws different”."),
        ("test_path_scoped_cookie_jar_copied_item", "Covers the case “path scoped cookie jar copied item”."),
    ],
)
def test_words_that_make_no_phrase_stay_quoted(say: Say, name: str, sentence: str) -> None:
    assert say(name) == sentence


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("should return the addr after trusted proxy based on list", "Returns the addr after trusted proxy based on list."),
        ("should parse when truthy value returned", "Parses when a truthy value is returned."),
        ("should be hoisted title tag", "Covers the case “should be hoisted title tag”."),
        ("should fail on unknown charset", "Fails on an unknown charset."),
        ("should unicode escape characters", "Covers the case “should unicode escape characters”."),
        ("writes error to LOG_FILE when given invalid form data", "Writes the error to LOG_FILE when given invalid form data."),
        ("should be blocked by blocking attribute", "Is blocked by blocking attribute."),
        ("A method should return", "A method should return."),
        ("Suspense / async", "Covers the case “Suspense / async”."),
        ("not modify the body", "Covers the case “not modify the body”."),
    ],
)  # fmt: skip
def test_what_a_telegram_leaves_out_is_not_made_up(say: Say, name: str, sentence: str) -> None:
    assert say(name, framework="mocha") == sentence
