"""`fairlane tier …`."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import click

from app.cli.accounts import TIERS
from app.cli.wiring import actor, open_database, policy, show
from app.domain.plans import Tier
from app.services.accounts import plans
from app.services.fairness import change_limits


class _NumberOrNone(click.ParamType[int | None]):
    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | None:
        if value == "unlimited":
            return None
        try:
            return click.IntRange(0).convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"{value!r}: expected a whole number from 0 on, or `unlimited`", param, ctx)


@click.group()
def tier() -> None:
    """How many jobs of a user run at once, and what they may use, by tier."""


@tier.command("list")
@click.option("--json", "as_json", is_flag=True)
def list_tiers(*, as_json: bool) -> None:
    """Print the limit of each tier, and where it comes from."""
    limits = [asdict(limit) for limit in change_limits.tier_limits(open_database(), policy())]
    if as_json:
        click.echo(json.dumps(limits))
        return
    for limit in limits:
        source = f"FAIRNESS_{limit['tier'].upper()}_LIMIT" if limit["by_setting"] else "the plan"
        click.echo(f"{limit['tier']}: {limit['slots']} ({source})")


@tier.command("limit")
@click.argument("name", type=TIERS, metavar="TIER")
@click.argument("slots", type=click.IntRange(1, change_limits.HIGHEST_SLOT_LIMIT), metavar="N")
@click.option("--json", "as_json", is_flag=True)
def change_tier_limit(name: str, slots: int, *, as_json: bool) -> None:
    """Let users of a tier run up to N jobs of each service at once; waiting jobs start immediately."""
    show(
        asdict(change_limits.change_tier_limit(open_database(), Tier(name), slots, policy(), actor=actor())),
        as_json=as_json,
    )


@tier.command("quota")
@click.argument("name", type=TIERS, metavar="TIER")
@click.option("--analyses", "analyses_per_period", type=_NumberOrNone(), help="Analyses in a period, or `unlimited`.")
@click.option(
    "--spec-units", "spec_units_per_period", type=_NumberOrNone(), help="Units of specifications in a period, likewise."
)
@click.option("--retention-days", type=_NumberOrNone(), help="Days that results are kept; `unlimited`: for ever.")
@click.option("--json", "as_json", is_flag=True)
@click.pass_context
def change_quota(ctx: click.Context, /, name: str, *, as_json: bool, **given: int | None) -> None:
    """Print what a tier may use in a period, and change what is given; it applies from the next submission on."""
    by_hand = click.core.ParameterSource.COMMANDLINE
    changes = {member: value for member, value in given.items() if ctx.get_parameter_source(member) is by_hand}
    uow, of = open_database(), Tier(name)
    plan = plans.change_quota(uow, of, changes, actor=actor()) if changes else plans.plan_of(uow, of)
    shown = {member: getattr(plan, member) for member in plans.LEAST}
    if not as_json:
        shown = {member: "unlimited" if value is None else value for member, value in shown.items()}
    show({"tier": plan.tier.value, **shown}, as_json=as_json)
