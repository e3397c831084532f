import { formatDurationMs } from "../../declare/duration.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { diagnostic } from "../../diagnostics/diagnostic.ts";
import type { ServicebusCompiled } from "./compile.ts";
import { isoDuration } from "./iso-duration.ts";
import { defaultRuleName } from "./names.ts";
import type {
  MessageEntity,
  ServicebusSubscription,
  ServicebusTopic,
  ServicebusTopology,
  SubscriptionRule,
} from "./topology.ts";

/**
 * What Microsoft's own emulator takes, where that is less than Service Bus does. It ends with "Out of memory" on a file that is beyond it
 * (azure-service-bus-emulator-installer issue 131), so the file is judged before.
 * Source: that repository, `Config-schema.json` and, for SQL filters, issue 144; Service Bus documentation, "Overview of the Azure Service
 * Bus emulator".
 */
export const emulatorLimits = Object.freeze({
  maxDeliveryCount: 10,
  leastLockMs: 5_000,
  leastTimeToLiveMs: 300_000,
  timeToLiveMs: 3_600_000,
  duplicateDetectionMs: 300_000,
  entities: 50,
  /** Of a topic. */
  leastSubscriptions: 1,
  subscriptions: 50,
  sqlFilters: 70,
  correlationFilters: 1_000,
});

/** The configuration file of the emulator. */
export interface EmulatorConfig {
  readonly UserConfig: { readonly Namespaces: readonly object[]; readonly Logging: object };
}

/**
 * Writes a topology as the `Config.json` of the official emulator. Alerts are nothing that it knows. It keeps messages for an hour at
 * most, so that is the time to live where the topology has none.
 */
export function exportEmulatorConfig({ queues, topics, subscriptions }: ServicebusTopology): EmulatorConfig {
  return {
    UserConfig: {
      Namespaces: [
        {
          // The emulator takes no other name.
          Name: "sbemulatorns",
          Queues: queues.map((queue) => ({
            Name: queue.name,
            Properties: { ...entityProperties(queue), ...detection(queue.duplicateDetectionMs) },
          })),
          Topics: topics.map(({ name, timeToLiveMs, duplicateDetectionMs }) => ({
            Name: name,
            Properties: {
              DefaultMessageTimeToLive: emulatedTimeToLive(timeToLiveMs),
              ...detection(duplicateDetectionMs),
            },
            Subscriptions: subscriptions.filter(({ topic }) => topic === name).map(subscriptionConfig),
          })),
        },
      ],
      Logging: { Type: "Console" },
    },
  };
}

/**
 * `$Default` is no name that the file may have. There a subscription without rules gets one that lets in everything, and a subscription with
 * rules has these alone. Source: azure-service-bus-emulator-installer, `Config-schema.json` and issue 127.
 */
function subscriptionConfig(subscription: ServicebusSubscription): object {
  const rules = subscription.rules.filter(({ name }) => name !== defaultRuleName);
  return { Name: subscription.name, Properties: entityProperties(subscription), Rules: rules.map(ruleConfig) };
}

function ruleConfig({ name, filter }: SubscriptionRule): object {
  const properties =
    filter.kind === "correlation"
      ? { FilterType: "Correlation", CorrelationFilter: { Label: filter.subject } }
      : { FilterType: "Sql", SqlFilter: { SqlExpression: filter.kind === "sql" ? filter.expression : "1=1" } };
  return { Name: name, Properties: properties };
}

function entityProperties(entity: MessageEntity): object {
  return {
    DeadLetteringOnMessageExpiration: entity.deadLetterOnExpiration,
    DefaultMessageTimeToLive: emulatedTimeToLive(entity.timeToLiveMs),
    ForwardDeadLetteredMessagesTo: entity.forwardDeadLetteredTo ?? "",
    ForwardTo: entity.forwardTo ?? "",
    LockDuration: isoDuration(entity.lockDurationMs),
    MaxDeliveryCount: entity.maxDeliveryCount,
    RequiresSession: entity.requiresSession,
  };
}

function emulatedTimeToLive(timeToLiveMs: number | null): string {
  const { timeToLiveMs: mostMs } = emulatorLimits;
  return isoDuration(timeToLiveMs === null || isUnbounded(timeToLiveMs) ? mostMs : timeToLiveMs);
}

/** 14 days are what the basic tier has in the place of no limit. */
function isUnbounded(timeToLiveMs: number): boolean {
  return timeToLiveMs >= 1_209_600_000;
}

