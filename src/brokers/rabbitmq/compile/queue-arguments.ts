import { sharesDeadQueue } from "../../../contract/shared-dead-queue.ts";
import { formatDurationMs, parseDurationMs } from "../../../declare/duration.ts";
import { type Diagnostic, diagnosed } from "../../../diagnostics/diagnostic.ts";
import type { Objection } from "../../../contract/choose-strategy.ts";
import type { ConsumerPlan, Plan, RetryPlan } from "../../../plan/plan.ts";
import { type RabbitmqTarget, capabilities, formatTarget } from "./capabilities.ts";
import type { QueueResource } from "./topology.ts";

type Declared = NonNullable<ConsumerPlan["queueArguments"]>;

/** The declared arguments of a work queue, by the broker's own names and in its units. */
export function argumentsOf({ queueArguments = {} }: ConsumerPlan): QueueResource["arguments"] {
  const entries = (Object.entries(queueArguments) as [keyof Declared, string | number | boolean][]).map(
    ([key, value]) => [nameOf(key), key === "consumerTimeout" ? parseDurationMs(String(value)) : value] as const,
  );
  return Object.fromEntries(entries);
}

function nameOf(key: keyof Declared): string {
  return `x-${key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** The declared limits on the length of the work queue. */
export function lengthLimitsOf({ queueArguments }: ConsumerPlan): readonly ("maxLength" | "maxLengthBytes")[] {
  return (["maxLength", "maxLengthBytes"] as const).filter((key) => queueArguments?.[key] !== undefined);
}

/**
 * Messages that come back through another queue need room in the work queue. While it is full, they stay in the shared
 * queue that they waited in. The broker tries again after three minutes, and 32 of them hold up those of all other
 * consumers. Source: `rabbit_fifo_dlx_worker` (settle timeout, prefetch); measured in docs/broker-facts.md.
 */
export function lengthObjection(plan: ConsumerPlan, { attempts }: RetryPlan): Objection[] {
  const [limit] = lengthLimitsOf(plan);
  if (limit === undefined || attempts.length === 1) return [];
  return [
    {
      reason: "while the work queue is full, messages that are due stay in a shared queue and hold up other consumers",
      path: ["queueArguments", limit],
      edit: `leave queueArguments.${limit} out`,
    },
  ];
}

/** A shared dead queue has its settings in one place, also when one of its consumers leaves the declaration. */
export function diagnoseDeadQueueSettings({ consumers }: Plan, target: RabbitmqTarget): Diagnostic[] {
  const sharing = consumers.filter(({ retry, deadQueue }) => retry !== null && sharesDeadQueue(target, deadQueue));
  const first = sharing.find((each) => each.deadQueueSettings !== undefined);
  const { deadQueueSettings: settings = "arguments" } = first ?? {};
  return sharing
    .filter((each) => (each.deadQueueSettings ?? "arguments") !== settings)
    .flatMap((each) =>
      diagnosed("RD240", {
        path: ["consumers", each.consumer, "deadLetter", "queueSettings"],
        message: `${first?.consumer} has the same dead queue, and says ${settings} for it`,
        value: each.deadQueueSettings,
        help: `write queueSettings: ${settings} into the deadLetter of each, or name a dead queue of its own in deadLetter.queue`,
      }),
    );
}

export function diagnoseArguments(plan: ConsumerPlan, target: RabbitmqTarget): Diagnostic[] {
  const timeout = plan.queueArguments?.consumerTimeout;
  if (timeout === undefined) return [];
  const path = ["consumers", plan.consumer, "queueArguments", "consumerTimeout"];
  if (!capabilities[target.version].consumerTimeoutPolicy)
    return diagnosed("RD240", {
      path,
      message: `${formatTarget(target)} ignores the consumer timeout of a queue`,
      value: timeout,
      notes: ["queues have it from 3.12 on"],
      help: "leave it out, and set consumer_timeout in rabbitmq.conf on every node",
    });
  const handlerMs = plan.handlerTimeoutMs ?? 0;
  if (parseDurationMs(timeout) > handlerMs) return [];
  return diagnosed("RD240", {
    path,
    message: `the broker would take a message back after ${timeout}; the handler may run for ${formatDurationMs(handlerMs)}`,
    value: timeout,
    notes: ["the message would be delivered a second time, beside the handler that still works on it"],
    help: "choose a consumerTimeout well above handlerTimeout, or leave it out",
  });
}
