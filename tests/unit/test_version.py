"""Where the version of a release is told."""

import json
import subprocess
import sys

from click.testing import CliRunner
from packaging.version import Version

from app.cli import main
from app.version import VERSION
from tests.nodes import ROOT

LINES = """
import logging
import structlog
from app import logs
logs.configure("json")
structlog.get_logger().info("ours", job_id="1")
logging.getLogger("celery").warning("a library's")
"""


def test_the_command_line_tells_its_version() -> None:
    told = CliRunner().invoke(main, ["--version"]).output
    assert told == f"fairlane, version {VERSION}\n"
    assert str(Version(VERSION)) == VERSION


def test_each_line_of_the_log_has_the_version() -> None:
    done = subprocess.run([sys.executable, "-c", LINES], cwd=ROOT, capture_output=True, text=True, check=True)
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert [(line["event"], line["version"]) for line in lines] == [("ours", VERSION), ("a library's", VERSION)]
