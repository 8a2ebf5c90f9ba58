"""Every setting, typed, frozen and read once; a bad value stops the process with its name and what is expected."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from app import environment
from app.domain.fairness import FairnessMode, FairnessPolicy
from app.domain.plans import Tier
from app.domain.queues import MAINTENANCE
from app.errors import BadSetting
from app.setting_types import (
    AccountShare,
    Bearer,
    Bucket,
    CellAddresses,
    DatabaseAddress,
    Duration,
    HostNames,
    Hosts,
    Keys,
    MailAddress,
    MailServer,
    ObjectStoreAddress,
    Patience,
    PauseSetting,
    Ports,
    Seconds,
    SecretKey,
    SlotSetting,
    TokenPrice,
    WebAddress,
    object_place,
    password,
    split_cells,
    split_keys,
)


class Settings(BaseModel):
    """Field names are the variables' names in lower case."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    database_url: DatabaseAddress | None = None  # none: the embedded PostgreSQL below FAIRLANE_HOME
    database_owner_url: DatabaseAddress | None = None  # of the tables' owner, for migrations; none: DATABASE_URL
    database_direct_url: DatabaseAddress | None = None  # for LISTEN and locks behind a transaction pooler
    database_read_url: DatabaseAddress | None = None  # a standby from which the web reads; none: all from DATABASE_URL
    cells: CellAddresses | None = None  # NAME=address of each; none: one database has all accounts
    directory_url: DatabaseAddress | None = None  # of the database that knows in which cell an account lives
    object_store_url: ObjectStoreAddress | None = None  # none: below FAIRLANE_HOME, or with DATABASE_URL the database
    fairlane_home: Path = Path("~/.local/share/fairlane")
    secret_key: SecretKey | None = None  # none: generated once and kept in FAIRLANE_HOME
    secret_key_predecessors: Keys | None = None  # the newest first; what they signed is accepted
    encryption_key: SecretKey | None = None  # as ENCRYPTION_KEYS, for a service with one
    encryption_keys: Keys | None = None  # the newest first; none: derived from the secret key
    default_tier: Tier = Tier.FREE
    allow_anonymous: bool = True
    sign_up: Literal["open", "closed"] = "closed"  # closed: only operators create accounts
    sign_ups_per_day: Annotated[int, Field(ge=1, le=1_000_000)] = 500  # of all people together, by UTC day
    # after its last use; a session ends after 14 days at the latest
    session_idle_timeout: Annotated[Duration, Field(ge=timedelta(minutes=5))] = timedelta(days=7)
    smtp_url: MailServer | None = None  # none: links for people are printed in the log
    mail_from: MailAddress | None = None  # none: fairlane@ the host of PUBLIC_URL
    github_client_id: Annotated[str, Field(min_length=1, max_length=200)] | None = None  # none: no GitHub sign-in
    github_client_secret: Bearer | None = None
    github_oauth_url: WebAddress = "https://github.com"  # of a GitHub Enterprise Server, if it is one
    allowed_git_hosts: Hosts = ("github.com", "gitlab.com", "bitbucket.org", "codeberg.org")
    local_repos_root: Path | None = None
    public_url: WebAddress | None = None  # how browsers reach the service, for links
    trusted_hosts: HostNames | None = None  # names besides that of PUBLIC_URL
    trust_proxy: bool = False  # take the client's address from X-Forwarded-For
    fairness_enabled: bool = True
    fairness_mode: Literal["enforce", "shadow"] = "enforce"
    fairness_free_limit: SlotSetting | None = None
    fairness_pro_limit: SlotSetting | None = None
    fairness_pro_plus_limit: SlotSetting | None = None
    fairness_enterprise_limit: SlotSetting | None = None
    fairness_snooze_duration: PauseSetting = timedelta(seconds=30)
    fairness_snooze_jitter: PauseSetting = timedelta(seconds=10)
    quota_mode: Literal["enforce", "shadow", "off"] = "enforce"
    reservation_ttl: Annotated[Duration, Field(gt=timedelta(0))] = timedelta(hours=1)
    analyzer_queue_priority_workers: SlotSetting = 5
    analyzer_queue_default_workers: SlotSetting = 3
    analyzer_queue_scheduled_workers: SlotSetting = 2
    specgen_queue_priority_workers: SlotSetting = 3
    specgen_queue_default_workers: SlotSetting = 2
    specgen_queue_scheduled_workers: SlotSetting = 1
    maintenance_queue_workers: SlotSetting = 1
    maintenance_time_limit: Patience = timedelta(hours=6)  # of pruning and reconciling
    queue_lending: bool = False  # idle workers of a priority queue take jobs of the default queue
    queue_lending_floor: SlotSetting | None = None  # processes that take no such jobs; none: half of them
    lease_seconds: Annotated[Seconds, Field(ge=1, le=3600)] = 15
    heartbeat_seconds: Annotated[Seconds, Field(ge=0.2, le=600)] = 3
    analysis_time_limit: Patience = timedelta(minutes=20)
    spec_time_limit: Patience = timedelta(minutes=90)
    job_memory_mb: Annotated[int, Field(ge=256, le=1_000_000)] = 2048  # of one process of a worker
    llm_base_url: WebAddress | None = None  # such as https://api.example.org/v1; none: the built-in generator alone
    llm_api_key: Bearer | None = None  # none: for models that need no key
    llm_model: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    llm_timeout: Annotated[Patience, Field(le=timedelta(hours=1))] = timedelta(minutes=2)  # limit of one call
    llm_parallel: Annotated[int, Field(ge=1, le=100)] = 10  # concurrent calls of one specification
    llm_requests_per_minute: Annotated[int, Field(ge=1, le=1_000_000)] = 600  # for all processes together
    llm_tokens_per_spec: Annotated[int, Field(ge=1)] | None = None
    llm_tokens_per_day: Annotated[int, Field(ge=1)] | None = None  # for all processes together
    llm_cost_per_day: TokenPrice | None = None
    llm_share_per_account: AccountShare = Decimal("0.25")  # of the two limits of the day
    llm_input_price: TokenPrice | None = None  # per million tokens, in the currency of LLM_COST_PER_DAY
    llm_output_price: TokenPrice | None = None
    git_timeout: Patience = timedelta(minutes=10)
    sandbox: Literal["on", "off"] = "on"  # off: git and parsers run as this user, with all of its rights
    shutdown_grace: Annotated[Duration, Field(le=timedelta(seconds=20))] = timedelta(seconds=1)  # when stopping
    lookup_timeout: Patience = timedelta(seconds=15)  # for all look-ups of a request
    rate_limit_per_minute: Annotated[int, Field(ge=1, le=1_000_000_000)] = (
        600  # API requests that write, per account or address
    )
    # reading requests; a large one counts as several
    read_limit_per_minute: Annotated[int, Field(ge=1, le=1_000_000_000)] = 3000
    heavy_reads: Annotated[int, Field(ge=1, le=20)] = 2  # concurrent reads of large results per web process
    statement_timeout: Annotated[Patience, Field(ge=timedelta(seconds=1))] = timedelta(seconds=10)  # for the web's SQL
    webhook_ports: Ports = (443,)  # to which webhooks may be sent
    webhook_loopback: bool = False  # also http:// to this machine, for development and tests
    max_tests: Annotated[int, Field(ge=1, le=1_000_000_000)] = 500_000  # of one analysis
    max_checked_tests: Annotated[int, Field(ge=0, le=1_000_000_000)] = 30_000  # of an analysis that reads bodies
    web_concurrency: Annotated[int, Field(ge=1, le=64)] = 1
    web_drain: Annotated[Duration, Field(le=timedelta(seconds=30))] = timedelta(seconds=1)  # /readyz refuses first
    metrics_token: SecretKey | None = None  # none: /metrics is for this machine, and for operators' tokens
    log_format: Literal["text", "json"] = "text"
    access_log: bool | None = None  # none: with LOG_FORMAT=json
    fairlane_url: WebAddress = "http://127.0.0.1:8000"  # for the command line as a REST client
    fairlane_token: SecretStr | None = None

    @property
    def home(self) -> Path:
        """FAIRLANE_HOME, absolute."""
        return self.fairlane_home.expanduser().absolute()

    @property
    def cell_addresses(self) -> dict[str, str]:
        """CELLS, by their names; empty for a service with one database."""
        return {} if self.cells is None else split_cells(self.cells)

    @property
    def cell(self) -> str | None:
        """The name of the cell whose database is DATABASE_URL; None without cells."""
        own = self.database_url.get_secret_value() if self.database_url else None
        return next((name for name, address in self.cell_addresses.items() if address == own), None)

    @property
    def sign_ups_of_cell(self) -> int:
        """The part of SIGN_UPS_PER_DAY that a cell has: new accounts are divided evenly among all."""
        return -(-self.sign_ups_per_day // max(1, len(self.cell_addresses)))

    @property
    def object_store(self) -> Bucket | Path | None:
        """OBJECT_STORE_URL, as what it names."""
        return None if self.object_store_url is None else object_place(self.object_store_url)

    @property
    def encryption_phrases(self) -> tuple[str, ...]:
        """ENCRYPTION_KEYS, one by one, or ENCRYPTION_KEY."""
        if self.encryption_key is not None:
            return (self.encryption_key.get_secret_value(),)
        return () if self.encryption_keys is None else split_keys(self.encryption_keys)

    @property
    def earlier_secret_keys(self) -> tuple[str, ...]:
        """SECRET_KEY_PREDECESSORS, one by one."""
        return () if self.secret_key_predecessors is None else split_keys(self.secret_key_predecessors)

    @property
    def has_access_log(self) -> bool:
        """Whether each request has a line in the log: ACCESS_LOG, or else where programs read it."""
        return self.log_format == "json" if self.access_log is None else self.access_log

    @property
    def fairness(self) -> FairnessPolicy:
        """The slot limits' policy; FAIRNESS_*_LIMIT takes precedence over the plans."""
        limits = {tier: getattr(self, f"fairness_{tier}_limit") for tier in Tier}
        return FairnessPolicy(
            mode=FairnessMode(self.fairness_mode) if self.fairness_enabled else FairnessMode.OFF,
            slot_limits={tier: slots for tier, slots in limits.items() if slots is not None},
            snooze=self.fairness_snooze_duration,
            jitter=self.fairness_snooze_jitter,
        )

    def workers(self, queue: str) -> int:
        """Worker processes of a queue's node."""
        return int(getattr(self, _field_of_workers(queue)))

    def has_workers(self, queue: str) -> bool:
        """Whether that number was set, not left to its default."""
        return _field_of_workers(queue) in self.model_fields_set


def load(environ: Mapping[str, str] | None = None) -> Settings:
    """Read the environment, and the files that `NAME_FILE` variables name.  Raises: BadSetting with every fault."""
    given = environment.given(Settings.model_fields, os.environ if environ is None else environ)
    try:
        settings = Settings.model_validate(given)
    except ValidationError as error:
        raise BadSetting("; ".join(_fault(fault, given) for fault in error.errors())) from None
    if faults := [*_misfits(settings)]:
        raise BadSetting("; ".join(faults))
    return settings


def secrets(settings: Settings) -> dict[str, str]:
    """The secrets in use, by the names of their settings; for an address, its password."""
    found = dict[str, str]()
    for field, value in settings:
        if isinstance(value, SecretStr):
            found[field.upper()] = password(value) if field.endswith("_url") else value.get_secret_value()
    found.pop("CELLS", None)  # not one secret, but a password in each address
    found |= {f"CELLS {name}": password(SecretStr(address)) for name, address in settings.cell_addresses.items()}
    return {name: secret for name, secret in found.items() if secret}


def _field_of_workers(queue: str) -> str:
    if queue == MAINTENANCE:
        return "maintenance_queue_workers"
    service, suffix = queue.split("_", 1)
    return f"{'analyzer' if service == 'analysis' else 'specgen'}_queue_{suffix}_workers"


def _misfits(settings: Settings) -> Iterator[str]:
    """Faults that no single value shows: conflicts with another setting or with the machine."""
    if settings.heartbeat_seconds * 3 > settings.lease_seconds:
        yield (
            f"HEARTBEAT_SECONDS={settings.heartbeat_seconds:g}: expected at most a third of "
            f"LEASE_SECONDS={settings.lease_seconds:g}, so that a lease survives two failed renewals"
        )
    if settings.database_owner_url and not settings.database_url:
        yield "DATABASE_OWNER_URL: needs DATABASE_URL, which is for the application's role"
    yield from _cell_misfits(settings)
    yield from _model_misfits(settings)
    yield from _github_misfits(settings)
    if settings.encryption_key is not None and settings.encryption_keys is not None:
        yield "ENCRYPTION_KEY and ENCRYPTION_KEYS: expected only one of the two"
    if settings.smtp_url and not settings.public_url:
        yield "SMTP_URL: needs PUBLIC_URL, with which the links in mails begin"
    if isinstance(settings.object_store, Path):
        yield from _folder("OBJECT_STORE_URL", settings.object_store, must_exist=True)
    yield from _folder("LOCAL_REPOS_ROOT", settings.local_repos_root, must_exist=True)
    yield from _folder("FAIRLANE_HOME", settings.home, must_exist=False)


def _model_misfits(settings: Settings) -> Iterator[str]:
    if settings.llm_base_url is None:
        for name in ("llm_api_key", "llm_model"):
            if getattr(settings, name) is not None:
                yield f"{name.upper()}: needs LLM_BASE_URL"
    elif settings.llm_model is None:
        yield "LLM_BASE_URL: needs LLM_MODEL, the name of the model"
    if settings.llm_cost_per_day is not None and None in {settings.llm_input_price, settings.llm_output_price}:
        yield "LLM_COST_PER_DAY: needs LLM_INPUT_PRICE and LLM_OUTPUT_PRICE, which the cost needs"


def _cell_misfits(settings: Settings) -> Iterator[str]:
    if (settings.cells is None) != (settings.directory_url is None):
        yield "CELLS and DIRECTORY_URL: expected both or neither"
    if settings.cells is not None and settings.cell is None:
        yield "CELLS: expected DATABASE_URL among the cells' addresses, as each process belongs to one cell"


def _github_misfits(settings: Settings) -> Iterator[str]:
    if (settings.github_client_id is None) != (settings.github_client_secret is None):
        yield "GITHUB_CLIENT_ID and GITHUB_CLIENT_SECRET: expected both or neither"


def _folder(name: str, path: Path | None, *, must_exist: bool) -> Iterator[str]:
    if path is None or path.is_dir():
        return
    if path.exists():
        yield f"{name}={str(path)!r}: is not a folder"
    elif must_exist:
        yield f"{name}={str(path)!r}: the folder does not exist"
    elif not next(above for above in path.parents if above.exists()).is_dir():
        yield f"{name}={str(path)!r}: a folder cannot be created below a file"


def _fault(fault: Mapping[str, object], given: Mapping[str, str]) -> str:
    location = fault["loc"]
    field = str(location[0]) if isinstance(location, tuple) and location else "?"
    value = given.get(field, "")
    secret = "@" in value or "SecretStr" in str(Settings.model_fields[field].annotation)
    return (
        f"{field.upper()}={'(not shown)' if secret else repr(value)}: {str(fault['msg']).removeprefix('Value error, ')}"
    )
