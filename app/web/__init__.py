"""The web: REST under /api/v1, and pages."""

from __future__ import annotations

from apiflask import APIFlask

from app import logs
from app.adapters.sandbox import require
from app.processes import keep_private
from app.settings import Settings
from app.version import VERSION
from app.web import views
from app.web.accounts.github import EXTENSION as GITHUB
from app.web.accounts.github import GitHub
from app.web.accounts.mails import EXTENSION as MAILS
from app.web.accounts.mails import Mails
from app.web.analyses.commit_lookups import EXTENSION as LOOKUPS
from app.web.analyses.commit_lookups import Lookups
from app.web.core import (
    compression,
    exchanges,
    headers,
    openapi,
    problems,
    rate_limits,
    read_only,
    rendering,
    sessions,
    static_files,
    trusted_hosts,
)
from app.web.core.client_addresses import behind_proxy
from app.web.core.context import EXTENSION
from app.web.core.strict_json import StrictJson
from app.web.core.wiring import WebWiring, wire
from app.web.jobs.api import LIVE
from app.web.jobs.job_streams import Live
from app.web.limits.read_costs import READS, Reads
from app.web.operations import health

LONGEST_BODY = 1_000_000  # bytes
#: What a request passes besides the views; the last one that looks at answers sees them first.
PARTS = (rendering, openapi, compression, static_files, headers, rate_limits, problems, read_only, health, exchanges)


def create_app(wired: WebWiring | None = None) -> APIFlask:
    """Build the application; without wiring, from the environment.  It opens no connection and starts no thread."""
    if wired is None:
        keep_private()
        wired = wire()
        logs.configure(wired.settings.log_format)
        logs.report_strangers()
        require(wired.settings)
    app = build(wired.settings, wired.secret)
    app.extensions |= parts(wired)
    return app


def build(settings: Settings, secret: str) -> APIFlask:
    """The views and everything around them, still without the parts that they use.  secret: signs sessions."""
    app = APIFlask(
        __name__,
        title="Fairlane",
        version=VERSION,
        spec_path=openapi.PATH,
        docs_path=None,
        static_folder=None,  # type: ignore[arg-type]  # static_files.py; APIFlask's type leaves out Flask's None
        json_errors=False,
    )
    app.secret_key = secret
    app.config["SECRET_KEY_FALLBACKS"] = [*settings.earlier_secret_keys]
    app.config |= {"MAX_CONTENT_LENGTH": LONGEST_BODY, "MAX_FORM_PARTS": 50}
    app.json = StrictJson(app)
    sessions.init(app)
    trusted_hosts.init(app, settings)
    if settings.trust_proxy:
        app.wsgi_app = behind_proxy(app.wsgi_app)  # type: ignore[method-assign]
    for part in PARTS:
        part.init(app)
    views.init(app)
    return app


def parts(wired: WebWiring) -> dict[str, object]:
    """The objects of which a process has one."""
    settings = wired.settings
    return {
        EXTENSION: wired,
        LIVE: Live(wired.uow, wired.policy),
        LOOKUPS: Lookups(wired.resolve, settings.lookup_timeout.total_seconds()),
        GITHUB: GitHub(settings),
        MAILS: Mails(settings),
        READS: Reads.of(per_minute=settings.read_limit_per_minute, heavy=settings.heavy_reads),
    }
