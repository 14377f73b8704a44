"""Five sessions a day for a week, as a team of one and its agent would have them. Words only; `week.py` plays them.

In answers `{helps}` and `{misleads}` stand for the ids of two learnings, so that the agent can give its verdict.
"""

from __future__ import annotations

from dataclasses import dataclass

GOOD = "\n\nLEARNING_HELPFUL: {helps}"
BAD = "\n\nLEARNING_NOT_HELPFUL: {misleads}"


@dataclass(frozen=True, kw_only=True)
class Session:
    """One session of one turn: the hour it starts, what was asked and answered, which files were written."""

    hour: int
    asked: str
    answered: str
    files: tuple[str, ...] = ()
    compacted: str = ""  # the host's summary, when the session grew too long


def _session(hour: int, asked: str, answered: str, *files: str, compacted: str = "") -> Session:
    return Session(hour=hour, asked=asked, answered=answered, files=files, compacted=compacted)


WEEK: dict[str, tuple[Session, ...]] = {
    "Monday": (
        _session(
            9,
            "Refund webhooks from Stripe sometimes undo a later status. Find out why.",
            "The handler applies events in the order they arrive. An update overtook its creation, so the refund fell "
            "back to pending. The handler compares the created time with the stored one now." + GOOD,
            "billing/webhooks.py",
        ),
        _session(
            10,
            "Add a test for webhook events that overtake each other.",
            "Added test_events_out_of_order: it delivers update before create and expects the refund to stay done.",
            "tests/test_webhooks.py",
        ),
        _session(
            11,
            "Write a test that pays with an expired test card in the Stripe sandbox.",
            "The note said that every test card number works in the sandbox. It does not: 4000000000000069 is declined "
            "as expired, which is what the test needs. I lost half an hour on it." + BAD,
            "tests/test_payments.py",
        ),
        _session(
            14,
            "Should webhooks be processed in the request or from a queue?",
            "From a queue. Bursts of 400 events time out the handler at 10 seconds, and a retry makes the burst worse. "
            "Decided: the request only stores the event, a worker applies it.",
        ),
        _session(
            16,
            "Put the raw webhook event into an outbox table.",
            "Events are stored in webhook_outbox with their id as key, so a repeated delivery is one row.\n"
            "DISCOVERY[constraint]: Stripe repeats a webhook for three days, so the outbox keeps event ids at least "
            "four days.",
            "billing/outbox.py",
            "migrations/0042_outbox.sql",
        ),
    ),
    "Tuesday": (
        _session(
            9,
            "Write the worker that applies webhook events from the outbox.",
            "The worker takes events in the order of their created time, not of their arrival, and skips what is older "
            "than the stored state." + GOOD,
            "billing/worker.py",
        ),
        _session(
            10,
            "The worker and the old handler run side by side. How do we avoid applying twice?",
            "A flag per event type says who applies it. Refunds go first; the flag flips with one row.",
            "billing/flags.py",
        ),
        _session(
            11,
            "Pay with a card that needs 3-D Secure in the Stripe sandbox.",
            "Again the note about test cards misled me: the sandbox declines made-up numbers. The documented number "
            "4000002760003184 asks for authentication." + BAD,
            "tests/test_payments.py",
        ),
        _session(
            14,
            "Deploys take eleven minutes. Where does the time go?",
            "Seven minutes are the image build: the dependency layer is rebuilt because the lock file is copied after "
            "the sources.\nDISCOVERY[pattern]: Copy the lock file before the sources in a Dockerfile, so that the "
            "dependency layer stays cached.",
            "Dockerfile",
        ),
        _session(
            16,
            "Explain the outbox to a new colleague in the docs.",
            "Added a page on the outbox: why it exists, its key, how the worker reads it, what to do when it grows.",
            "docs/webhooks.md",
        ),
    ),
    "Wednesday": (
        _session(
            9,
            "Refund webhooks are stuck in the outbox since six this morning.",
            "The worker held its transaction open during the call to the ledger, so a slow ledger blocked all events. "
            "It commits before the call now and marks the event afterwards.\n"
            "DISCOVERY[blocker]: A database transaction "
            "held open over a network call blocks every worker behind it, so commit before the call.",
            "billing/worker.py",
        ),
        _session(
            10,
            "Did events arrive out of order while the worker was stuck?",
            "Yes, 31 of 412. All were applied by created time, none fell back." + GOOD,
        ),
        _session(
            11,
            "Test a declined test card in the Stripe sandbox for the refund page.",
            "Used the documented number for a generic decline. The note that any number works is wrong." + BAD,
            "tests/test_refund_page.py",
        ),
        _session(
            14,
            "Amounts need a currency. Plan the column on the orders table.",
            "Nullable column, backfill in batches of 5,000, then the default. One statement would lock the table.",
            "migrations/0043_currency.sql",
        ),
        _session(
            16,
            "Run the backfill on staging and watch the locks.",
            "2.1 million rows in 14 minutes, the longest lock 80 ms. Production is planned for Thursday at seven.",
        ),
    ),
    "Thursday": (
        _session(
            9,
            "The backfill is through in production. Set the default and make the column required.",
            "Done. Orders without a currency: none. The constraint was added as not valid first, then validated.",
            "migrations/0044_currency_required.sql",
        ),
        _session(
            10,
            "Show amounts with their currency on the refund page.",
            "Amounts are formatted with the order's currency; the euro sign was hard-coded in three templates.",
            "templates/refund.html",
        ),
        _session(
            11,
            "Which test card should the nightly payment run use in the Stripe sandbox?",
            "The documented ones, kept in tests/cards.py with what each of them does.",
            "tests/cards.py",
        ),
        _session(
            14,
            "Review with me how webhook events that arrive out of order are handled, from request to ledger.",
            "Request stores, worker applies by created time, ledger is called outside the transaction, repeated events "
            "are one row. Open: an alert on the age of the oldest event." + GOOD,
            compacted="The webhook path was reviewed: request, outbox, worker, ledger. One thing is open, an alert on "
            "the age of the oldest event in the outbox.",
        ),
        _session(
            16,
            "Add the alert on the age of the oldest outbox event.",
            "The alert fires after five minutes; the worker's longest pause this week would have been seen.",
            "ops/alerts.yml",
        ),
    ),
    "Friday": (
        _session(
            9,
            "How did processing webhooks from a queue work out this week?",
            "No timeouts since Tuesday, the longest delay was the stuck morning, and the alert covers that now.",
        ),
        _session(
            10,
            "Remove the old handler for refunds.",
            "Removed with its flag. The worker is the only one that applies refunds.",
            "billing/webhooks.py",
            "billing/flags.py",
        ),
        _session(
            11,
            "A flaky test: test_refund_page fails one time in twenty.",
            "It slept 200 ms for the worker. It waits for the refund's state now, with a limit of five seconds.",
            "tests/test_refund_page.py",
        ),
        _session(
            14,
            "Move the other Stripe webhooks to the worker. Do they arrive out of order, too?",
            "They do. Disputes and payouts are applied by the worker, by created time as well." + GOOD,
            "billing/worker.py",
        ),
        _session(
            16,
            "Hand off: we stop here for the week.",
            "Logged where things stand, consolidated what had proved itself. Open: delete outbox rows after four days.",
        ),
    ),
}
