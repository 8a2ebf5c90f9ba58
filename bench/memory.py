"""The memory of the parts of `fairlane up`, idle and busy, and the processor time that it takes when idle.

Memory is PSS: pages that processes share are divided among them.  Only root may read it of all of them.
"""

import subprocess
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import httpx
import psutil

from bench.service import ROOT, Service, running

IDLE_SECONDS = 30
#: Twice the processes of the queue of paying users.
REPOSITORIES = 10
MIB = 1 << 20


def main() -> None:
    """Print MiB of each part, and of one process that works."""
    with tempfile.TemporaryDirectory(prefix="fairlane-bench-") as folder:
        root = Path(folder)
        root.chmod(0o755)
        names = [_repository(root, number) for number in range(REPOSITORIES)]
        with running(root, DEFAULT_TIER="enterprise") as service:
            time.sleep(IDLE_SECONDS)
            before = _processor_seconds(service.pid)
            time.sleep(IDLE_SECONDS)
            print(f"idle, of a processor: {(_processor_seconds(service.pid) - before) / IDLE_SECONDS:.1%}")
            _print("idle", [_measured(service.pid)])
            samples = list(_while_working(service, names))
            _print("busy, the most of each part", samples)
            print(f"busy, the most of all together: {max(sum(sample.values()) for sample in samples) / MIB:.0f}")


def _repository(root: Path, number: int) -> str:
    """A repository of this one's files, each changed, so that nothing is known of it."""
    path = root / f"copy-{number}"
    subprocess.run(["git", "clone", "--quiet", "--depth=1", f"file://{ROOT}", str(path)], check=True)
    for file in path.rglob("*.py"):
        file.write_text(f"{file.read_text(encoding='utf-8')}\n# {number}\n", encoding="utf-8")
    mine = ["-c", "user.name=B", "-c", "user.email=b@example.org"]
    subprocess.run(["git", "-C", str(path), *mine, "commit", "--quiet", "--all", "-m", "changed"], check=True)
    return path.name


def _while_working(service: Service, names: list[str]) -> list[Counter[str]]:
    samples = []
    with httpx.Client(base_url=service.url, headers={"Authorization": f"Bearer {service.token}"}, timeout=60) as client:
        body = {"items": [{"repository": f"local:{name}"} for name in names]}
        answers = client.post("/api/v1/analyses/batch", json=body).raise_for_status().json()["items"]
        jobs = [answer["job"]["id"] for answer in answers]
        while jobs:
            samples.append(_measured(service.pid))
            jobs = [job for job in jobs if client.get(f"/api/v1/analyses/{job}").json()["status"] != "completed"]
    return samples


def _measured(pid: int) -> Counter[str]:
    """Bytes by part."""
    found = Counter[str]()
    tops = [psutil.Process(pid), *psutil.Process(pid).children()]
    for top in tops:
        with suppress(psutil.Error):
            part = _part(top)
            if part != "a node":
                found[part] += _pss(top) if top.pid == pid else _of_tree(top)
                continue
            found["main processes of nodes"] += _pss(top)
            for one in top.children():
                found["processes of pools, git and parsers"] += _of_tree(one)
    return found


def _processor_seconds(pid: int) -> float:
    found = 0.0
    for process in (psutil.Process(pid), *psutil.Process(pid).children(recursive=True)):
        with suppress(psutil.Error):
            times = process.cpu_times()
            found += times.user + times.system
    return found


def _part(process: psutil.Process) -> str:
    words = " ".join(process.cmdline())
    for word, part in (("gunicorn", "web"), (" worker ", "a node"), (" beat ", "beat"), ("postgres", "PostgreSQL")):
        if word in words:
            return part
    return "fairlane up and its guard"


def _of_tree(process: psutil.Process) -> int:
    return _pss(process) + sum(_pss(child) for child in process.children(recursive=True))


def _pss(process: psutil.Process) -> int:
    try:
        return int(process.memory_full_info().pss)
    except psutil.Error:  # it has ended
        return 0


def _print(title: str, samples: list[Counter[str]]) -> None:
    print(f"{title}, MiB")
    for part in samples[0]:
        print(f"  {part:38} {max(sample[part] for sample in samples) / MIB:7.0f}")


if __name__ == "__main__":
    main()
