import type { DifferentSetting } from "../../drift.ts";
import { type Field, destinationIn, entityFields, sqlOf } from "./fields.ts";
import { readIsoDuration } from "./iso-duration.ts";
import { type RuleFilter, type ServicebusTopology, subscriptionPath } from "./topology.ts";

/** The comparable settings of an entity, under the topology's names. */
export type Settings = Readonly<Record<string, unknown>>;

/** An entity of a namespace, with the topic of a subscription. */
export interface Named {
  readonly kind: keyof typeof entityFields;
  readonly name: string;
  readonly topic: string;
}

/** An entity that the namespace must have, as a comparison sees it. */
export interface DeclaredEntity extends Named {
  readonly consumer: string | null;
  /** Somebody else made it. So only its existence is compared. */
  readonly owner?: "other";
  readonly settings: Settings;
}

export function declaredEntities({ queues, topics, subscriptions }: ServicebusTopology): readonly DeclaredEntity[] {
  const declared = (kind: Named["kind"], entity: { readonly name: string }, more: Partial<DeclaredEntity> = {}) => {
    const names = new Set(entityFields[kind].map((field: Field) => field.own));
    const settings = Object.fromEntries(Object.entries(entity).filter(([name]) => names.has(name)));
    return { kind, name: entity.name, topic: "", consumer: null, settings, ...more };
  };
  return [
    ...queues.map((queue) => declared("queue", queue, { consumer: queue.consumer })),
    ...topics.map((topic) => declared("topic", topic, topic.owner === "other" ? { owner: "other" } : {})),
    ...subscriptions.map((subscription) => {
      const { settings, ...entity } = declared("subscription", subscription);
      const { topic, consumer, rules } = subscription;
      const filters = rules.map(({ name, filter }) => [ruleKey(name), wordsOf(filter)] as const);
      return { ...entity, topic, consumer, settings: { ...settings, ...Object.fromEntries(filters) } };
    }),
  ];
}

/** A queue's or topic's name, or a subscription's path. */
export function pathOf({ kind, topic, name }: Named): string {
  return kind === "subscription" ? subscriptionPath({ topic, name }) : name;
}

/** The name under which a rule is compared. */
export function ruleKey(name: string): string {
  return `rule ${name}`;
}

/** A filter as text, equal for all filters that let in the same messages. Every `TrueFilter` is a SQL filter. */
export function wordsOf(filter: RuleFilter): string {
  return filter.kind === "correlation" ? `subject = ${JSON.stringify(filter.subject)}` : sqlOf(filter);
}

/** The settings of an entity by its properties, under the names that ARM and @azure/service-bus share. */
export function settingsOf(kind: Named["kind"], properties: Settings): Settings {
  const fields: readonly Field[] = entityFields[kind];
  const settings = Object.fromEntries(
    fields.flatMap((field) => {
      const { arm, own, unsaid } = field;
      return own === undefined ? [] : [[own, readAs(field.kind, properties[arm] ?? unsaid)]];
    }),
  );
  // Service Bus answers with a window even when it detects no duplicates.
  const isUnused = "duplicateDetectionMs" in settings && properties["requiresDuplicateDetection"] !== true;
  return isUnused ? { ...settings, duplicateDetectionMs: null } : settings;
}

function readAs(kind: Field["kind"], value: unknown): unknown {
  const text = typeof value === "string" ? value : "";
  if (kind === "duration") {
    const duration = readIsoDuration(text);
    return duration === undefined ? Number.NaN : duration.durationMs;
  }
  // Service Bus gives the whole address.
  return kind === "entity" ? destinationIn(text) || null : value;
}

/** A filter of @azure/service-bus. A correlation with more than a subject is an expression that no reader knows. */
export function readFilter(filter: object): RuleFilter {
  const { sqlExpression, applicationProperties = {}, ...fields } = filter as Readonly<Record<string, unknown>>;
  if (typeof sqlExpression === "string") {
    const [, left, right] = /^(\d)\s*=\s*(\d)$/.exec(sqlExpression.trim()) ?? [];
    if (left === undefined) return { kind: "sql", expression: sqlExpression };
    return { kind: left === right ? "true" : "false" };
  }
  const asked = Object.entries({ ...fields, ...(applicationProperties as object) }).filter(
    ([name, value]) => value !== undefined && !["sqlParameters", "requiresPreprocessing"].includes(name),
  );
  const [[name, subject] = []] = asked;
  if (asked.length === 1 && name === "subject") return { kind: "correlation", subject: String(subject) };
  return { kind: "sql", expression: asked.map(([each, value]) => `${each} = ${JSON.stringify(value)}`).join(" and ") };
}

export function compareSettings(declared: Settings, deployed: Settings): readonly DifferentSetting[] {
  const names = new Set([...Object.keys(declared), ...Object.keys(deployed)]);
  return [...names].flatMap((key): DifferentSetting[] =>
    Object.is(declared[key], deployed[key]) ? [] : [{ key, declared: declared[key], deployed: deployed[key] }],
  );
}
