"""The meaning of each number on the operator's pages, shown with it."""

from __future__ import annotations

from app.web.core.languages import gettext, lazy_gettext

#: By the heading of its column, or by what a line names.
COLUMNS = {
    "Ready": lazy_gettext("Messages that a worker may take now. Their jobs are queued."),
    "Oldest": lazy_gettext(
        "How long the oldest ready message has been ready. If this grows, the workers do not keep up."
    ),
    "At work": lazy_gettext("Messages that a worker holds: their jobs run, or are about to."),
    "Waiting": lazy_gettext(
        "Messages that no worker may take yet. Their jobs wait for a slot of their own user (parked or snoozed), or "
        "for their next attempt. The workers are not the cause."
    ),
    "Oldest waiting": lazy_gettext(
        "How long ago the oldest job was accepted whose message is parked or snoozed. It waits until a running job of"
        " its own user ends, so more workers do not help. ~ means that more than 2,000 users wait and that not all of"
        " them were read."
    ),
    "Dead": lazy_gettext("Messages that were given up: their workers died too often, or nobody could read them."),
    "Busy": lazy_gettext("How many messages the worker holds, of how many it takes at once."),
    "Last seen": lazy_gettext("When the worker's session with the database last did something."),
    "Running": lazy_gettext("Jobs of the user that run now, of how many may run at once."),
    "A job takes": lazy_gettext("How long the user's recent jobs held a slot, on average."),
    "Jobs": lazy_gettext("Jobs that were accepted in this window and have started."),
    "p50": lazy_gettext("Half of the jobs waited less than this many seconds from the accept to the first start."),
    "p95": lazy_gettext(
        "Of twenty jobs, nineteen waited less than this many seconds from the accept to the first start."
    ),
    "Not started": lazy_gettext("Jobs that were accepted in this window and have not started yet."),
    "Last hour": lazy_gettext("How often jobs were snoozed in the last hour."),
    "Last 24 hours": lazy_gettext(
        "How often jobs were snoozed in the last 24 hours. One job may be snoozed many times."
    ),
    "Snoozed jobs": lazy_gettext(
        "How many jobs these were. Jobs that wait parked behind a snoozed one are not among them: no worker takes them."
    ),
    "Snoozed users": lazy_gettext("How many users these jobs belong to."),
    "Users": lazy_gettext("How many users had waiting jobs in the queue in this hour."),
    "Own limit": lazy_gettext("How many jobs of each service this user may run at once."),
    "Of the tier": lazy_gettext("How many they might run at once without a limit of their own."),
    "Failed": lazy_gettext("Jobs that ended as failed in this window. They were billed to nobody."),
    "Affected users": lazy_gettext("How many users asked for these jobs first. Scheduled jobs have no user."),
    "Repositories": lazy_gettext("How many repositories these jobs were for."),
    "Index": lazy_gettext(
        "How evenly they shared the workers' time, weighted by tier: 1 is even, and 1 of n users alone gives 1/n."
    ),
}
HEADINGS = {
    "Ready": lazy_gettext("Ready"),
    "Oldest": lazy_gettext("Oldest"),
    "At work": lazy_gettext("At work"),
    "Waiting": lazy_gettext("Waiting"),
    "Oldest waiting": lazy_gettext("Oldest waiting"),
    "Dead": lazy_gettext("Dead"),
    "Busy": lazy_gettext("Busy"),
    "Last seen": lazy_gettext("Last seen"),
    "Running": lazy_gettext("Running"),
    "A job takes": lazy_gettext("A job takes"),
    "Jobs": lazy_gettext("Jobs"),
    "p50": lazy_gettext("p50"),
    "p95": lazy_gettext("p95"),
    "Not started": lazy_gettext("Not started"),
    "Last hour": lazy_gettext("Last hour"),
    "Last 24 hours": lazy_gettext("Last 24 hours"),
    "Snoozed jobs": lazy_gettext("Snoozed jobs"),
    "Snoozed users": lazy_gettext("Snoozed users"),
    "Users": lazy_gettext("Users"),
    "Index": lazy_gettext("Index"),
    "Own limit": lazy_gettext("Own limit"),
    "Of the tier": lazy_gettext("Of the tier"),
    "Failed": lazy_gettext("Failed"),
    "Affected users": lazy_gettext("Affected users"),
    "Repositories": lazy_gettext("Repositories"),
}
#: The state of the service.
VERDICTS = {"OK": lazy_gettext("OK"), "Behind": lazy_gettext("Behind"), "Paused": lazy_gettext("Paused")}
#: Why the broker gave a message up.
REASONS_IN_WORDS = {
    "lost": lazy_gettext("The worker died during each of its deliveries."),
    "rejected": lazy_gettext("The task refused the message."),
    "undecodable": lazy_gettext("No worker could read the message."),
}
#: The actions of the audit log.
ACTIONS = {
    "dead.drop": lazy_gettext("Dropped dead letters"),
    "dead.redrive": lazy_gettext("Redrove dead letters"),
    "github.link": lazy_gettext("Linked a GitHub account"),
    "github.unlink": lazy_gettext("Unlinked a GitHub account"),
    "job.revoke": lazy_gettext("Cancelled a job"),
    "node.drain": lazy_gettext("Drained a node"),
    "node.undrain": lazy_gettext("Let a node take messages again"),
    "passkey.add": lazy_gettext("Added a passkey"),
    "passkey.remove": lazy_gettext("Removed a passkey"),
    "plan.limit": lazy_gettext("Changed the limit of a tier"),
    "plan.quota": lazy_gettext("Changed the quota of a tier"),
    "queue.pause": lazy_gettext("Paused a queue"),
    "queue.resume": lazy_gettext("Resumed a queue"),
    "schedule.change": lazy_gettext("Changed the schedule"),
    "service.read_only": lazy_gettext("Switched changes off"),
    "service.writable": lazy_gettext("Switched changes on again"),
    "sweep.run": lazy_gettext("Ran the sweep at once"),
    "schedule.run": lazy_gettext("Ran an entry of the schedule at once"),
    "keys.reencrypt": lazy_gettext("Encrypted stored secrets with the newest key"),
    "token.add": lazy_gettext("Created a token"),
    "token.revoke": lazy_gettext("Revoked a token"),
    "user.link": lazy_gettext("Made a sign-in link"),
    "user.add": lazy_gettext("Added a user"),
    "user.delete": lazy_gettext("Deleted a user"),
    "user.limit": lazy_gettext("Changed the limit of a user"),
    "user.move": lazy_gettext("Moved a user to another cell"),
    "user.email": lazy_gettext("Verified the address of a user"),
    "user.password": lazy_gettext("Changed the password of a user"),
    "user.tier": lazy_gettext("Changed the tier of a user"),
}
#: What each entry of the schedule does.
ENTRIES = {
    "prune": lazy_gettext("Deletes rows that have expired, and rows that nothing refers to."),
    "reconcile": lazy_gettext("Compares completed jobs with their bills."),
    "reschedule": lazy_gettext("Analyses viewed repositories again whose newest commit changed."),
    "sweep": lazy_gettext("Removes what dead processes left behind, such as reservations and slots."),
}


#: What the sweep finds, by kind.
LEFT_BEHIND = {
    "extended": lazy_gettext("Reservations of living jobs that end soon, and are extended: this is normal"),
    "buried": lazy_gettext("Jobs whose message was given up, and that are ended"),
    "orphans": lazy_gettext("Reservations without a job, whose units are returned"),
    "slots": lazy_gettext("Slots of dead workers, which are freed"),
    "pruned": lazy_gettext("Rows that have expired, and are deleted: this is normal"),
}


def console_texts() -> dict[str, str]:
    """The texts of refresh.js."""
    return {
        "read": gettext("Read at %(time)s, and again every 10 s."),
        "failed": gettext("Not read since %(time)s: %(why)s."),
        "answered": gettext("the server answered %(status)s"),
    }
