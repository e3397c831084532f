import { createHash } from "node:crypto";

import { formatDurationMs } from "../../../declare/duration.ts";
import type { HeadersMatch } from "../../../declare/system.ts";
import type { Contract } from "./contract.ts";
import type { ExchangeRole, Topology } from "./topology.ts";
import { parkedName, queueNames, sourceName } from "../../../plan/names.ts";
import type { ConsumerPlan, Plan } from "../../../plan/plan.ts";

/**
 * The names of all resources of a consumer. A consumer's own resources start with the name of its work queue, which is
 * `<system>.<consumer>` unless the declaration gives another. Shared ones start with a prefix, which is `<system>` unless
 * the declaration gives another.
 */
export type ConsumerNames = ReturnType<typeof consumerNames>;

/**
 * No publisher may use routing keys with this prefix. Under `waits` the attempt number travels in the routing key, so a
 * publisher's key that looked like one would skip attempts.
 */
export const reservedKeyPrefix = "redeliver:";

export function consumerNames(plan: Pick<Plan, "system" | "names">, consumer: ConsumerPlan) {
  const { work: workQueue, dead, parked } = queueNames(plan, consumer, ".");
  return {
    /** The work queue. On shared exchanges this name is also the consumer's routing key. */
    workQueue,
    dead,
    parked,
    /** The exchange that the work queue dead-letters to. A policy leads it on to the exchanges of the schedule. */
    failedExchange: failedExchange(workQueue),
    /** The routing key of a copy that the consumer itself publishes. It names the next attempt. */
    attemptKey: (attempt: number) => `${attemptKeyPrefix(workQueue)}${attempt}`,
  };
}

/** The dead queue of a work queue, unless a declaration gives it another name. */
export function defaultDeadQueue(workQueue: string): string {
  return `${workQueue}.dead`;
}

/** The queue for letters that people park. */
export function parkedQueue(workQueue: string): string {
  return parkedName(workQueue, ".");
}

export function failedExchange(workQueue: string): string {
  return `${workQueue}.failed`;
}

/** The part before the attempt number in the routing key of a copy. */
export function attemptKeyPrefix(workQueue: string): string {
  return `${reservedKeyPrefix}${workQueue}:attempt:`;
}

/** The beginning of the names of all that consumers share. */
export function prefixOf({ system, prefix = system }: Pick<Topology, "system" | "prefix">): string {
  return prefix;
}

/** The exchange for the dead letters that consumers publish, and for those of `staged`. */
export function deadExchange(prefix: string): string {
  return `${prefix}.dead`;
}

/** The exchange that waiting messages leave through. Every work queue is bound to it by its own keys. */
export function againExchange(prefix: string): string {
  return `${prefix}.again`;
}

/** The exchange that a message passes on its way to one attempt. Its name tells the attempt. */
export function attemptExchange(prefix: string, attempt: number): string {
  return `${attemptExchangePrefix(prefix)}${attempt}`;
}

/** No source has a name that begins like this. */
export function attemptExchangePrefix(prefix: string): string {
  return `${againExchange(prefix)}.`;
}

/** The queue where messages wait for one attempt with one delay, and the exchange that leads to it alone. */
export function tierQueue(prefix: string, attempt: number, delayMs: number): string {
  return `${tierPrefix(prefix, attempt)}${inName(delayMs)}`;
}

export function tierPrefix(prefix: string, attempt: number): string {
  return `${prefix}.attempt.${attempt}.`;
}

/** A duration without blanks, such as `1m30s`: names go into shells, URLs and patterns. */
function inName(delayMs: number): string {
  return formatDurationMs(delayMs).replaceAll(" ", "");
}

const longestSchedule = 60;

/** A name that is as long as the longest of any schedule. */
export function longestScheduleName(prefix: string): string {
  return `${schedulePrefix(prefix)}${"-".repeat(longestSchedule)}.attempts`;
}

export function schedulePrefix(prefix: string): string {
  return `${prefix}.retry.`;
}

