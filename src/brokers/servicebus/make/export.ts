import { formatDurationMs } from "../../../declare/duration.ts";
import { type Diagnostic, diagnosed, diagnostic } from "../../../diagnostics/diagnostic.ts";
import type { ServicebusCompiled } from "../compile/compile.ts";
import { type Field, entityFields, messageFields, propertiesOf, sqlOf } from "../compile/fields.ts";
import { isoDuration } from "../compile/iso-duration.ts";
import { defaultRuleName } from "../compile/names.ts";
import type {
  MessageEntity,
  ServicebusSubscription,
  ServicebusTopic,
  ServicebusTopology,
  SubscriptionRule,
} from "../compile/topology.ts";

/**
 * The limits of Microsoft's own emulator, if they are below those of Service Bus. The emulator ends with "Out of
 * memory" on a file beyond them (azure-service-bus-emulator-installer issue 131), so Redeliver checks the file first.
 * Source: that repository, `Config-schema.json` and, for SQL filters, issue 144; Service Bus documentation, "Overview
 * of the Azure Service Bus emulator".
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
export type EmulatorConfig = ReturnType<typeof exportEmulatorConfig>;

/**
 * Writes a topology as the `Config.json` of the official emulator. The emulator has no alerts. It keeps messages for an
 * hour at most, so that is the time to live of an entity without one.
 */
export function exportEmulatorConfig({ queues, topics, subscriptions }: ServicebusTopology) {
  return {
    UserConfig: {
      Namespaces: [
        {
          // The emulator accepts only this name.
          Name: "sbemulatorns",
          Queues: queues.map((queue) => ({ Name: queue.name, Properties: emulated(entityFields.queue, queue) })),
          Topics: topics.map((topic) => ({
            Name: topic.name,
            Properties: emulated(entityFields.topic, topic),
            Subscriptions: subscriptions.filter((each) => each.topic === topic.name).map(subscriptionConfig),
          })),
        },
      ],
      Logging: { Type: "Console" },
    },
  };
}

/**
 * The file may not contain the name `$Default`. A subscription without rules in the file gets one that lets in
 * everything. A subscription with rules has these alone. Source: azure-service-bus-emulator-installer,
 * `Config-schema.json` and issue 127.
 */
function subscriptionConfig(subscription: ServicebusSubscription): object {
  const rules = subscription.rules.filter(({ name }) => name !== defaultRuleName);
  return { Name: subscription.name, Properties: emulated(messageFields, subscription), Rules: rules.map(ruleConfig) };
}

function ruleConfig({ name, filter }: SubscriptionRule): object {
  const properties =
    filter.kind === "correlation"
      ? { FilterType: "Correlation", CorrelationFilter: { Label: filter.subject } }
      : { FilterType: "Sql", SqlFilter: { SqlExpression: sqlOf(filter) } };
  return { Name: name, Properties: properties };
}

/** The properties of an entity as the emulator's file names them, within the limits of the emulator. */
function emulated(fields: readonly Field[], entity: ServicebusTopic | MessageEntity): object {
  const limits = emulatorLimits;
  const { timeToLiveMs } = entity;
  const kept = {
    timeToLiveMs: timeToLiveMs === null || isUnbounded(timeToLiveMs) ? limits.timeToLiveMs : timeToLiveMs,
  };
  const properties = propertiesOf(fields, { ...entity, ...kept }, (name) => name ?? "");
  const isUnused = properties["requiresDuplicateDetection"] === false;
  const window = { duplicateDetectionHistoryTimeWindow: isoDuration(limits.duplicateDetectionMs) };
  return Object.fromEntries(
    Object.entries({ ...properties, ...(isUnused ? window : {}) }).map(([name, value]) => [
      `${name.charAt(0).toUpperCase()}${name.slice(1)}`,
      value,
    ]),
  );
}

/** The basic tier has 14 days instead of no limit. */
function isUnbounded(timeToLiveMs: number): boolean {
  return timeToLiveMs >= 1_209_600_000;
}

