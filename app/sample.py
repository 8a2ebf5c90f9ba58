"""A small repository that comes with the service, so that there is something to analyse without internet access."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

NAME = "sample"
#: Tests in three languages, with one of each status that static reading can detect.
FILES = {
    "README.md": "# A sample\n\nThree small test suites, for a first analysis.  It may be changed and deleted.\n",
    "python/test_cart.py": """\
import sys

import pytest


class TestCart:
    def test_a_new_cart_is_empty(self):
        assert [] == []

    @pytest.mark.parametrize("amount", [1, 2, 3])
    def test_counts_what_was_added(self, amount):
        assert amount > 0

    @pytest.mark.skip(reason="no discounts yet")
    def test_a_discount_lowers_the_price(self):
        pass


@pytest.mark.xfail(reason="rounds twice")
def test_rounds_once():
    assert round(2.675, 2) == 2.68


@pytest.mark.skipif(sys.platform == "win32", reason="needs a fork")
def test_two_buyers_at_once():
    pass
""",
    "web/package.json": '{"name": "sample", "private": true, "devDependencies": {"vitest": "^3.0.0"}}\n',
    "web/checkout.test.ts": """\
import { describe, expect, it, test } from "vitest";

describe("checkout", () => {
  it("adds the shipping", () => {
    expect(10 + 4).toBe(14);
  });

  it.each([1, 2])("takes %i coupons", (coupons) => {
    expect(coupons).toBeGreaterThan(0);
  });

  it.skip("pays by invoice", () => {});
  test.todo("pays in instalments");
});
""",
    "go/go.mod": "module example.org/sample\n\ngo 1.22\n",
    "go/stock_test.go": """\
package stock

import "testing"

func TestRefill(t *testing.T) {
	t.Run("from empty", func(t *testing.T) {})
}

func TestNeverNegative(t *testing.T) {
	t.Skip("until returns are counted")
}
""",
}
#: The same commit on every machine, whatever its clock, user and git configuration.
_WHO = {"NAME": "Fairlane", "EMAIL": "sample@localhost", "DATE": "2026-01-01T00:00:00Z"}
_ENVIRONMENT = {
    **{f"GIT_{role}_{part}": value for role in ("AUTHOR", "COMMITTER") for part, value in _WHO.items()},
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_TEMPLATE_DIR": "",
}


def make(root: Path) -> None:
    """Create it below a root unless it exists; completely or not at all.  Raises: OSError, CalledProcessError."""
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    if (root / NAME).exists():
        return
    with tempfile.TemporaryDirectory(prefix=f".{NAME}-", dir=root) as folder:
        made = Path(folder, NAME)
        for name, content in FILES.items():
            path = made / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
        _git(made, "init", "--quiet", "--initial-branch=main", "--object-format=sha1")
        _git(made, "add", "--all")
        _git(made, "commit", "--quiet", "--message=A sample for a first analysis")
        made.rename(root / NAME)


def _git(folder: Path, *arguments: str) -> None:
    # of our environment only the path to git, because a GIT_DIR of the caller's would lead elsewhere
    environment = {"PATH": os.environ.get("PATH", os.defpath), **_ENVIRONMENT}
    subprocess.run(["git", *arguments], cwd=folder, env=environment, check=True, capture_output=True)
