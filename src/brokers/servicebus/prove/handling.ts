import { performInOrder } from "../../../contract/perform.ts";
import type { Operation, SendOperation } from "../compile/contract.ts";
import { originalId } from "./entrance.ts";
import { type ModelState, atRest } from "./model-state.ts";
import type { Circumstances, MessageState, Semantics, ServicebusEvent } from "./semantics.ts";

/** The possible ends of a move, each with all the copies that then exist. */
type Outcomes = readonly (readonly ModelState[])[];

/**
 * Does the operations of an outcome in order. If Service Bus refuses one, the consumer stops and leaves the message to
 * its lock.
 *
 * @param attempt the attempt that just ended; duplicate detection knows the ids of the message and of all its copies so
 *   far
 */
export function perform(
  semantics: Semantics,
  message: MessageState,
  operations: readonly Operation[],
  attempt: number,
): Outcomes {
  return performInOrder<MessageState, ModelState, Operation>(message, operations, (original, operation) => {
    if (operation.operation === "schedule" || operation.operation === "send")
      return sendCopy(semantics, original, operation, attempt).map((sent) =>
        sent.some((each) => each.message.place.kind === "refused") ? "refused" : { copies: sent, original },
      );
    const outcomes = semantics.step(original, { kind: eventOf(operation.operation) });
    if (outcomes.length === 0) return ["refused"];
    return outcomes.flatMap(([next]) => (next === undefined ? [] : [{ copies: [], original: next }]));
  }).map(({ copies, original }) => [...copies, letGo(original)]);
}

function eventOf(operation: Exclude<Operation, SendOperation>["operation"]): ServicebusEvent["kind"] {
  if (operation === "deadLetter") return "dead-letter";
  return operation === "closeSession" ? "session-closes" : operation;
}

function sendCopy(
  semantics: Semantics,
  { content }: MessageState,
  { operation, queue, delayMs, messageIdSuffix, applicationProperties }: SendOperation,
  attempt: number,
): Outcomes {
  const isKnown: Circumstances["isKnown"] = (_, messageId) =>
    messageId === originalId || messageId === content.messageId || isOfCopy(messageId, attempt);
  const copy = {
    ...content,
    messageId: `${originalId}${messageIdSuffix}`,
    properties: { ...content.properties, "redeliver-attempt": applicationProperties["redeliver-attempt"] },
  };
  const scheduled = operation === "schedule";
  // Each move bounds the delay that a handler asks for. An unbounded delay could have any length.
  const { from, to } = delayMs === undefined || delayMs === "asked" ? { from: 0, to: 0 } : delayMs;
  return semantics
    .send({ to: queue, content: copy, timeToLiveMs: null, scheduled }, { isKnown })
    .map((states) =>
      states.map((message) =>
        message.place.kind === "entity" && message.place.status === "scheduled"
          ? { message, handler: null, wait: { fromMs: from, toMs: to } }
          : atRest(message),
      ),
    );
}

/** The copy that a redrive sends, with an id that duplicate detection does not know, and without a number. */
export function copySentTo(semantics: Semantics, queue: string, { content }: MessageState): readonly ModelState[] {
  const { "redeliver-attempt": _, ...properties } = content.properties;
  const copy = { ...content, messageId: `${originalId}:again-1`, properties };
  return semantics.send({ to: queue, content: copy, timeToLiveMs: null, scheduled: false }).flat().map(atRest);
}

/** True if a message has the id of a copy for this attempt or an earlier one. */
function isOfCopy(messageId: string, attempt: number): boolean {
  const [, number] = /^:r([1-9][0-9]*)$/.exec(messageId.slice(originalId.length)) ?? [];
  return messageId.startsWith(originalId) && number !== undefined && Number(number) >= 2 && Number(number) <= attempt;
}

/** A message that is still locked after its handler has ended waits until its lock ends. */
function letGo(message: MessageState): ModelState {
  const isLocked = message.place.kind === "entity" && message.place.status === "locked";
  return isLocked ? { ...atRest(message), handler: "gone" } : atRest(message);
}

/** Bounds the delay that a handler asks for: from 0 to the longest. */
export function bounded(operation: Operation, upToMs: number): Operation {
  if (operation.operation !== "schedule" || operation.delayMs !== "asked") return operation;
  return { ...operation, delayMs: { from: 0, to: upToMs } };
}
