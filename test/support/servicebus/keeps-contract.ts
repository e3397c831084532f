import { isDeepStrictEqual } from "node:util";

import type { Heard } from "@redeliver/servicebus-emulator";

import { type Ends, operationsOfEnds } from "../consume/every-ending.ts";
import { copyIdFor, type ServicebusContract } from "./drive.ts";

type Operation = NonNullable<ServicebusContract["retryAfter"]>[number]["byAttempt"][number][number];
type SendOperation = Extract<Operation, { readonly queue: string }>;
type Content = Heard extends infer Each ? (Each extends { readonly content: infer C } ? C : never) : never;
type Delivery = Extract<Heard, { readonly kind: "delivered" }>;
type Made = Extract<Heard, { readonly kind: "settled" | "deleted" | "sent" }>;

/** The end of an attempt by its handler. */
export type Ended = (body: string, attempt: number) => Ends;

/**
 * Compares the clients' actions with a contract. For each delivery from the work queue it checks the operations, their
 * order, and that each waited for the answer to the one before. It knows nothing of the consumer's code. Every message
 * needs a body of its own.
 *
 * @param heardAtMs the time of each action
 * @param endedAtMs the end of an attempt's handler, by the same clock; null if unknown
 * @returns the differences, in words; empty for a consumer that keeps its contract
 */
export function breachesOf(
  contract: ServicebusContract,
  heard: readonly Heard[],
  heardAtMs: readonly number[],
  ended: Ended,
  endedAtMs: (body: string, attempt: number) => number | null = () => null,
): readonly string[] {
  const known = new Set(heard.flatMap((each) => (each.kind === "delivered" ? [bodyOf(each.content)] : [])));
  const atMs = (each: Heard): number => heardAtMs[heard.indexOf(each)] ?? 0;
  return heard.flatMap((each, index) => {
    if (each.kind === "deleted") return [`${bodyOf(each.content)}: received and deleted in one`];
    // A publisher's message is delivered later. A message without a delivery is a copy of none.
    if (each.kind === "sent" && each.path === contract.workQueue && !known.has(bodyOf(each.content)))
      return [`a copy of nothing: ${bodyOf(each.content)}`];
    if (each.kind !== "delivered" || each.path !== contract.workQueue) return [];
    const body = bodyOf(each.content);
    const attempt = attemptOf(contract, each.content, each.deliveryCount);
    const ends = ended(body, attempt);
    const { operations, askedMs } = operationsOfEnds<Operation>(contract, ends, attempt);
    const delivered: Delivered = {
      body,
      content: each.content,
      ends,
      operations,
      askedMs,
      endedAtMs: endedAtMs(body, attempt) ?? atMs(each),
    };
    const own = ownOf(heard.slice(index + 1), each);
    return [...deliveryBreaches(contract, own, delivered, atMs), ...timeBreaches(own, delivered, atMs)].map(
      (breach) => `${body}, attempt ${attempt}: ${breach}`,
    );
  });
}

/** The actions on one delivery. A copy names no delivery, so it belongs to the last one with its body. */
function ownOf(rest: readonly Heard[], { sequenceNumber, content }: Delivery): readonly Heard[] {
  const until = (isNext: (each: Delivery) => boolean): number => {
    const index = rest.findIndex((each) => each.kind === "delivered" && isNext(each));
    return index === -1 ? rest.length : index;
  };
  const again = until((each) => each.sequenceNumber === sequenceNumber);
  const another = until((each) => bodyOf(each.content) === bodyOf(content));
  return rest.filter((each, index) =>
    each.kind === "sent" || each.kind === "answered"
      ? each.kind === "answered" || index < another
      : index < again && each.sequenceNumber === sequenceNumber,
  );
}

function attemptOf({ attemptNumber }: ServicebusContract, content: Content, deliveryCount: number): number {
  if (attemptNumber.from === "delivery-count") return deliveryCount + 1;
  return Number(content.application_properties?.[attemptNumber.attempt] ?? 1);
}

interface Delivered {
  readonly body: string;
  readonly content: Content;
  readonly ends: Ends;
  /** The contract's operations for it. */
  readonly operations: readonly Operation[];
  readonly askedMs: number | null;
  /** The end of its handler; if unknown, the time of the delivery. */
  readonly endedAtMs: number;
}

function madeOf(own: readonly Heard[], body: string): readonly Made[] {
  return own.filter(
    (each): each is Made =>
      (each.kind === "settled" || each.kind === "deleted" || each.kind === "sent") && bodyOf(each.content) === body,
  );
}