/** The names of a schedule: `shop.retry.1s-5s-25s`, `shop.retry.3x1s`. A long one is named by its hash. */
export function scheduleNames(prefix: string, delays: readonly number[]) {
  const runs: { readonly delayMs: number; count: number }[] = [];
  for (const delayMs of delays) {
    const last = runs.at(-1);
    if (last?.delayMs === delayMs) last.count += 1;
    else runs.push({ delayMs, count: 1 });
  }
  const text = runs.map(({ delayMs, count }) => `${count === 1 ? "" : `${count}x`}${inName(delayMs)}`).join("-");
  const hash = (): string => createHash("sha256").update(text).digest("hex").slice(0, 16);
  const base = `${schedulePrefix(prefix)}${text.length > longestSchedule ? hash() : text}`;
  return {
    /** By the reason of the death: failures go on, all else is dead. */
    reasonsExchange: base,
    /** By the attempt that failed. */
    attemptsExchange: `${base}.attempts`,
  };
}

export function sourceExchange(plan: Pick<Plan, "system" | "sources" | "names">, source: string): string {
  return sourceName(plan, source, ".");
}

/** The exchange and the queue of a shared wait. The name carries its longest delay. */
export function waitQueue(prefix: string, longestMs: number): string {
  return `${prefix}.wait.${longestMs}ms`;
}

/** The queue for a waiting message with a deleted consumer, so that it does not hold up the others. */
export function undeliverable(prefix: string): string {
  return `${prefix}.undeliverable`;
}

const sharedNames = Object.entries({
  dead: /^dead$/,
  again: /^again$/,
  undeliverable: /^undeliverable$/,
  attempt: /^again\.\d+$/,
  attempts: /^retry\..*\.attempts$/,
  reasons: /^retry\./,
  tier: /^attempt\.\d+\./,
  wait: /^wait\.\d+ms$/,
} as const satisfies Partial<Record<ExchangeRole, RegExp>>);

/** The role of a shared exchange that any declaration of a system may have, by its name. Null for any other. */
export function sharedRole(prefix: string, exchange: string): ExchangeRole | null {
  if (!exchange.startsWith(`${prefix}.`)) return null;
  const name = exchange.slice(prefix.length + 1);
  return (sharedNames.find(([, shape]) => shape.test(name))?.[0] ?? null) as ExchangeRole | null;
}

/** A policy pattern that matches one name and no other. */
export function exactPattern(name: string): string {
  return `^${name.replaceAll(/[\\^$.*+?()[\]{}|#]/g, String.raw`\$&`)}$`;
}

/**
 * The broker's default exchange, which has no name. It leads to each queue by the queue's own name, and nobody can bind
 * to it. Source: docs, "AMQP 0-9-1 Model Explained", section "Default Exchange".
 */
export const defaultExchange = "";

/** The system's exchanges that a consumer's messages come from, with their routing keys. One for each headers match. */
export function sourcesOf(
  plan: Pick<Plan, "system" | "sources" | "names">,
  { from, matches = {} }: Pick<ConsumerPlan, "from" | "matches">,
): Contract["sources"] {
  return Object.entries(from).flatMap(([source, keys]) => {
    // "#" matches every key on a topic exchange. A fanout or headers exchange ignores it.
    const taken = { exchange: sourceExchange(plan, source), routingKeys: keys === "all" ? ["#"] : keys };
    if (plan.sources[source]?.kind !== "headers") return [taken];
    return (matches[source] ?? [{ match: "all", headers: {} }]).map(({ match, headers }) => ({
      ...taken,
      arguments: { "x-match": match, ...headers },
    }));
  });
}

/** The headers of example messages that a source takes: one with all of them, or one for each. */
export function exampleHeadersOf({
  arguments: wanted = {},
}: Contract["sources"][number]): readonly HeadersMatch["headers"][] {
  const { "x-match": match = "all", ...headers } = wanted;
  if (String(match).startsWith("all")) return [headers];
  return Object.entries(headers).map(([key, value]) => ({ [key]: value }));
}

/** Gives one matching routing key for each pattern of an exchange. Any other routing key stands for itself. */
export function examplesOf({ exchange, routingKeys }: Contract["sources"][number]): readonly string[] {
  if (exchange === defaultExchange) return routingKeys;
  return routingKeys.map((pattern) =>
    pattern.includes("*") || pattern.includes("#") ? pattern.replaceAll(/(?<=^|\.)[*#](?=\.|$)/g, "example") : pattern,
  );
}
