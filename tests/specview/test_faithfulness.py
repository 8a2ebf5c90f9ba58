"""Nothing in a sentence says more than its name: no article, colon or verb that changes what the words mean."""

import pytest

from tests.specview.conftest import Say


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("responds with handler and middleware response", "Responds with handler and middleware response."),
        ("should render header or footer with title", "Renders header or footer with title."),
        ("should throw Error Partitioned cookie without option", "Throws Error Partitioned cookie without option."),
        ("should be inserted into head", "Is inserted into head."),
        ("should be sent as attachment", "Is sent as attachment."),
        ('should keep "view engine" setting', 'Keeps "view engine" setting.'),
        ("Props value is undefined", "Props value is undefined."),
        ("should parse annotation", "Parses the annotation."),
        ("should parse transcription", "Parses transcription."),
        ("should update the header and footer", "Updates the header and footer."),
        ("should disable button when quota exceeded", "Disables the button when the quota is exceeded."),
    ],
)
def test_a_telegram_gets_all_its_articles_or_none(say: Say, name: str, sentence: str) -> None:
    assert say(name, framework="mocha") == sentence


def test_a_verb_without_an_object_gets_none(say: Say) -> None:
    said = say('should work "view engine" setting', framework="mocha")
    assert said == 'Covers the case “should work "view engine" setting”.'
    assert say("should work in strict mode", framework="mocha") == "Works in the strict mode."


@pytest.mark.parametrize("method", ["get", "post", "put", "patch", "delete", "head", "options", "GET"])
def test_a_method_of_http_before_a_path_is_no_verb(say: Say, method: str) -> None:
    assert (
        say(f"{method} /abc/xxx/edf", "Multi match", "Basic", framework="vitest")
        == f"{method.upper()} /abc/xxx/edf (Basic)."
    )
    assert say(f"{method} /abc", framework="vitest", language="ko") == f"“{method.upper()} /abc” 항목."
    said = say(f"should {method} /abc", framework="vitest")
    assert said == f"Covers the case “should {method} /abc”."


@pytest.mark.parametrize(
    ("name", "framework", "file", "sentence"),
    [
        ("arg_group_send_sync", "cargo-test", "src/builder/arg_group.rs", "Covers the case “arg group send sync”."),
        ("testContextedExceptionStringThrowableContext", "junit5", "ContextedRuntimeExceptionTest.java",
         "Covers `ContextedExceptionStringThrowableContext`."),
        ("test_flag_invalid_input", "pytest", "test_cart.py", "Covers the case “flag invalid input”."),
        ("test_global_arg_available_in_subcommand", "pytest", "test_cart.py",
         "Global arg available in subcommand."),
    ],
)  # fmt: skip
def test_no_colon_parts_what_the_name_does_not(say: Say, name: str, framework: str, file: str, sentence: str) -> None:
    assert say(name, framework=framework, file=file) == sentence


@pytest.mark.parametrize(
    ("name", "suites", "framework", "file", "sentence"),
    [
        ("test_flag_invalid_input", (), "pytest", "tests/test_flag.py", "Flag: invalid input."),
        ("test_range_empty", (), "pytest", "tests/range_test.py", "Range: empty."),
        ("test_range_empty", ("TestRange",), "pytest", "tests/test_cart.py", "Range: empty."),
        ("TestContextGetHeader", (), "go-testing", "context_test.go", "Context: get header."),
        ("test_default_timeout_no_retry", (), "pytest", "tests/default-timeout.py", "Default timeout: no retry."),
        ("testHeaderComment_NoComment3", (), "junit4", "a/CartTest.java", "Header comment: no comment (3)."),
    ],
)
def test_a_colon_follows_what_the_file_or_the_name_parts(
    say: Say, name: str, suites: tuple[str, ...], framework: str, file: str, sentence: str
) -> None:
    assert say(name, *suites, framework=framework, file=file) == sentence


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("testGetDisplayNameDelegatesToWrappedTimeZone", "`getDisplayName` delegates to wrapped time zone."),
        ("toStringContainsName", "`toString` contains name."),
        ("getUserReturnsNull", "Covers `getUserReturnsNull`."),
        ("testGetMissingKeyReturnsNull", "Covers `GetMissingKeyReturnsNull`."),
        ("canFindFirst", "Covers `canFindFirst`."),
        ("shouldReturnEmptyList", "Returns an empty list."),
        ("shouldBeEmpty", "Is empty."),
    ],
)
def test_a_name_of_a_method_stays_whole(say: Say, name: str, sentence: str) -> None:
    assert say(name, framework="junit5") == sentence


