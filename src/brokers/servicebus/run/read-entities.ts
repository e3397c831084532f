import type { RuleProperties, ServiceBusAdministrationClient } from "@azure/service-bus";

import { type Field, destinationIn, entityFields } from "../compile/fields.ts";
import { readIsoDuration } from "../compile/iso-duration.ts";

/** The comparable settings of an entity, under the topology's names. */
export type Settings = Readonly<Record<string, unknown>>;

/** The time limit for one answer of the management API. */
const patienceMs = 10_000;

/** An entity of a namespace, with the topic of a subscription. */
export interface Named {
  readonly kind: keyof typeof entityFields;
  readonly name: string;
  readonly topic: string;
}

/** @returns null if there is no such entity */
export async function readEntity(
  administration: ServiceBusAdministrationClient,
  { kind, name, topic }: Named,
): Promise<Settings | null> {
  const found = await ask<object>((abortSignal) => {
    switch (kind) {
      case "queue":
        return administration.getQueue(name, { abortSignal });
      case "topic":
        return administration.getTopic(name, { abortSignal });
      case "subscription":
        return administration.getSubscription(topic, name, { abortSignal });
      default:
        return kind satisfies never;
    }
  });
  if (found === null) return null;
  const settings = settingsOf(entityFields[kind], found as Settings);
  if (kind !== "subscription") return settings;
  const rules: RuleProperties[] = [];
  for await (const rule of administration.listRules(topic, name, { abortSignal: AbortSignal.timeout(patienceMs) }))
    rules.push(rule);
  return { ...settings, ...Object.fromEntries(rules.map((rule) => [ruleKey(rule.name), wordsOf(rule.filter)])) };
}

/** The name under which a rule is compared. */
export function ruleKey(name: string): string {
  return `rule ${name}`;
}

async function ask<Entity>(get: (signal: AbortSignal) => Promise<Entity>): Promise<Entity | null> {
  try {
    return await get(AbortSignal.timeout(patienceMs));
  } catch (error) {
    if ((error as { code?: unknown }).code === "MessageEntityNotFoundError") return null;
    throw error;
  }
}

function settingsOf(fields: readonly Field[], found: Settings): Settings {
  const settings = Object.fromEntries(
    fields.flatMap(({ arm, kind, own }) => (own === undefined ? [] : [[own, readAs(kind, found[arm])]])),
  );
  // Service Bus answers with a window even when it detects no duplicates.
  const isUnused = "duplicateDetectionMs" in settings && found["requiresDuplicateDetection"] !== true;
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

/** A filter as text, equal for all filters that let in the same messages. */
function wordsOf(filter: RuleProperties["filter"]): string {
  if ("sqlExpression" in filter && filter.sqlExpression !== undefined) return filter.sqlExpression;
  const { applicationProperties = {}, ...fields } = filter as Readonly<Record<string, unknown>>;
  const asked = Object.entries({ ...fields, ...(applicationProperties as object) });
  return asked
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name} = ${JSON.stringify(value)}`)
    .join(" and ");
}
