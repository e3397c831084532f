import { brokerOf } from "../brokers/index.ts";
import { formatDurationMs } from "../declare/duration.ts";
import { type Diagnostic, diagnostic } from "../diagnostics/diagnostic.ts";
import type { Violation } from "../verify/verdict.ts";
import { verifyChanges } from "../verify/verify-change.ts";
import { type Deployed, isElsewhere } from "./deployed.ts";

/** The proof of a change, with a message in every place. */
export type ProvedChange = ReturnType<typeof proveChange>;

/**
 * Proves a change that is not refused. Consumers by the old contract and by the new one may be at work, and nothing
 * that a message needs is deleted.
 *
 * @param from the last declaration. Messages of declarations before it must no longer wait
 */
export function proveChange(from: Deployed, to: Deployed) {
  if (isElsewhere(from, to)) return { verdicts: [], problems: [], warnings: [], weakened: [] };
  const verdicts = verifyChanges(brokerOf(to.target).changesOf(from, to));
  const shorter = keptShorter(from, to);
  const weaker = verdicts.filter((each) => each.weaker.length > 0);
  return {
    /** One for each consumer that is declared before and after. */
    verdicts,
    /** The losses that the proof found (RD305). The change must not be made. One violation of a consumer refuses it. */
    problems: verdicts.flatMap(({ unsafe }) => unsafe.slice(0, 1).map(problemOf)),
    /** The promises that do not hold for messages that wait during the change (RD304), and the messages that are deleted earlier (RD308). */
    warnings: [...verdicts.flatMap(({ weaker }) => weaker.map(warningOf)), ...shorter.map(({ warning }) => warning)],
    /** The consumers that the warnings are about. A queue that consumers share is that of none. */
    weakened: [...new Set([...weaker, ...shorter].flatMap(({ consumer }) => consumer ?? []))],
  };
}

/** Warns of a queue that would delete messages earlier than before. */
function keptShorter(from: Deployed, to: Deployed) {
  const before = new Map(from.parts.map(({ kind, name, keepsMs }) => [`${kind} ${name}`, keepsMs]));
  return to.parts.flatMap(({ kind, name, consumer, keepsMs }) => {
    const oldMs = before.get(`${kind} ${name}`) ?? 0;
    if (keepsMs === undefined || oldMs <= keepsMs) return [];
    const declared = Object.entries(to.system.consumers).find(([key]) => key === consumer)?.[1].deadLetter?.retain;
    const [now, was] = [formatDurationMs(keepsMs), formatDurationMs(oldMs)];
    const warning = diagnostic("RD308", {
      path: ["consumers", consumer ?? "", ...(declared === undefined ? [] : ["deadLetter", "retain"])],
      message: `the ${kind} ${name} would keep messages for ${now}; it keeps them for ${was}`,
      notes: [`${brokerOf(to.target).title} deletes a waiting message that is older than ${now}`],
      help: `make the change while no message in ${name} is older than that, or accept its loss`,
    });
    return { consumer, warning };
  });
}

function problemOf(violation: Violation): Diagnostic {
  return diagnostic("RD305", {
    path: ["consumers", violation.consumer],
    message: `${violation.message}, for messages that wait during the change`,
    notes: stepsOf(violation),
    help: "change the retries first, and the rest when no message waits by the old declaration",
  });
}

function warningOf(violation: Violation): Diagnostic {
  return diagnostic("RD304", {
    path: ["consumers", violation.consumer, "retry"],
    message: violation.message,
    notes: stepsOf(violation),
    help: "make the change while no message of the consumer waits, or accept it for those that do",
  });
}

/** The way to the violation, from its end. The beginning of a long one says little. */
function stepsOf({ trace }: Violation): string[] {
  return trace.map((step, index) => `${index + 1}. ${step}`).slice(-8);
}
