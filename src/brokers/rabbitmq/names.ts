import type { Consumer } from "../../declare/system.ts";

/**
 * The names of everything that is made for a consumer. A consumer's own resources start with
 * `<system>.<consumer>`; what is shared starts with `<system>`.
 */
export interface ConsumerNames {
  readonly workQueue: string;
  /** The dead-letter exchange and the queue behind it. */
  readonly dead: string;
  readonly failedExchange: string;
  readonly retryExchange: string;
  readonly pastExchange: string;
  readonly firstExchange: string;
  readonly againExchange: string;
  /** The queue in which a message waits for an attempt. */
  readonly tier: (attempt: number) => string;
  /** The routing key of a message that is being retried: it says which attempt is next. */
  readonly attemptKey: (attempt: number) => string;
}

/**
 * No publisher may use routing keys with this start. The attempt number travels in the routing key, and a
 * publisher's key that looked like one would skip attempts.
 */
export const reservedKeyPrefix = "redeliver:";

export function consumerNames(system: string, consumer: string): ConsumerNames {
  const base = `${system}.${consumer}`;
  return {
    workQueue: base,
    dead: `${base}.dead`,
    failedExchange: `${base}.failed`,
    retryExchange: `${base}.attempts`,
    pastExchange: `${base}.attempts.past`,
    firstExchange: `${base}.attempts.first`,
    againExchange: `${base}.again`,
    tier: (attempt) => `${base}.attempt.${attempt}`,
    attemptKey: (attempt) => `${attemptKeyPrefix(system, consumer)}${attempt}`,
  };
}

/** What precedes the attempt number in the routing key of a retried message. */
export function attemptKeyPrefix(system: string, consumer: string): string {
  return `${reservedKeyPrefix}${system}.${consumer}:attempt:`;
}

/**
 * The pattern that all attempt keys of a consumer match on a topic exchange, and no publisher's key. Words end at dots, and the attempt is
 * at the end of the last word, so that word is left open. Attempt keys of consumers with the same words before it match as well; they come
 * here only where somebody sends another consumer's dead letters with their keys.
 */
export function anyAttemptKey(system: string, consumer: string): string {
  const prefix = attemptKeyPrefix(system, consumer);
  return `${prefix.slice(0, prefix.lastIndexOf("."))}.*`;
}

export function sourceExchange(system: string, source: string): string {
  return `${system}.${source}`;
}

/** The exchange and the queue of a shared wait; the longest delay in it is in the name. */
export function waitQueue(system: string, longestMs: number): string {
  return `${system}.wait.${longestMs}ms`;
}

/** Where shared wait queues send what is due; bound to every work queue by its attempt keys. */
export function sharedAgainExchange(system: string): string {
  return `${system}.wait.again`;
}

/** Where a waiting message goes whose consumer is gone, so that it does not hold up the others. */
export function undeliverable(system: string): string {
  return `${system}.wait.undeliverable`;
}

/** A policy pattern that matches one name and no other. */
export function exactPattern(name: string): string {
  return `^${name.replaceAll(/[\\^$.*+?()[\]{}|#]/g, String.raw`\$&`)}$`;
}

/** Which of the system's exchanges a consumer's messages come from, and by which routing keys. */
export function sourcesOf(
  system: string,
  from: Consumer["from"],
): { exchange: string; routingKeys: readonly string[] }[] {
  return Object.entries(from).map(([source, keys]) => ({
    exchange: sourceExchange(system, source),
    // "#" matches every key on a topic exchange; a fanout exchange does not look at it.
    routingKeys: keys === "all" ? ["#"] : keys,
  }));
}

/** For each pattern of a topic exchange a routing key that it matches; any other routing key stands for itself. */
export function examplesOf(patterns: readonly string[]): string[] {
  return patterns.map((pattern) =>
    pattern.includes("*") || pattern.includes("#") ? pattern.replaceAll(/(?<=^|\.)[*#](?=\.|$)/g, "example") : pattern,
  );
}
