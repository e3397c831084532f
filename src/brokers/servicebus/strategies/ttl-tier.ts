import { formatDurationMs } from "../../../declare/duration.ts";
import type { Objection } from "../../broker.ts";
import { inOneUnit, skus } from "../capabilities.ts";
import type { Operation } from "../contract.ts";
import { tierName } from "../names.ts";
import { copyingOutcomes, copyingOutput, copyingPromises, copyingWhy } from "./scheduled.ts";
import type { Strategy, StrategyInput, StrategyOutput, Tier } from "./strategy.ts";
import { commonPromises, copyFor, deadLetter, orderObjection, promise } from "./strategy.ts";

/**
 * The pattern of RabbitMQ: a queue whose time to live is the delay, and whose dead letters are forwarded to the work queue. Service Bus
 * promises no time at which a message expires, and a forwarded message carries its time to live along, so it is there only for those who
 * ask for it by name. Sources: "Message expiration (Time to Live)"; azure-sdk-for-net issue 6748.
 */
export const ttlTier: Strategy = {
  name: "ttl-tier",
  isAutomatic: false,
  summary: "the consumer sends a copy to a queue of its delay, and Service Bus forwards it when it has expired",
  objections,
  build,
};

function objections(input: StrategyInput): Objection[] {
  const { retry, target } = input;
  const found = orderObjection(input);
  if (!skus[target.sku].forwarding) {
    found.push({ reason: `the ${target.sku} tier forwards no dead letters`, path: ["retry", "backoff"] });
  }
  if (retry.jitterPercent > 0) {
    const reason = `${retry.jitterPercent}% jitter: a queue has one time to live for all messages`;
    found.push({ reason, path: ["retry", "backoff", "jitter"] });
  }
  if (retry.retryAfterMaxMs !== null) {
    const reason = "a delay that the handler chooses: a queue has one time to live for all messages";
    found.push({ reason, path: ["retry", "retryAfter"] });
  }
  return found;
}

function build(input: StrategyInput): StrategyOutput {
  const { retry, workQueue } = input;
  const tiers = new Map<number, Tier>();
  for (const { delayMs } of retry.attempts) {
    if (delayMs > 0) tiers.set(delayMs, { name: tierName(workQueue, inOneUnit(delayMs)), delayMs });
  }
  const copies = retry.attempts
    .slice(1)
    .map(({ attempt, delayMs }): readonly Operation[] =>
      copyFor(attempt, tiers.get(delayMs)?.name ?? workQueue, undefined),
    );
  return {
    ...copyingOutput(input),
    attempts: retry.attempts.map(({ attempt, delayMs }) => ({ attempt, delayMs })),
    tiers: [...tiers.values()],
    outcomes: copyingOutcomes({ byAttempt: [...copies, [deadLetter("ATTEMPTS_EXHAUSTED")]] }),
    why: copyingWhy(
      input,
      "a copy waits in the queue of its delay until it expires there; only when Service Bus has answered is the message completed. After the last attempt there is no copy",
    ),
    promises: [
      ...commonPromises(input),
      ...copyingPromises(input),
      promise(
        input,
        "timing",
        "nobody",
        `no attempt comes before its delay (${[...tiers.keys()].map(formatDurationMs).join(", ")}), but nobody says how long after it: Service Bus expires messages when it comes to it`,
      ),
      promise(
        input,
        "exact-attempts",
        "nobody",
        "a copy carries the time to live of its tier, which runs again in the work queue: what nobody receives for as long is dead, its attempts not made",
      ),
    ],
  };
}
