import type { ConsumerPlan, Plan } from "../../../plan/plan.ts";
import { nobody } from "../../../contract/promise.ts";
import type { CompiledConsumer } from "../../../contract/compile-consumer.ts";
import { type RabbitmqTarget, formatTarget } from "./capabilities.ts";
import type { Contract } from "./contract.ts";
import { sourcesOf } from "./names.ts";

/**
 * Compiles a consumer with `every-instance`. Each running instance declares its own queue, which ends with its
 * connection. Only the sources are deployed. There is no queue to retry from, so a failed message is dropped, and the
 * contract says so.
 */
export function everyInstance(
  whole: Plan,
  plan: ConsumerPlan,
  target: RabbitmqTarget,
): NonNullable<CompiledConsumer<Contract, "every-instance">["result"]> {
  const sources = sourcesOf(whole, plan);
  const { consumer } = plan;
  return {
    contract: {
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
          "every other instance has its own copy; the broker drops this one, because its queue has no dead-letter exchange",
        permanent: "the same as for a transient failure",
        return: "the queue ends with the instance, so the message cannot go back",
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
        bindings: sources.flatMap(({ exchange, routingKeys, ...headers }) =>
          routingKeys.map((routingKey) => ({ exchange, routingKey, ...headers })),
        ),
      },
    },
    promises: {
      "no-loss": nobody`every instance gets every message while it runs; messages that it fails on or misses are lost: no retries`,
    },
    choice: {
      consumer,
      strategy: "every-instance",
      reason: "declared: each instance has its own queue, and nothing is retried",
      passedOver: [],
    },
  };
}
