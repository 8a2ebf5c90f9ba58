"""A soak in words and in a picture."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from app.domain.summaries import percentile
from bench.soak.load import WEIGHTS
from bench.soak.picture import draw
from bench.soak.processes import Sample
from bench.soak.run import Soak
from bench.soak.trend import Series
from bench.soak.verdict import MB, WARM_UP, Judged, failures, judge

#: Shown with their own numbers; of other kinds the one that grew most against its bound.
IN_FULL = ("memory", "connections")


def failed(soak: Soak) -> list[str]:
    """What must not be so.  A run in which something of the traffic never happened would show nothing."""
    load, closing = soak.load, soak.closing
    assert load is not None
    assert closing is not None
    grew = [f"{one.what} of {one.part} grew" for one in failures(judge(soak.looks, soak.table_of))]
    happened = {"accepted": load.accepted, "webhooks": soak.received, "completed": load.ageing.ended["completed"]}
    happened |= {f"pruned {what}": load.ageing.pruned[what] for what in ("requests", "jobs", "keys", "deliveries")}
    happened |= {way: sum(count for (name, _), count in load.answers.items() if name == way) for way in WEIGHTS}
    return grew + [f"none: {what}" for what, count in happened.items() if count == 0] + load.faults + closing.faults


def tell(soak: Soak) -> str:
    """The table, and what the traffic was."""
    judged = judge(soak.looks, soak.table_of)
    lines = ["", "| What | Of | Median | In ten minutes | Allowed | |", "|---|---|---|---|---|---|"]
    lines += [_row(one) for one in _shown(judged)]
    kinds = Counter(one.what for one in judged)
    lines += ["", "judged: " + ", ".join(f"{count} of {what}" for what, count in kinds.items())]
    lines += [*_traffic(soak), *(f"NOT SO: {one}" for one in failed(soak)[:20])]
    lines.append("everything held" if not failed(soak) else f"{len(failed(soak))} did not hold")
    return "\n".join(lines)


def keep(soak: Soak, text: str, folder: Path) -> None:
    """Write the table, the picture, the log of the service and the samples."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "soak.md").write_text(text + "\n", encoding="utf-8")
    (folder / "soak.svg").write_text(draw(_panels(soak), soak.looks[-1].at * WARM_UP), encoding="utf-8")
    (folder / "up.log").write_text(soak.log, encoding="utf-8")
    with (folder / "samples.jsonl").open("w", encoding="utf-8") as out:
        out.write(json.dumps({"table_of": soak.table_of}) + "\n")
        for look in soak.looks:
            values = {"/".join(key): value for key, value in look.sample.items()}
            out.write(json.dumps({"at": round(look.at, 1), "alive": look.alive, **values}) + "\n")


def _shown(judged: Sequence[Judged]) -> list[Judged]:
    rest: dict[str, list[Judged]] = {}
    for one in judged:
        if one.what not in IN_FULL and one.trend.is_flat:
            rest.setdefault(one.what, []).append(one)
    most = [max(some, key=lambda one: one.trend.growth / one.trend.allowed) for some in rest.values()]
    return [one for one in judged if one.what in IN_FULL or not one.trend.is_flat] + most


def _row(one: Judged) -> str:
    trend = one.trend
    cells = [_amount(one, trend.middle), _amount(one, trend.each, signed=True), _amount(one, trend.limit)]
    return f"| {one.what} | {one.part} | {' | '.join(cells)} | {'flat' if one.trend.is_flat else 'GREW'} |"


def _amount(one: Judged, value: float, *, signed: bool = False) -> str:
    sign = "+" if signed else ""
    if one.what == "memory" or (one.what.endswith("bytes") and not one.part.endswith("a row")):
        return f"{value / MB:{sign}.2f} MiB"
    return f"{value:{sign}.1f}"


def _traffic(soak: Soak) -> list[str]:
    load = soak.load
    assert load is not None
    ageing, seconds = load.ageing, soak.looks[-1].at
    statuses = Counter[str]()
    for (_, status), count in load.answers.items():
        statuses[str(status)] += count
    rates = f"{len(load.times) / seconds:.1f} ways a second of {soak.rate:.1f} asked, {soak.reached:.1f} reached before"
    return [
        f"{rates}; load of the machine {median(soak.machine):.1f}, held back {load.held}",
        f"accepted {load.accepted}, ended {dict(ageing.ended)}, webhooks received {soak.received}",
        f"answers {dict(statuses)}",
        f"pruned {dict(ageing.pruned)}",
        "accepts, p50 and p99 in ms: " + _thirds([(at, ms) for at, way, ms in load.times if way == "submit"], 1),
        "jobs, p50 and p99 in s: " + _thirds(ageing.took, 2),
    ]


def _sum(sample: Sample, what: str) -> int:
    return sum(value for (kind, _), value in sample.items() if kind == what)


def _thirds(times: Series, digits: int) -> str:
    """The medians of each third of a series."""
    size = max(1, len(times) // 3)
    thirds = [[value for _, value in times[at : at + size]] for at in (0, size, 2 * size)]
    return "; ".join(f"{percentile(one, 0.5):.{digits}f}, {percentile(one, 0.99):.{digits}f}" for one in thirds if one)


def _panels(soak: Soak) -> list[tuple[str, Series, str]]:
    sums = {
        "memory": ("memory of all processes", MB, "MiB"), "descriptors": ("descriptors", 1, ""),
        "connections": ("connections", 1, ""), "table bytes": ("tables", MB, "MiB"),
        "index bytes": ("indexes", MB, "MiB"), "dead rows": ("dead rows", 1, ""),
        "log bytes": ("PostgreSQL's log", MB, "MiB"), "messages": ("unfinished messages", 1, ""),
    }  # fmt: skip
    found = []
    for what, (title, scale, unit) in sums.items():
        points = [
            (look.at, sum(value for key, value in look.sample.items() if key[0] == what) / scale) for look in soak.looks
        ]
        found.append((title, points, f"{max(value for _, value in points):,.0f} {unit}".strip()))
    return found
