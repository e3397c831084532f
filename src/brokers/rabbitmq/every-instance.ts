import { deepFreeze } from "../../declare/freeze.ts";
import type { ConsumerPlan } from "../../plan/plan.ts";
import type { KeptPromise, StrategyChoice } from "../broker.ts";
import type { RabbitmqTarget } from "./capabilities.ts";
import { formatTarget } from "./capabilities.ts";
import type { Contract } from "./contract.ts";
import { sourcesOf } from "./names.ts";

/**
 * Each running instance declares a queue of its own that ends with its connection. There is nothing to deploy but the
 * sources, and nothing to retry from: a failed message is dropped, and the contract says so.
 */
export function everyInstance(
  system: string,
  plan: ConsumerPlan,
  target: RabbitmqTarget,
): {
  readonly contract: Contract;
  readonly promises: readonly KeptPromise[];
  readonly choice: StrategyChoice<"every-instance">;
} {
  const sources = sourcesOf(system, plan.from);
  const { consumer } = plan;
  return {
    contract: deepFreeze({
      consumer,
      target: formatTarget(target),
      strategy: "every-instance",
      protocol: "amqp-0-9-1",
      workQueue: null,
      deadQueue: null,
      attempts: [{ attempt: 1, delayMs: 0 }],
      crashDeliveries: null,
      maxDeliveries: 1,
      outcomes: {
        success: [{ operation: "basic.ack" }],
        transient: [{ operation: "basic.nack", requeue: false }],
        permanent: [{ operation: "basic.nack", requeue: false }],
        return: [{ operation: "basic.nack", requeue: false }],
      },
      why: {
        success: "the message is done",
        transient:
          "every other instance has its own copy; this one is dropped, since its queue has no dead-letter exchange",
        permanent: "the same as for a transient failure",
        return: "the queue ends with the instance, so there is nobody to hand the message back to",
      },
      attemptNumber: null,
      sources,
      handlerTimeoutMs: plan.handlerTimeoutMs,
      permanentErrors: [],
      instanceQueue: {
        exclusive: true,
        autoDelete: true,
        durable: false,
        arguments: { "x-queue-type": "classic" },
        bindings: sources.flatMap(({ exchange, routingKeys }) =>
          routingKeys.map((routingKey) => ({ exchange, routingKey })),
        ),
      },
    }),
    promises: [
      Object.freeze({
        consumer,
        promise: "no-loss",
        keeper: "nobody",
        statement: "every instance gets every message while it runs; what it fails on, or misses, is gone: no retries",
      }),
    ],
    choice: {
      consumer,
      strategy: "every-instance",
      reason: "declared: each instance has a queue of its own, and nothing is retried",
      passedOver: Object.freeze([]),
    },
  };
}
