import { isDeepStrictEqual } from "node:util";

import { waysOf } from "../../../src/brokers/contract.ts";
import type { Contract, Operation, PublishOperation } from "../../../src/index.ts";
import { attemptOf, operationsFor } from "../drive.ts";
import type { Decision } from "../drive.ts";
import type { WireFrame } from "./amqp-proxy.ts";
import type { Handled } from "./handled.ts";
import { readWire091 } from "./read-wire-0-9-1.ts";
import type { Copy091, Delivery091, Made091 } from "./read-wire-0-9-1.ts";

/**
 * Compares what went over the wire with a contract, for every delivery: that after its handler has ended exactly the contract's operations come,
 * in its order, each with its fields, and none before the one in front of it is confirmed. It knows nothing of how the consumer is made. Every
 * message needs a body of its own, a JSON string that is its name.
 *
 * @param handled in the order in which handlers ended; of a delivery that no handler saw, what is to become of it
 * @returns what differs, in words; empty for a consumer that keeps its contract
 */
export function breachesOf091(
  contract: Contract,
  frames: readonly WireFrame[],
  handled: readonly Handled[],
): readonly string[] {
  const { deliveries, strays } = readWire091(frames);
  const delivered = Map.groupBy(deliveries, nameOf);
  const ended = Map.groupBy(handled, ({ message }) => message);
  return [
    ...strays,
    ...[...new Set([...delivered.keys(), ...ended.keys()])].flatMap((name) => {
      const [own = [], runs = []] = [delivered.get(name), ended.get(name)];
      if (own.length !== runs.length)
        return [`${name}: ${runs.length} handlers have ended for ${own.length} deliveries`];
      return own.flatMap((delivery, index) => {
        const run = runs[index] as Handled;
        return deliveryBreaches(contract, delivery, run).map((breach) => `${name}, attempt ${run.attempt}: ${breach}`);
      });
    }),
  ];
}

export function nameOf({ body, properties }: Delivery091): string {
  return /^"(.*)"$/.exec(body)?.[1] ?? String(properties["messageId"]);
}

function deliveryBreaches(contract: Contract, delivery: Delivery091, run: Handled): readonly string[] {
  const { made } = delivery;
  const attempt = attemptOf(contract, { fields: delivery, properties: { headers: headersOf(delivery) } });
  if (attempt !== run.attempt) return [`it was attempt ${attempt} on the wire`];
  const wanted = operationsFor(contract, longestFor(contract, run.decision), attempt);
  const [madeWords, wantedWords] = [made.map(wordsOf), wanted.map(wantedWordsOf)];
  if (madeWords.join() !== wantedWords.join())
    return [`${madeWords.join(", then ") || "nothing"} instead of ${wantedWords.join(", then ") || "nothing"}`];
  return made.flatMap((each, index) => [
    ...(each.index < run.framesBefore ? [`${wordsOf(each)} before its handler has ended`] : []),
    ...(each.kind === "copy"
      ? [
          ...confirmBreaches(each, made[index + 1]),
          ...copyBreaches(wanted[index] as PublishOperation, each, delivery, run),
        ]
      : []),
  ]);
}

/** Who asks for more than there is gets the most. */
export function longestFor({ retryAfter }: Contract, decision: Decision): Decision {
  const mostMs = retryAfter?.at(-1)?.upToMs;
  if (typeof decision === "string" || !("askMs" in decision) || mostMs === undefined) return decision;
  return { askMs: Math.min(decision.askMs, mostMs) };
}

function wordsOf(made: Made091): string {
  return made.kind === "copy" ? "basic.publish" : words(made.operation, made.requeue);
}

function wantedWordsOf(operation: Operation): string {
  return words(operation.operation, "requeue" in operation ? operation.requeue : null);
}

function words(operation: string, requeue: boolean | null): string {
  return requeue === null ? operation : `${operation} with requeue=${requeue}`;
}

function confirmBreaches(copy: Copy091, next: Made091 | undefined): readonly string[] {
  if (!copy.isToBeConfirmed) return ["the copy is on a channel that confirms nothing"];
  if (copy.isReturned) return ["the copy was returned"];
  if (copy.confirmedAt === null) return ["the copy was never confirmed"];
  return next !== undefined && next.index < copy.confirmedAt
    ? [`${wordsOf(next)} before the broker has confirmed the copy`]
    : [];
}

