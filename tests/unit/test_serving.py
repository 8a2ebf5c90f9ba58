"""Which schemas a release serves."""

import pytest

from app.services.operations.readiness import serves
from app.store.core.schema import SchemaState

OLD = "this release 0.3.0 is too old for the schema of 0.5.0; the oldest that works is 0.4.0"


@pytest.mark.parametrize(
    ("revision", "version", "oldest", "told"),
    [
        ("0057", "0.3.0", "0.1.0", "ok"),
        ("0061", "0.5.0", "0.1.0", "ok"),
        ("0061", "0.5.0", "0.3.0", "ok"),
        ("0061", "0.5.0", "0.4.0", OLD),  # contracted since
        ("0061", "0.10.0", "0.10.0", OLD.replace("0.5.0", "0.10.0").replace("0.4.0", "0.10.0")),
        ("0061", None, None, "this release 0.3.0 is too old for the schema of revision 0061; the oldest that works is a newer one"),
        ("0056", None, None, "the schema is at revision 0056; this release 0.3.0 needs 0057"),
        (None, None, None, "the schema is not there; this release 0.3.0 needs 0057"),
    ],
)  # fmt: skip
def test_a_release_serves_its_own_schema_and_newer_ones_that_say_so(
    revision: str | None, version: str | None, oldest: str | None, told: str
) -> None:
    assert serves("0.3.0", "0057", SchemaState(revision, version, oldest)) == told


def test_what_comes_before_a_release_is_older_than_it() -> None:
    assert serves("0.4.0.dev0", "0057", SchemaState("0061", "0.5.0", "0.4.0")) != "ok"
    assert serves("0.4.0.dev0", "0057", SchemaState("0061", "0.5.0", "0.3.0")) == "ok"
