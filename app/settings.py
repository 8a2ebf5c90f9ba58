"""Every setting, typed, frozen and read once; a bad value stops the process with its name and what is allowed."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, ValidationError

from app.domain.fairness import FairnessPolicy, Mode
from app.domain.plans import Tier
from app.errors import BadSetting

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def _duration(raw: object) -> object:
    """`30s`, `5m`, `1h`, `2d` or seconds; pydantic alone would refuse the short ones."""
    if isinstance(raw, str):
        if short := re.fullmatch(r"(\d+(?:\.\d+)?)([smhd]?)", raw.strip()):
            try:
                return timedelta(seconds=float(short[1]) * _UNITS[short[2] or "s"])
            except OverflowError as error:
                raise ValueError("is longer than any clock counts") from error
        raise ValueError("allowed are durations as 30s, 5m, 1h or a number of seconds")
    return raw


def _words(raw: object) -> object:
    return tuple(w for w in re.split(r"[,\s]+", raw.strip().lower()) if w) if isinstance(raw, str) else raw


Duration = Annotated[timedelta, BeforeValidator(_duration), Field(ge=timedelta(0))]
Slots = Annotated[int, Field(ge=1, le=1000)]


class Settings(BaseModel):
    """Field names are the variables' names in lower case."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    database_url: str | None = None  # none: the embedded PostgreSQL below FAIRLANE_HOME
    database_direct_url: str | None = None  # for LISTEN and locks behind a transaction pooler
    fairlane_home: Path = Path("~/.local/share/fairlane")
    secret_key: SecretStr | None = None  # none: made once and kept in FAIRLANE_HOME
    default_tier: Tier = Tier.FREE
    allow_anonymous: bool = True
    allowed_git_hosts: Annotated[tuple[str, ...], BeforeValidator(_words)] = (
        "github.com",
        "gitlab.com",
        "bitbucket.org",
        "codeberg.org",
    )
    local_repos_root: Path | None = None
    public_url: str | None = None  # how browsers reach the service, for links
    trust_proxy: bool = False  # take the client's address from X-Forwarded-For
    fairness_enabled: bool = True
    fairness_mode: Literal["enforce", "shadow"] = "enforce"
    fairness_free_limit: Slots | None = None
    fairness_pro_limit: Slots | None = None
    fairness_pro_plus_limit: Slots | None = None
    fairness_enterprise_limit: Slots | None = None
    fairness_snooze_duration: Duration = timedelta(seconds=30)
    fairness_snooze_jitter: Duration = timedelta(seconds=10)
    quota_mode: Literal["enforce", "shadow", "off"] = "enforce"
    reservation_ttl: Annotated[Duration, Field(gt=timedelta(0))] = timedelta(hours=1)
    analyzer_queue_priority_workers: Slots = 5
    analyzer_queue_default_workers: Slots = 3
    analyzer_queue_scheduled_workers: Slots = 2
    specgen_queue_priority_workers: Slots = 3
    specgen_queue_default_workers: Slots = 2
    specgen_queue_scheduled_workers: Slots = 1
    queue_lending: bool = False  # idle workers of a priority queue take work of the default one
    queue_lending_floor: Slots | None = None  # processes that stay free of it; none: half of them
    lease_seconds: Annotated[float, Field(ge=1, le=3600)] = 15
    heartbeat_seconds: Annotated[float, Field(ge=0.2, le=600)] = 3
    analysis_time_limit: Annotated[Duration, Field(gt=timedelta(0))] = timedelta(minutes=20)
    git_timeout: Annotated[Duration, Field(gt=timedelta(0))] = timedelta(minutes=10)
    rate_limit_per_minute: Annotated[int, Field(ge=1)] = 600  # API requests that write, per account or address
    web_concurrency: Annotated[int, Field(ge=1, le=64)] = 1
    log_format: Literal["text", "json"] = "text"
    fairlane_url: str = "http://127.0.0.1:8000"  # for the command line as a REST client
    fairlane_token: SecretStr | None = None

    @property
    def home(self) -> Path:
        """FAIRLANE_HOME, absolute."""
        return self.fairlane_home.expanduser().absolute()

    @property
    def fairness(self) -> FairnessPolicy:
        """The per-user limits in force; FAIRNESS_*_LIMIT wins over the plans' rows."""
        limits = {tier: getattr(self, f"fairness_{tier}_limit") for tier in Tier}
        return FairnessPolicy(
            mode=Mode(self.fairness_mode) if self.fairness_enabled else Mode.OFF,
            overrides={tier: slots for tier, slots in limits.items() if slots is not None},
            snooze=self.fairness_snooze_duration,
            jitter=self.fairness_snooze_jitter,
        )

    def workers(self, queue: str) -> int:
        """Worker processes of a queue's node."""
        service, suffix = queue.split("_", 1)
        prefix = "analyzer" if service == "analysis" else "specgen"
        return int(getattr(self, f"{prefix}_queue_{suffix}_workers"))


def load(environ: Mapping[str, str] | None = None) -> Settings:
    """Read the environment; a `NAME_FILE` twin gives the value in a file.  Raises: BadSetting with every fault."""
    environ = os.environ if environ is None else environ
    given: dict[str, str] = {}
    for field in Settings.model_fields:
        name = field.upper()
        if environ.get(name, "") != "":
            given[field] = environ[name]
        elif path := environ.get(f"{name}_FILE"):
            given[field] = _content(f"{name}_FILE", path)
    try:
        settings = Settings.model_validate(given)
    except ValidationError as error:
        raise BadSetting("; ".join(_fault(fault, given) for fault in error.errors())) from None
    if settings.heartbeat_seconds * 3 > settings.lease_seconds:
        raise BadSetting(
            f"HEARTBEAT_SECONDS={settings.heartbeat_seconds:g}: allowed is at most a third of "
            f"LEASE_SECONDS={settings.lease_seconds:g}, so that a lease outlives two renewals that fail"
        )
    return settings


def _content(name: str, path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except OSError as error:
        raise BadSetting(f"{name}={path!r}: {error.strerror}") from error
    except UnicodeDecodeError:  # its traceback would show the bytes
        raise BadSetting(f"{name}={path!r}: allowed is a file of UTF-8 text") from None


def _fault(fault: Mapping[str, object], given: Mapping[str, str]) -> str:
    location = fault["loc"]
    field = str(location[0]) if isinstance(location, tuple) and location else "?"
    secret = any(word in field for word in ("secret", "token", "key", "url"))
    shown = "(not shown)" if secret else repr(given.get(field, ""))
    return f"{field.upper()}={shown}: {str(fault['msg']).removeprefix('Value error, ')}"
