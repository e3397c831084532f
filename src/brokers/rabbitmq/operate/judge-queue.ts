import { rabbitmqLimits } from "../compile/capabilities.ts";
import { type Diagnostic, diagnostic } from "../../../diagnostics/diagnostic.ts";

/** A queue, as the management API shows it. Anything may be missing. */
export interface ShownQueue {
  readonly type?: unknown;
  readonly arguments?: unknown;
  /** The policy in force, with an operator's policy in it. Missing until the broker has its first statistics. */
  readonly effective_policy_definition?: unknown;
  readonly consumers?: unknown;
}

/**
 * Judges if letters survive any number of looks. It refuses if it is not sure.
 *
 * @param version the broker's own version, such as `4.3.6`
 * @param shown null if the management API does not show the queue
 */
export function judgeQueue(queue: string, version: string, shown: ShownQueue | null): Diagnostic | null {
  const refusal = (message: string, help: string): Diagnostic =>
    diagnostic("RD841", { path: "queue", message, value: queue, help });
  const major = Number(/^(\d+)\./.exec(version)?.[1]);
  const type = shown?.type;
  if (type === "classic") return null;
  if (type === "stream") {
    return refusal(
      "the queue is a stream, which keeps its messages when they are read",
      "read a stream with a client for streams",
    );
  }
  const definition = shown?.effective_policy_definition;
  if (type !== "quorum" || definition === undefined || Number.isNaN(major)) {
    return refusal(
      "the delivery limit of the queue is unknown, because the management API does not show it",
      "give a user with the tag management and a permission in this virtual host, and try again after some seconds",
    );
  }
  const limits = [entryOf(shown?.arguments, "x-delivery-limit"), entryOf(definition, "delivery-limit")].filter(
    (value) => value !== undefined,
  );
  if (isUnlimited(limits, major)) return null;
  const limit = limits.find((value) => typeof value !== "number" || value >= 0 || major < 4) ?? 20;
  const byDefault = limits.length === 0 ? ", the default from 4.0 on" : "";
  return refusal(
    `the delivery limit of the queue is ${JSON.stringify(limit)}${byDefault}, so some looks more would delete its letters`,
    major < 4
      ? "remove x-delivery-limit when you make the queue again, and delivery-limit from its policies"
      : "set delivery-limit -1 in a policy for this queue, and remove x-delivery-limit if it has another value",
  );
}

/**
 * From 4.0 on there is a limit unless all values are negative: with two, the broker takes the larger if one is negative.
 * Up to 3.13 there is one as soon as any value is there. No message reaches the limit that Redeliver sets by a policy.
 * Source: `rabbit_quorum_queue:resolve_delivery_limit/2`.
 */
function isUnlimited(limits: readonly unknown[], major: number): boolean {
  const unreached = rabbitmqLimits.unreachedDeliveryLimit;
  if (major < 4) return limits.every((limit) => limit === unreached);
  return (
    limits.length > 0 && limits.every((limit) => Number.isInteger(limit) && (Number(limit) < 0 || limit === unreached))
  );
}

export const hasSingleActiveConsumer = (shown: ShownQueue | null): boolean =>
  entryOf(shown?.arguments, "x-single-active-consumer") === true;

/** In the answers of the management API, a resource without arguments has an empty list. */
function entryOf(table: unknown, name: string): unknown {
  return typeof table === "object" && table !== null ? (table as Readonly<Record<string, unknown>>)[name] : undefined;
}
