"""Make a release, or say with --dry-run what would be done: `make release VERSION=0.4.0` (docs/upgrading.md).

What costs nothing is checked first.  Then the version is written and committed, so that the gates run on exactly what
is tagged, and the wheels and the image are built of it.  If one of these fails, the commit is taken back.  At last come
the tag, and a commit that enters the release into releases.toml and begins the next version.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tomllib
from datetime import UTC, datetime
from pathlib import Path

from packaging.version import InvalidVersion, Version

RELEASES, CHANGELOG, UPGRADING = Path("releases.toml"), Path("CHANGELOG.md"), Path("docs/upgrading.md")
VERSION_FILE, CHART = Path("app/version.py"), Path("deploy/helm/fairlane/Chart.yaml")
MIGRATIONS, PACKAGES = Path("migrations/versions"), Path("packages")
GATES = (["make", "check"], ["make", "test-all"], ["make", "prove-release"])
UNRELEASED = "## Unreleased\n"


def main() -> int:
    """Check, and release; the exit code."""
    options = argparse.ArgumentParser(description="Make a release.")
    options.add_argument("version", help="the version to release, such as 0.4.0")
    options.add_argument("--dry-run", action="store_true", help="run the gates, and say what else would be done")
    options.add_argument("--without-gates", action="store_true", help="only of a dry run")
    given = options.parse_args()
    if given.without_gates and not given.dry_run:
        options.error("a release has gates: --without-gates is only of --dry-run")
    found = faults(given.version)
    for fault in found:
        print(f"release: {fault}", file=sys.stderr)
    if found:
        return 1
    gates = [] if given.without_gates else list(GATES)
    return rehearse(given.version, gates) if given.dry_run else release(given.version, gates)


def faults(version: str) -> list[str]:
    """Why this version cannot be released from here."""
    try:
        wanted = Version(version)
    except InvalidVersion:
        wanted = Version("0")
    if version != wanted.base_version or len(wanted.release) != 3:
        return [f"{version!r} is no version: expected three numbers, such as 0.4.0"]
    last = _releases()[-1]
    found = [*_order(wanted, last), *_texts(version)]
    if _git("status", "--porcelain"):
        found.append("there are changes that are not committed")
    if _git("tag", "--list", f"v{version}"):
        found.append(f"there is a tag v{version} already")
    if not _is_here(last["commit"]):
        return [*found, f"the commit of {last['version']} is not in this clone: run `git fetch --unshallow`"]
    return [*found, *(fault for folder in sorted(PACKAGES.iterdir()) for fault in _package(folder, last["commit"]))]


def _order(wanted: Version, last: dict[str, str]) -> list[str]:
    """The version follows the last one, and a patch brings no migration."""
    major, minor, patch = Version(last["version"]).release
    following = [f"{major}.{minor}.{patch + 1}", f"{major}.{minor + 1}.0", f"{major + 1}.0.0"]
    if str(wanted) not in following:
        return [f"{wanted} does not follow {last['version']}: expected {', '.join(following[:-1])} or {following[-1]}"]
    if str(wanted) == following[0] and _revision() != last["revision"]:
        return [f"{wanted} is a patch, and there are migrations since {last['version']}: expected {following[1]}"]
    return []


def _texts(version: str) -> list[str]:
    """The changelog and the upgrade page say what is new."""
    found = []
    if not re.search(r"^- ", _unreleased(), re.MULTILINE):
        found.append(f"{CHANGELOG} has no line below `{UNRELEASED.strip()}`")
    if f"\n| {version} |" not in UPGRADING.read_text(encoding="utf-8"):
        found.append(f"{UPGRADING} has no row for {version}")
    return found


def _package(folder: Path, last: str) -> list[str]:
    """A package that has changed since the last release has another version, which the service requires."""
    project = folder / "pyproject.toml"
    if not _git("ls-tree", "--name-only", last, str(project)):
        return []
    now = tomllib.loads(project.read_text(encoding="utf-8"))["project"]["version"]
    before = tomllib.loads(_git("show", f"{last}:{project}"))["project"]["version"]
    found = []
    if _git("diff", "--name-only", last, "--", f"{folder}/src", str(project)) and Version(now) <= Version(before):
        found.append(f"{folder} has changed since the last release, and is still {now}")
    if f"\n## {now}\n" not in (folder / "CHANGELOG.md").read_text(encoding="utf-8"):
        found.append(f"{folder}/CHANGELOG.md has no section {now}")
    if f'"{folder.name}=={now}"' not in Path("pyproject.toml").read_text(encoding="utf-8"):
        found.append(f"pyproject.toml does not require {folder.name}=={now}")
    return found


def rehearse(version: str, gates: list[list[str]]) -> int:
    """Run the gates and print the rest."""
    for gate in gates:
        subprocess.run(gate, check=True)
    print(f"would write {VERSION_FILE} and {CHART}: {version}, and {CHANGELOG}: ## {version} ({_today()}), with")
    print(_unreleased().strip())
    for command in [*([] if gates else GATES), *_builds(version)]:
        print(f"would run {' '.join(command)}")
    print(f"would commit and tag v{version}, and add it to {RELEASES} with revision {_revision()}")
    return 0


def release(version: str, gates: list[list[str]]) -> int:
    """Do all of it; no commit is left where a step fails."""
    before = _git("rev-parse", "HEAD")
    write(version)
    _git("commit", "--quiet", "--all", "--message", f"release: {version}")
    try:
        for command in [*gates, *_builds(version)]:
            subprocess.run(command, check=True)
    except (subprocess.CalledProcessError, KeyboardInterrupt) as error:
        _git("reset", "--keep", before)  # what somebody has written meanwhile stays
        print(f"release: nothing is released: {error!r}", file=sys.stderr)
        return 1
    _git("tag", "--annotate", f"v{version}", "--message", version)
    enter(version)
    print(f"released {version}; now push the branch and the tag v{version}, and the wheels in dist")
    return 0


def write(version: str) -> None:
    """Write the version into the code and the changelog."""
    _set(version)
    text = CHANGELOG.read_text(encoding="utf-8")
    CHANGELOG.write_text(text.replace(UNRELEASED, f"{UNRELEASED}\n## {version} ({_today()})\n", 1), encoding="utf-8")


def _set(version: str) -> None:
    """The version of the code, and of the chart, which installs the image of that version; Helm wants SemVer."""
    lines = {
        VERSION_FILE: {r'^VERSION = ".*"$': f'VERSION = "{version}"'},
        CHART: {
            r"^version: .*$": f"version: {version.replace('.dev', '-dev')}",
            r"^appVersion: .*$": f"appVersion: {version}",
        },
    }
    for file, changes in lines.items():
        text = file.read_text(encoding="utf-8")
        for old, new in changes.items():
            text = re.sub(old, new, text, flags=re.MULTILINE)
        file.write_text(text, encoding="utf-8")


def enter(version: str) -> None:
    """Commit the entry of releases.toml, which a release cannot contain itself, and the version that comes next."""
    entry = {"version": f'"{version}"', "date": _today(), "commit": f'"{_git("rev-parse", "HEAD")}"'}
    entry["revision"] = f'"{_revision()}"'
    with RELEASES.open("a", encoding="utf-8") as file:
        file.write("\n[[release]]\n" + "".join(f"{name} = {value}\n" for name, value in entry.items()))
    major, minor, _ = Version(version).release
    _set(f"{major}.{minor + 1}.0.dev0")
    _git("commit", "--quiet", "--all", "--message", f"release: enter {version}, and begin the next version")


def _builds(version: str) -> list[list[str]]:
    """The commands that build the wheels and, where there is a docker, the image."""
    wheels = ["make", "dist"]
    if not _has_docker():
        print("there is no docker here, or its daemon does not run: the image is not built")
        return [wheels]
    image = ["docker", "build", "--file", "docker/Dockerfile", "--tag", f"fairlane:{version}"]
    labels = [f"FAIRLANE_VERSION={version}", f"REVISION={_git('rev-parse', 'HEAD')}"]
    return [wheels, [*image, *(word for label in labels for word in ("--build-arg", label)), "."]]


def _has_docker() -> bool:
    """The command alone builds nothing."""
    if shutil.which("docker") is None:
        return False
    return subprocess.run(["docker", "info"], capture_output=True, check=False).returncode == 0


def _releases() -> list[dict[str, str]]:
    found: list[dict[str, str]] = tomllib.loads(RELEASES.read_text(encoding="utf-8"))["release"]
    return found


def _revision() -> str:
    """The newest migration."""
    return max(path.name[:4] for path in MIGRATIONS.glob("[0-9]*.py"))


def _unreleased() -> str:
    """What the changelog says of the next release."""
    _, _, after = CHANGELOG.read_text(encoding="utf-8").partition(UNRELEASED)
    return after.partition("\n## ")[0]


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


def _is_here(commit: str) -> bool:
    return subprocess.run(["git", "cat-file", "-e", commit], capture_output=True, check=False).returncode == 0


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