function copyBreaches(
  contracted: PublishOperation,
  copy: Copy091,
  delivery: Delivery091,
  run: Handled,
): readonly string[] {
  const ways = waysOf(contracted).map((way) => placeBreaches(way, copy));
  const nearest = ways.toSorted((one, other) => one.length - other.length)[0] ?? [];
  return [
    ...nearest,
    ...(copy.mandatory === contracted.mandatory ? [] : [`mandatory is ${copy.mandatory}`]),
    ...(copy.isToBeConfirmed === contracted.confirm ? [] : [`the copy is to be confirmed: ${copy.isToBeConfirmed}`]),
    ...(copy.body === delivery.body ? [] : [`its body is ${copy.body}`]),
    ...propertyBreaches(contracted, copy, delivery),
    ...headerBreaches(contracted, copy, delivery, run),
  ];
}

/** Where a copy goes, and how long it waits there. */
function placeBreaches({ exchange, routingKey, expirationMs }: PublishOperation, copy: Copy091): readonly string[] {
  if (expirationMs === "asked") throw new Error("the decision says which delay is asked for");
  const expiration = copy.properties["expiration"];
  const waits = /^(0|[1-9][0-9]*)$/.test(String(expiration)) ? Number(expiration) : Number.NaN;
  const isRight =
    expirationMs === null ? expiration === undefined : waits >= expirationMs.from && waits <= expirationMs.to;
  const wanted = expirationMs === null ? "none" : `${expirationMs.from} to ${expirationMs.to}`;
  return [
    ...(copy.exchange === exchange
      ? []
      : [`the copy goes to the exchange "${copy.exchange}" instead of "${exchange}"`]),
    ...(copy.routingKey === routingKey ? [] : [`its routing key is ${copy.routingKey} instead of ${routingKey}`]),
    ...(isRight ? [] : [`its expiration is ${String(expiration)} instead of ${wanted}`]),
  ];
}

/** By the names of the protocol, which the contract uses, those of amqplib. */
const propertyNames = { "user-id": "userId" } as const;

/** A copy has the properties of its message, but for those that the contract names; and an id in any case, by which repeats are known. */
function propertyBreaches(
  { removeProperties }: PublishOperation,
  copy: Copy091,
  delivery: Delivery091,
): readonly string[] {
  const wanted: Record<string, unknown> = { ...delivery.properties, headers: undefined, expiration: undefined };
  for (const name of removeProperties) wanted[propertyNames[name]] = undefined;
  const found: Record<string, unknown> = { ...copy.properties, headers: undefined, expiration: undefined };
  if (found["messageId"] === undefined || found["messageId"] === "") return ["the copy has no message id"];
  wanted["messageId"] ??= found["messageId"];
  return differences(wanted, found).map((name) => `its ${name} is ${String(found[name])}`);
}

/** Headers of the message stay, but for those that the contract takes off; what comes to them is the contract's, and words on a dead letter. */
function headerBreaches(
  operation: PublishOperation,
  copy: Copy091,
  delivery: Delivery091,
  run: Handled,
): readonly string[] {
  const { copyRoutingKeyTo, removeHeaders, headers } = operation;
  const wanted: Record<string, unknown> = { ...headersOf(delivery) };
  for (const name of removeHeaders) delete wanted[name];
  if (copyRoutingKeyTo !== undefined) wanted[copyRoutingKeyTo] ??= delivery.routingKey;
  Object.assign(wanted, headers);
  if (headers !== undefined && run.reason !== undefined) wanted["dlq-failure-reason"] = run.reason;
  const found = headersOf(copy);
  const isOfDeadLetter = (name: string): boolean => headers !== undefined && name.startsWith("dlq-");
  return [
    ...differences(wanted, found)
      .filter((name) => name in wanted || !isOfDeadLetter(name))
      .map((name) => `its header ${name} is ${String(found[name])} instead of ${String(wanted[name])}`),
    ...(headers === undefined ? [] : letterBreaches(found, delivery, run)),
  ];
}

/** What a dead letter says beside what it has to, it says of this delivery. */
function letterBreaches(
  found: Readonly<Record<string, unknown>>,
  { properties }: Delivery091,
  { attempt }: Handled,
): readonly string[] {
  const wanted: Readonly<Record<string, unknown>> = {
    "dlq-retry-count": String(attempt),
    "dlq-original-message-id": properties["messageId"],
    "dlq-business-correlation-id": properties["correlationId"],
  };
  return Object.entries(wanted)
    .filter(([name, value]) => name in found && found[name] !== value)
    .map(([name]) => `its header ${name} is ${String(found[name])}`);
}

export function headersOf({ properties }: { readonly properties: Readonly<Record<string, unknown>> }) {
  return (properties["headers"] ?? {}) as Readonly<Record<string, unknown>>;
}

function differences(wanted: Readonly<Record<string, unknown>>, found: Readonly<Record<string, unknown>>): string[] {
  const names = new Set([...Object.keys(wanted), ...Object.keys(found)]);
  return [...names].filter((name) => !isDeepStrictEqual(wanted[name], found[name]));
}