/** Finds the parts of a system that the emulator refuses, and those that behave differently there. */
export function diagnoseEmulatorConfig({ topology }: Pick<ServicebusCompiled, "topology">): readonly Diagnostic[] {
  const { queues, topics, subscriptions } = topology;
  const { entities, timeToLiveMs, duplicateDetectionMs } = emulatorLimits;
  const found = [
    ...tooMany(queues.length + topics.length, entities, "queues and topics"),
    ...topics.flatMap((topic) => topicProblems(topic, subscriptions)),
    ...[...queues, ...subscriptions].flatMap((entity) => entityProblems(entity, entity.consumer ?? entity.name)),
    ...queues.flatMap(({ duplicateDetectionMs: windowMs }) =>
      beyond("target.duplicates", "the window of duplicate detection", windowMs ?? 0, 0, duplicateDetectionMs),
    ),
  ];
  const unique = new Map(found.map((each) => [`${each.path} ${each.message}`, each]));
  return [
    ...unique.values(),
    diagnostic("RD718", {
      path: "",
      message: `the emulator keeps a message for ${formatDurationMs(timeToLiveMs)}; in Service Bus it stays until it is removed`,
      notes: ["older messages are dead-lettered there, as the topology says"],
      help: "nothing, if tests are shorter than that",
    }),
  ];
}

function topicProblems({ name, source }: ServicebusTopic, all: readonly ServicebusSubscription[]): Diagnostic[] {
  const subscriptions = all.filter(({ topic }) => topic === name);
  const { leastSubscriptions: least, subscriptions: most, sqlFilters, correlationFilters } = emulatorLimits;
  const rules = subscriptions.flatMap((each) => each.rules).filter((rule) => rule.name !== defaultRuleName);
  const correlations = rules.filter(({ filter }) => filter.kind === "correlation");
  const alone = `there are 0 subscriptions of ${name}; the emulator takes ${least} at least`;
  return [
    ...limit(
      subscriptions.length < least,
      `sources.${source}`,
      alone,
      "remove the source, or let a consumer take from it",
    ),
    ...tooMany(subscriptions.length, most, `subscriptions of ${name}`),
    ...tooMany(rules.length - correlations.length, sqlFilters, `SQL filters of ${name}`),
    ...tooMany(correlations.length, correlationFilters, `correlation filters of ${name}`),
  ];
}

function tooMany(count: number, most: number, what: string): Diagnostic[] {
  return limit(count > most, "", `there are ${count} ${what}; the emulator takes ${most}`, "export fewer consumers");
}

function entityProblems(entity: MessageEntity, consumer: string): Diagnostic[] {
  const { maxDeliveryCount: count, lockDurationMs, timeToLiveMs } = entity;
  const { maxDeliveryCount: most, leastTimeToLiveMs, timeToLiveMs: mostTimeToLiveMs } = emulatorLimits;
  const path = `consumers.${consumer}`;
  const tooOften = `the max delivery count is ${count}; the emulator takes ${most}`;
  const uneven = `the lock is ${formatDurationMs(lockDurationMs)}; the emulator takes whole seconds`;
  return [
    ...limit(count > most, path, tooOften, "use fewer attempts, or crash deliveries"),
    ...limit(lockDurationMs % 1_000 !== 0, "target.lock", uneven, "round it"),
    ...(timeToLiveMs === null || isUnbounded(timeToLiveMs)
      ? []
      : beyond(path, "the time to live of a tier", timeToLiveMs, leastTimeToLiveMs, mostTimeToLiveMs)),
  ];
}

function beyond(path: string, what: string, durationMs: number, leastMs: number, mostMs: number): Diagnostic[] {
  const range = `${leastMs === 0 ? "" : `${formatDurationMs(leastMs)} to `}${formatDurationMs(mostMs)}`;
  const message = `${what} is ${formatDurationMs(durationMs)}; the emulator takes ${range}`;
  return limit(durationMs < leastMs || durationMs > mostMs, path, message, "try it on Service Bus itself");
}

function limit(isBeyond: boolean, path: string, message: string, help: string): Diagnostic[] {
  return isBeyond ? diagnosed("RD717", { path, message, help }) : [];
}
