/** How a client or a framework keeps a contract, as a section of its page. */
export interface Client {
  readonly title: string;
  /** Whether its code was run, and against what; a page never shows code as tested that was not. */
  readonly evidence: string;
  /** Paragraphs of Markdown. */
  readonly text: readonly string[];
  readonly code?: readonly Code[];
}

/** A file as it can be taken over. */
interface Code {
  readonly language: string;
  readonly text: string;
}

/** The part of a contract that programs go by, as JSON. */
export function partOf(contract: object, names: readonly string[]): string {
  return JSON.stringify(Object.fromEntries(Object.entries(contract).filter(([name]) => names.includes(name))), null, 2);
}

/** The same in a Python text. */
export function pythonContract(contract: object, names: readonly string[]): string {
  // A raw text of Python keeps the backslashes of JSON; three quotes in a row are none of JSON's.
  return `CONTRACT = json.loads(r"""\n${partOf(contract, names)}\n""")`;
}

/** What every snippet for Python begins its judgement of an outcome with. */
export const pythonOutcomes = `class RetryAfter(Exception):
    """Raise it where the delay is known, for example from a Retry-After header."""

    def __init__(self, seconds):
        super().__init__(f"retry after {seconds} s")
        self.delay_ms = int(seconds * 1000)


class HandBack(Exception):
    """Raise it where the message was not tried, for example at a shutdown."""


def names_of(error):
    """The names of an error's classes and of everything that it was raised from; a chain that is longer is a ring."""
    for _ in range(20):
        yield from (each.__name__ for each in type(error).__mro__)
        error = error.__cause__ or error.__context__
        if error is None:
            return


def operations_of(outcome, attempt):
    """A number beyond the last attempt is taken for the last: fewer may have been declared while the message waited."""
    if not isinstance(outcome, dict):
        return outcome
    by_attempt = outcome["byAttempt"]
    return by_attempt[min(attempt, len(by_attempt)) - 1]


def run(call, attempt):
    """Runs the handler once. Returns the operations of its outcome, and the delay that it asked for."""
    outcomes = CONTRACT["outcomes"]
    try:
        call()
        return operations_of(outcomes["success"], attempt), None
    except HandBack:
        return operations_of(outcomes["return"], attempt), None
    except RetryAfter as error:
        for step in CONTRACT.get("retryAfter", []):
            if step["upToMs"] >= error.delay_ms:
                return operations_of(step, attempt), error.delay_ms
        return operations_of(outcomes["transient"], attempt), None
    except Exception as error:
        permanent = set(CONTRACT["permanentErrors"]).intersection(names_of(error))
        return operations_of(outcomes["permanent" if permanent else "transient"], attempt), None`;