function detection(durationMs: number | null): object {
  const windowMs = durationMs ?? emulatorLimits.duplicateDetectionMs;
  return {
    RequiresDuplicateDetection: durationMs !== null,
    DuplicateDetectionHistoryTimeWindow: isoDuration(windowMs),
  };
}

/** What of a system the emulator does not take, and what it does otherwise. */
export function diagnoseEmulatorConfig({ topology }: Pick<ServicebusCompiled, "topology">): readonly Diagnostic[] {
  const { queues, topics, subscriptions } = topology;
  const { entities, timeToLiveMs } = emulatorLimits;
  const found = [
    ...tooMany(queues.length + topics.length, entities, "queues and topics"),
    ...topics.flatMap((topic) =>
      topicProblems(
        topic,
        subscriptions.filter((each) => each.topic === topic.name),
      ),
    ),
    ...[...queues, ...subscriptions].flatMap((entity) => entityProblems(entity, entity.consumer ?? entity.name)),
    ...queues.flatMap(({ duplicateDetectionMs }) =>
      beyond(
        "target.duplicates",
        "the window of duplicate detection",
        duplicateDetectionMs ?? 0,
        0,
        emulatorLimits.duplicateDetectionMs,
      ),
    ),
  ];
  const unique = new Map(found.map((each) => [`${each.path} ${each.message}`, each]));
  return [
    ...unique.values(),
    diagnostic("RD718", {
      path: "",
      message: `the emulator keeps a message for ${formatDurationMs(timeToLiveMs)}; in Service Bus it stays until somebody takes it`,
      notes: ["what is older is dead-lettered there, as the topology says"],
      help: "nothing, where tests are shorter than that",
    }),
  ];
}

function topicProblems(
  { name, source }: ServicebusTopic,
  subscriptions: readonly ServicebusSubscription[],
): Diagnostic[] {
  const { leastSubscriptions: least, subscriptions: most, sqlFilters, correlationFilters } = emulatorLimits;
  const rules = subscriptions.flatMap((each) => each.rules).filter((rule) => rule.name !== defaultRuleName);
  const correlations = rules.filter(({ filter }) => filter.kind === "correlation");
  const alone = `there are 0 subscriptions of ${name}; the emulator takes ${least} at least`;
  return [
    ...(subscriptions.length >= least
      ? []
      : [limit(`sources.${source}`, alone, "take the source out, or let a consumer take from it")]),
    ...tooMany(subscriptions.length, most, `subscriptions of ${name}`),
    ...tooMany(rules.length - correlations.length, sqlFilters, `SQL filters of ${name}`),
    ...tooMany(correlations.length, correlationFilters, `correlation filters of ${name}`),
  ];
}

function tooMany(count: number, most: number, what: string): Diagnostic[] {
  if (count <= most) return [];
  return [limit("", `there are ${count} ${what}; the emulator takes ${most}`, "export fewer consumers")];
}

function entityProblems(entity: MessageEntity, consumer: string): Diagnostic[] {
  const { maxDeliveryCount, lockDurationMs, timeToLiveMs } = entity;
  const path = `consumers.${consumer}`;
  const mostDeliveries = emulatorLimits.maxDeliveryCount;
  return [
    ...(maxDeliveryCount <= mostDeliveries
      ? []
      : [
          limit(
            path,
            `the max delivery count is ${maxDeliveryCount}; the emulator takes ${mostDeliveries}`,
            "use fewer attempts, or crash deliveries",
          ),
        ]),
    ...(lockDurationMs % 1_000 === 0
      ? []
      : [
          limit(
            "target.lock",
            `the lock is ${formatDurationMs(lockDurationMs)}; the emulator takes whole seconds`,
            "round it",
          ),
        ]),
    ...(timeToLiveMs === null || isUnbounded(timeToLiveMs)
      ? []
      : beyond(
          path,
          "the time to live of a tier",
          timeToLiveMs,
          emulatorLimits.leastTimeToLiveMs,
          emulatorLimits.timeToLiveMs,
        )),
  ];
}

function beyond(path: string, what: string, durationMs: number, leastMs: number, mostMs: number): Diagnostic[] {
  if (durationMs >= leastMs && durationMs <= mostMs) return [];
  const range = `${leastMs === 0 ? "" : `${formatDurationMs(leastMs)} to `}${formatDurationMs(mostMs)}`;
  return [
    limit(
      path,
      `${what} is ${formatDurationMs(durationMs)}; the emulator takes ${range}`,
      "try it on Service Bus itself",
    ),
  ];
}

function limit(path: string, message: string, help: string): Diagnostic {
  return diagnostic("RD717", { path, message, help });
}
