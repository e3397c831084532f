import { isDeepStrictEqual } from "node:util";

import { waysOf } from "../../../src/contract/interpret.ts";
import type { Contract, Operation, PublishOperation } from "../../../src/index.ts";
import { attemptOf, type Decision, operationsFor } from "../drive.ts";
import type { WireFrame } from "./amqp-proxy.ts";
import type { Handled } from "./handled.ts";
import { type Copy091, type Delivery091, type Made091, readWire091 } from "./read-wire-0-9-1.ts";

/**
 * Compares the frames with a contract, for every delivery. After its handler has ended, exactly the contract's
 * operations must come, in its order, each with its fields. None may come before the confirm of the one before. The
 * check knows nothing of the consumer's code. Every message needs a body of its own, a JSON string that is its name.
 *
 * @param handled in the order of the handlers' ends; for a delivery that no handler saw, its expected end
 * @returns the differences, in words; empty for a consumer that keeps its contract
 */
export function breachesOf091(contract: Contract, frames: readonly WireFrame[], handled: readonly Handled[]) {
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

/** A handler that asks for too much gets the longest delay. */
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

function copyBreaches(contracted: PublishOperation, copy: Copy091, delivery: Delivery091, run: Handled) {
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

/** Compares the place of a copy and its wait there. */
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

/** From the protocol's names, which the contract uses, to amqplib's. */
const propertyNames = { "user-id": "userId" } as const;

/**
 * A copy has the properties of its message, except for those that the contract names. It always has an id, so that
 * repeats can be recognised.
 */
function propertyBreaches({ removeProperties }: PublishOperation, copy: Copy091, delivery: Delivery091) {
  const wanted: Record<string, unknown> = { ...delivery.properties, headers: undefined, expiration: undefined };
  for (const name of removeProperties) wanted[propertyNames[name]] = undefined;
  const found: Record<string, unknown> = { ...copy.properties, headers: undefined, expiration: undefined };
  if (found["messageId"] === undefined || found["messageId"] === "") return ["the copy has no message id"];
  wanted["messageId"] ??= found["messageId"];
  return differences(wanted, found).map((name) => `its ${name} is ${String(found[name])}`);
}

/**
 * Headers of the message stay, except for those that the contract removes. New ones come from the contract, or describe
 * a death.
 */
function headerBreaches(operation: PublishOperation, copy: Copy091, delivery: Delivery091, run: Handled) {
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

/** Further headers on a dead letter must describe this delivery. */
function letterBreaches(found: Readonly<Record<string, unknown>>, { properties }: Delivery091, { attempt }: Handled) {
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
