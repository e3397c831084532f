import type { Operation, SendOperation } from "./contract.ts";
import { originalId } from "./entrance.ts";
import type { HeldMessage } from "./held-message.ts";
import { held } from "./held-message.ts";
import type { Circumstances, MessageState, Semantics, ServicebusEvent } from "./semantics.ts";

/** The ways in which a move can end, each with all copies that there are then. */
type Outcomes = readonly (readonly HeldMessage[])[];

/**
 * Does an outcome's operations one after the other. One that Service Bus refuses ends it, and the consumer leaves the message to its lock.
 *
 * @param attempt the one that just ended; the ids of the message and of all its copies so far are known to duplicate detection
 */
export function perform(
  semantics: Semantics,
  message: MessageState,
  operations: readonly Operation[],
  attempt: number,
): Outcomes {
  let alternatives: readonly Alternative[] = [{ copies: [], original: message, stopped: false }];
  for (const operation of operations) {
    alternatives = alternatives.flatMap((alternative) =>
      alternative.stopped ? [alternative] : after(semantics, alternative, operation, attempt),
    );
  }
  return alternatives.map(({ copies, original }) => [...copies, letGo(original)]);
}

interface Alternative {
  readonly copies: readonly HeldMessage[];
  readonly original: MessageState;
  readonly stopped: boolean;
}

function after(
  semantics: Semantics,
  { copies, original, stopped }: Alternative,
  operation: Operation,
  attempt: number,
): readonly Alternative[] {
  if (operation.operation === "schedule" || operation.operation === "send") {
    return sendCopy(semantics, original, operation, attempt).map((sent) =>
      sent.some(({ message }) => message.place.kind === "refused")
        ? { copies, original, stopped: true }
        : { copies: [...copies, ...sent], original, stopped },
    );
  }
  const outcomes = semantics.step(original, { kind: eventOf(operation.operation) });
  if (outcomes.length === 0) return [{ copies, original, stopped: true }];
  return outcomes.flatMap(([next]) => (next === undefined ? [] : [{ copies, original: next, stopped }]));
}

function eventOf(operation: Exclude<Operation, SendOperation>["operation"]): ServicebusEvent["kind"] {
  switch (operation) {
    case "deadLetter":
      return "dead-letter";
    case "closeSession":
      return "session-closes";
    default:
      return operation;
  }
}

function sendCopy(
  semantics: Semantics,
  { content }: MessageState,
  { operation, queue, delayMs, messageIdSuffix, applicationProperties }: SendOperation,
  attempt: number,
): Outcomes {
  const known = new Set([originalId, content.messageId]);
  for (let earlier = 2; earlier <= attempt; earlier++) known.add(`${originalId}:r${earlier}`);
  const circumstances: Circumstances = { isKnown: (_, messageId) => known.has(messageId) };
  const copy = {
    ...content,
    messageId: `${originalId}${messageIdSuffix}`,
    properties: { ...content.properties, "redeliver-attempt": applicationProperties["redeliver-attempt"] },
  };
  const scheduled = operation === "schedule";
  // What a handler asks for is bounded by whoever plays it; unbounded it could be anything.
  const { from, to } = delayMs === undefined || delayMs === "asked" ? { from: 0, to: 0 } : delayMs;
  return semantics
    .send({ to: queue, content: copy, timeToLiveMs: null, scheduled }, circumstances)
    .map((states) =>
      states.map((message) =>
        message.place.kind === "entity" && message.place.status === "scheduled"
          ? { message, handler: null, wait: { fromMs: from, toMs: to } }
          : held(message),
      ),
    );
}

/** A message that is still locked when its handler has ended waits until its lock runs out. */
function letGo(message: MessageState): HeldMessage {
  const isLocked = message.place.kind === "entity" && message.place.status === "locked";
  return isLocked ? { ...held(message), handler: "gone" } : held(message);
}

/** A delay that is asked for is anything up to the most. */
export function bounded(operation: Operation, upToMs: number): Operation {
  if (operation.operation !== "schedule" || operation.delayMs !== "asked") return operation;
  return { ...operation, delayMs: { from: 0, to: upToMs } };
}
