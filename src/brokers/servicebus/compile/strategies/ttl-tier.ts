import { formatDurationMs } from "../../../../declare/duration.ts";
import { type Objection, oneDelayObjections, unless } from "../../../../contract/choose-strategy.ts";
import { nobody } from "../../../../contract/promise.ts";
import { inOneUnit, skus } from "../capabilities.ts";
import type { Operation } from "../contract.ts";
import { tierName } from "../names.ts";
import { copyingOutcomes, copyingOutput, copyingPromises, copyingWhy } from "./scheduled.ts";
import type { Strategy, StrategyInput, StrategyOutput, Tier } from "./strategy.ts";
import { commonPromises, copyFor, deadLetter, orderObjection } from "./strategy.ts";

/**
 * The pattern of RabbitMQ: a queue with the delay as its time to live, which forwards its dead letters to the work
 * queue. Service Bus promises no time for an expiry, and a forwarded message carries its time to live along. So only
 * users who name this strategy get it. Sources: "Message expiration (Time to Live)"; azure-sdk-for-net issue 6748.
 */
export const ttlTier: Strategy = {
  name: "ttl-tier",
  isAutomatic: false,
  summary: "the consumer sends a copy to a queue of its delay, and Service Bus forwards it when it expires",
  objections,
  build,
};

function objections(input: StrategyInput): Objection[] {
  const { retry, target } = input;
  return [
    ...orderObjection(input),
    ...unless(skus[target.sku].forwarding, `the ${target.sku} tier forwards no dead letters`, ["retry", "backoff"]),
    ...oneDelayObjections(retry, "a queue has one time to live for all messages"),
  ];
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
  const listed = tiers.size === 0 ? "" : ` (${[...tiers.keys()].map(formatDurationMs).join(", ")})`;
  return {
    ...copyingOutput(input),
    attempts: retry.attempts.map(({ attempt, delayMs }) => ({ attempt, delayMs })),
    tiers: [...tiers.values()],
    outcomes: copyingOutcomes({ byAttempt: [...copies, [deadLetter("ATTEMPTS_EXHAUSTED")]] }),
    why: copyingWhy(
      input,
      "a copy waits in the queue of its delay until it expires there; the consumer completes the message only after Service Bus has confirmed the copy. After the last attempt there is no copy",
    ),
    promises: {
      ...commonPromises(input),
      ...copyingPromises(input),
      timing: nobody`no attempt comes before its delay${listed}, but Service Bus does not promise how soon after it: it expires messages at no fixed time`,
      "exact-attempts": nobody`a copy keeps the time to live of its tier, which runs again in the work queue: a message that waits there as long dies before its attempts`,
    },
  };
}
