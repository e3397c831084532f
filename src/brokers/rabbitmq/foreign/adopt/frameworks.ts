/**
 * Frameworks whose schedule is in the code of their consumers. Their queues for waiting take any delay, so that no queue
 * shows a delay. Sources: NServiceBus.RabbitMQ `DelayInfrastructure.cs`; kombu `native_delayed_delivery.py`;
 * Symfony's AmqpExt `Connection.php`; MassTransit "RabbitMQ", section "Broker Topology".
 */
const frameworks: readonly {
  readonly name: string;
  /** Matches a queue or an exchange that only this framework declares. */
  readonly sign: RegExp;
  readonly schedule: string;
  /** True if its queues for waiting are shared by all consumers. */
  readonly isShared?: true;
}[] = [
  {
    name: "NServiceBus",
    isShared: true,
    sign: /^nsb\.(v2\.)?delay-(level-\d+|delivery)$/,
    schedule:
      "its delay queues take any delay, and the endpoint's Recoverability has the schedule: by default 5 immediate retries, then 3 after 10 s, 20 s and 30 s",
  },
  {
    name: "Celery",
    isShared: true,
    sign: /^celery_delayed_(\d+|delivery)$/,
    schedule:
      "its delay queues take any delay, and each task has the schedule: by default max_retries=3 and default_retry_delay=180",
  },
  {
    name: "Symfony",
    sign: /^delay_.*_\d+_(delay|retry)$/,
    schedule:
      "it makes a queue for each delay and deletes it when unused, and retry_strategy of its transport has the schedule: by default 3 retries after 1 s, 2 s and 4 s",
  },
  {
    name: "MassTransit",
    sign: /_(error|skipped)$/,
    schedule: "UseMessageRetry and UseDelayedRedelivery in its code have the schedule, and leave no trace in queues",
  },
];

/** The framework that declared a queue of this name, or any of these queues and exchanges. */
export function frameworkOf(names: readonly string[]): (typeof frameworks)[number] | null {
  return frameworks.find(({ sign }) => names.some((name) => sign.test(name))) ?? null;
}

/** True for the part of a framework that all of its delays share. */
export function isSharedDelay(queue: string): boolean {
  return frameworks.some(({ sign, isShared = false }) => isShared && sign.test(queue));
}

/** True for a queue of Symfony where new messages wait because their producer delays them. A retry ends with `_retry`. */
export function isProducersDelay(queue: string): boolean {
  return /^delay_.*_\d+_delay$/.test(queue);
}