def test_words_of_a_snake_case_name_are_made_no_method(say: Say) -> None:
    assert "`get_prefetch_count`" not in say("test_get_prefetch_count_preserves_behavior")


def test_a_bare_verb_after_its_subject_is_conjugated_or_quoted(say: Say) -> None:
    assert say("notice header errors", "Rack::Lint", framework="rspec") == "`Rack::Lint` notices header errors."
    said = say("notice error errors", "Rack::Lint", framework="rspec")
    assert said == "Covers the case “notice error errors” for `Rack::Lint`."


@pytest.mark.parametrize("suite", ["EqualToComparingFieldsTest", "FieldTests", "FieldTestCase", "FieldSpec", "FieldIT"])
def test_a_class_of_tests_is_no_subject(say: Say, suite: str) -> None:
    said = say("should fail on different list elements", suite, framework="kotest")
    assert said == "Fails on different list elements."


def test_a_class_of_the_program_stays_the_subject(say: Say) -> None:
    assert say("should parse input", "InputParser", framework="kotest") == "`InputParser` parses input."


@pytest.mark.parametrize(
    ("name", "suites", "sentence"),
    [
        ("returns an error when the given value is nil", ("Coercer", "#call", "the strict mode", "BigDecimal"),
         "`#call` returns an error when the given value is nil (BigDecimal)."),
        ("coerces an empty string to nil", ("Coercer", "#call", "DateTime"),
         "`#call` coerces an empty string to nil (DateTime)."),
        ("returns an error", ("Coercer", "#call", "#parse"), "`#parse` returns an error."),
        ("returns an error", ("Coercer", "StrictCoercer"), "`StrictCoercer` returns an error."),
        ("returns an error", ("parser.js", "StrictParser"), "`StrictParser` returns an error."),
        ("runs the before filter if set", ("Endpoint", "filters", "before filters"),
         "Runs the before filter if set (before filters)."),
        ("runs the filter", ("Endpoint", "after hooks"), "Runs the filter (after hooks)."),
        ("runs the filter", ("after closing the page",), "After closing the page, it runs the filter."),
        ("runs the filter", ("before the request",), "Before the request, it runs the filter."),
        ("returns a 204", (".route", "adds an OPTIONS route that"), "Returns a 204 (adds an OPTIONS route)."),
        ("not include empty edge cases as first sample", ("CollectionsTest", "The list should"),
         "Covers the case “not include empty edge cases as first sample” (The list)."),
        ("be data", ("ClassMatchersTest", "should"), "Covers the case “be data”."),
    ],
)  # fmt: skip
def test_a_suite_is_made_neither_the_actor_nor_a_time(
    say: Say, name: str, suites: tuple[str, ...], sentence: str
) -> None:
    assert say(name, *suites, framework="rspec") == sentence


@pytest.mark.parametrize("name", ["ignores the version if it fails to match", "skips the row if it tries to filter"])
def test_no_article_parts_to_from_its_verb(say: Say, name: str) -> None:
    assert say(name, framework="rspec") == f"{name.capitalize()}."


@pytest.mark.parametrize("thing", ["info", "data", "metadata", "content", "output", "input", "support", "access"])
def test_what_is_not_counted_takes_no_article(say: Say, thing: str) -> None:
    said = say(f"shouldDescribeWithExtraType{thing.capitalize()}", framework="junit5")
    assert said == f"Describes with extra type {thing}."


def test_a_noun_is_made_no_case(say: Say) -> None:
    assert say("TestDefault", framework="go-testing", file="viper_test.go") == "Default."
    assert say("TestBasic", framework="go-testing", file="viper_test.go") == "Basic case."