function deliveryBreaches(
  contract: ServicebusContract,
  own: readonly Heard[],
  { body, content, ends, operations: wanted, endedAtMs }: Delivered,
  atMs: (each: Heard) => number,
): readonly string[] {
  const made = madeOf(own, body);
  const [madeWords, wantedWords] = [made.map(wordOf), wanted.map(({ operation }) => operation)];
  if (madeWords.join() !== wantedWords.join())
    return [`${madeWords.join(", then ") || "nothing"} instead of ${wantedWords.join(", then ") || "nothing"}`];
  return made.flatMap((each, index) => {
    const operation = wanted[index] as Operation;
    const next = made[index + 1];
    const isEarly = each.kind === "sent" && next !== undefined && !isAnswered(own, each, next);
    return [
      ...(atMs(each) < endedAtMs ? [`${wordOf(each)} before its handler has ended`] : []),
      ...(isEarly ? [`${wordOf(next)} before Service Bus has answered`] : []),
      ...("queue" in operation && each.kind === "sent" ? copyBreaches(contract, operation, content, each) : []),
      ...(operation.operation === "deadLetter" ? letterBreaches(each, operation.reason, ends) : []),
    ];
  });
}

function wordOf(made: Made): string {
  if (made.kind === "sent") return made.dueAtMs === null ? "send" : "schedule";
  if (made.kind === "deleted") return "delete";
  return made.settlement.kind === "dead-letter" ? "deadLetter" : made.settlement.kind;
}

function isAnswered(own: readonly Heard[], sent: Extract<Heard, { kind: "sent" }>, next: Heard): boolean {
  const before = own.slice(own.indexOf(sent), own.indexOf(next));
  return before.some((each) => each.kind === "answered" && each.messageIds.includes(String(sent.content.message_id)));
}

/** A copy has the same values as its message. */
const keptProperties = ["subject", "content_type", "content_encoding", "correlation_id", "reply_to", "to"] as const;

function copyBreaches(
  contract: ServicebusContract,
  operation: SendOperation,
  original: Content,
  { path, content }: Extract<Heard, { kind: "sent" }>,
): readonly string[] {
  const before = original.application_properties ?? {};
  const originalId = String(before["redeliver-original-id"] ?? original.message_id);
  const wanted: Record<string, unknown> = {
    ...before,
    "redeliver-attempt": operation.applicationProperties["redeliver-attempt"],
    ...(operation.applicationProperties["redeliver-original-id"] === "original-id"
      ? { "redeliver-original-id": originalId }
      : {}),
  };
  for (const name of operation.removeApplicationProperties) delete wanted[name];
  const there = content.application_properties ?? {};
  const names = new Set([...Object.keys(wanted), ...Object.keys(there)]);
  return [
    ...(path === operation.queue ? [] : [`the copy goes to ${path}`]),
    ...(content.message_id === copyIdFor(contract, originalId, operation) ? [] : [`its id is ${content.message_id}`]),
    ...[...names].filter((name) => wanted[name] !== there[name]).map((name) => `its ${name} is ${String(there[name])}`),
    ...(bodyOf(content) === bodyOf(original) ? [] : [`its body is ${bodyOf(content)}`]),
    ...keptProperties
      .filter((name) => !isDeepStrictEqual(content[name] ?? null, original[name] ?? null))
      .map((name) => `its ${name} is ${String(content[name])} instead of ${String(original[name])}`),
    ...((content.ttl ?? null) === operation.timeToLive ? [] : [`it lives for ${content.ttl} ms`]),
  ];
}

/**
 * A copy must be due no earlier than its delay after the handler's end, and no later than its delay after it was sent. The
 * consumer rounds up, and its clock rounds down.
 */
function timeBreaches(
  own: readonly Heard[],
  { body, operations, askedMs, endedAtMs }: Delivered,
  atMs: (each: Heard) => number,
): readonly string[] {
  return operations.flatMap((operation) => {
    const sent = own.find((each) => each.kind === "sent" && bodyOf(each.content) === body);
    if (operation.operation !== "schedule" || sent?.kind !== "sent" || sent.dueAtMs === null) return [];
    const asked = { from: askedMs ?? 0, to: askedMs ?? 0 };
    const { from, to } = operation.delayMs === "asked" ? asked : (operation.delayMs ?? { from: 0, to: 0 });
    if (sent.dueAtMs < endedAtMs + from) return [`due ${sent.dueAtMs - endedAtMs} ms after the failure`];
    const afterSendMs = sent.dueAtMs - atMs(sent);
    return afterSendMs > to + 1 ? [`due ${afterSendMs} ms after it was sent`] : [];
  });
}

function letterBreaches(made: Made, contracted: string, ends: Ends): readonly string[] {
  if (made.kind !== "settled" || made.settlement.kind !== "dead-letter") return [];
  const { reason, description } = made.settlement;
  const wanted = typeof ends === "object" && "permanent" in ends ? ends.permanent : contracted;
  return [
    ...(reason === wanted ? [] : [`the reason of the dead letter is ${String(reason)} instead of ${wanted}`]),
    ...((description ?? "") === "" ? ["the dead letter has no description"] : []),
  ];
}

/** Sent messages are in rhea's decoded form: the body is a section. */
function bodyOf(content: Content): string {
  const body: unknown = content.body;
  const inner = Buffer.isBuffer(body) ? body : (body as { readonly content?: unknown } | null)?.content;
  return Buffer.isBuffer(inner) ? inner.toString() : String(inner);
}
