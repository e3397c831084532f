"""Runs a handler, and finds what the contract demands for its outcome."""


class RetryAfter(Exception):
    """Raise it where the delay is known, for example from a Retry-After header."""

    def __init__(self, seconds):
        super().__init__(f"retry after {seconds} s")
        self.delay_ms = int(seconds * 1000)


class HandBack(Exception):
    """Raise it where the message was not tried, for example at a shutdown."""


def run(contract, call, attempt):
    """Runs the handler once. Returns the operations of its outcome, and the delay that it asked for."""
    outcomes = contract["outcomes"]
    try:
        call()
        outcome, asked_ms = outcomes["success"], None
    except HandBack:
        outcome, asked_ms = outcomes["return"], None
    except RetryAfter as error:
        steps = [step for step in contract.get("retryAfter", []) if step["upToMs"] >= error.delay_ms]
        outcome, asked_ms = (steps[0], error.delay_ms) if steps else (outcomes["transient"], None)
    except Exception as error:
        permanent = set(contract["permanentErrors"]).intersection(names_of(error))
        outcome, asked_ms = outcomes["permanent" if permanent else "transient"], None
    if isinstance(outcome, dict):
        # A number beyond the last attempt counts as the last: fewer may have been declared while the message waited.
        outcome = outcome["byAttempt"][min(attempt, len(outcome["byAttempt"])) - 1]
    return outcome, asked_ms


def names_of(error):
    """The names of an error's classes and of everything that it was raised from; a longer chain is a ring."""
    for _ in range(20):
        yield from (each.__name__ for each in type(error).__mro__)
        error = error.__cause__ or error.__context__
        if error is None:
            return
