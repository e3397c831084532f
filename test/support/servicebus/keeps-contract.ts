import type { Heard } from "./emulator/watcher.ts";
import { copyIdFor, type ServicebusContract } from "./drive.ts";

type Outcome = keyof ServicebusContract["outcomes"];
type Operation = NonNullable<ServicebusContract["retryAfter"]>[number]["byAttempt"][number][number];
type SendOperation = Extract<Operation, { readonly queue: string }>;
type Content = Heard extends infer Each ? (Each extends { readonly content: infer C } ? C : never) : never;
type Delivery = Extract<Heard, { readonly kind: "delivered" }>;
type Made = Extract<Heard, { readonly kind: "settled" | "deleted" | "sent" }>;

/** How a handler ends an attempt. */
export type Ended = (body: string, attempt: number) => Outcome;

/**
 * Compares what clients did with a contract: for each delivery from the work queue, which operations came, in which order, and that each waited
 * for the answer to the one before. It knows nothing of how the consumer is made. Every message needs a body of its own.
 *
 * @param heardAtMs when each was heard
 * @returns what differs, in words; empty for a consumer that keeps its contract
 */
export function breachesOf(
  contract: ServicebusContract,
  heard: readonly Heard[],
  heardAtMs: readonly number[],
  ended: Ended,
): readonly string[] {
  return heard.flatMap((each, index) => {
    if (each.kind === "deleted") return [`${bodyOf(each.content)}: received and deleted in one`];
    if (each.kind !== "delivered" || each.path !== contract.workQueue) return [];
    const body = bodyOf(each.content);
    const own = ownOf(heard.slice(index + 1), each);
    const attempt = attemptOf(contract, each.content, each.deliveryCount);
    const breaches = deliveryBreaches(contract, own, { body, attempt, content: each.content, ended });
    return [
      ...breaches,
      ...timeBreaches(contract, own, (other) => heardAtMs[heard.indexOf(other)] ?? 0, each, { body, attempt, ended }),
    ].map((breach) => `${body}, attempt ${attempt}: ${breach}`);
  });
}

/** What was done about one delivery. A copy names no delivery, so it belongs to the last one of its body. */
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

function operationsFor(contract: ServicebusContract, outcome: Outcome, attempt: number): readonly Operation[] {
  const operations = contract.outcomes[outcome];
  return "byAttempt" in operations ? (operations.byAttempt[attempt - 1] ?? []) : operations;
}

function attemptOf({ attemptNumber }: ServicebusContract, content: Content, deliveryCount: number): number {
  if (attemptNumber.from === "delivery-count") return deliveryCount + 1;
  return Number(content.application_properties?.[attemptNumber.attempt] ?? 1);
}

interface Delivered {
  readonly body: string;
  readonly attempt: number;
  readonly ended: Ended;
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
  { body, attempt, content, ended }: Delivered & { readonly content: Content },
): readonly string[] {
  const wanted = operationsFor(contract, ended(body, attempt), attempt);
  const made = madeOf(own, body);
  const [madeWords, wantedWords] = [made.map(wordOf), wanted.map(({ operation }) => operation)];
  if (madeWords.join() !== wantedWords.join())
    return [`${madeWords.join(", then ") || "nothing"} instead of ${wantedWords.join(", then ") || "nothing"}`];
  return made.flatMap((each, index) => {
    const operation = wanted[index] as Operation;
    const next = made[index + 1];
    const isEarly = each.kind === "sent" && next !== undefined && !isAnswered(own, each, next);
    return [
      ...(isEarly ? [`${wordOf(next)} before Service Bus has answered`] : []),
      ...("queue" in operation && each.kind === "sent" ? copyBreaches(contract, operation, content, each) : []),
      ...(operation.operation === "deadLetter" ? letterBreaches(each) : []),
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
    "redeliver-original-id": originalId,
  };
  for (const name of operation.removeApplicationProperties) delete wanted[name];
  const there = content.application_properties ?? {};
  const names = new Set([...Object.keys(wanted), ...Object.keys(there)]);
  return [
    ...(path === operation.queue ? [] : [`the copy goes to ${path}`]),
    ...(content.message_id === copyIdFor(contract, originalId, operation) ? [] : [`its id is ${content.message_id}`]),
    ...[...names].filter((name) => wanted[name] !== there[name]).map((name) => `its ${name} is ${String(there[name])}`),
    ...(content.subject === original.subject ? [] : ["it has another subject"]),
    ...((content.ttl ?? null) === null ? [] : [`it lives for ${content.ttl} ms`]),
  ];
}

/** A copy is due no earlier than its delay after the delivery, and no later than its delay after it was sent. */
function timeBreaches(
  contract: ServicebusContract,
  own: readonly Heard[],
  atMs: (each: Heard) => number,
  delivery: Delivery,
  { body, attempt, ended }: Delivered,
): readonly string[] {
  const deliveredAtMs = atMs(delivery);
  return operationsFor(contract, ended(body, attempt), attempt).flatMap((operation) => {
    const sent = own.find((each) => each.kind === "sent" && bodyOf(each.content) === body);
    if (operation.operation !== "schedule" || sent?.kind !== "sent" || sent.dueAtMs === null) return [];
    const { delayMs } = operation;
    if (delayMs === undefined || delayMs === "asked") return [];
    if (sent.dueAtMs < deliveredAtMs + delayMs.from)
      return [`due ${sent.dueAtMs - deliveredAtMs} ms after the delivery`];
    const afterSendMs = sent.dueAtMs - atMs(sent);
    return afterSendMs > delayMs.to ? [`due ${afterSendMs} ms after it was sent`] : [];
  });
}

function letterBreaches(made: Made): readonly string[] {
  if (made.kind !== "settled" || made.settlement.kind !== "dead-letter") return [];
  const { reason, description } = made.settlement;
  return [
    ...((reason ?? "") === "" ? ["the dead letter has no reason"] : []),
    ...((description ?? "") === "" ? ["the dead letter has no description"] : []),
  ];
}

/** Messages that were sent are as rhea decoded them: the body is a section. */
function bodyOf(content: Content): string {
  const body: unknown = content.body;
  const inner = Buffer.isBuffer(body) ? body : (body as { readonly content?: unknown } | null)?.content;
  return Buffer.isBuffer(inner) ? inner.toString() : String(inner);
}
