import type { ServiceBusAdministrationClient } from "@azure/service-bus";

import { type Named, type Settings, readFilter, ruleKey, settingsOf, wordsOf } from "../compile/differences.ts";

/** The time limit for one answer of the management API. */
const patienceMs = 10_000;

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
  const rules: (readonly [string, string])[] = [];
  if (kind === "subscription") {
    const abortSignal = AbortSignal.timeout(patienceMs);
    for await (const rule of administration.listRules(topic, name, { abortSignal }))
      rules.push([ruleKey(rule.name), wordsOf(readFilter(rule.filter))]);
  }
  return { ...settingsOf(kind, found as Settings), ...Object.fromEntries(rules) };
}

async function ask<Entity>(get: (signal: AbortSignal) => Promise<Entity>): Promise<Entity | null> {
  try {
    return await get(AbortSignal.timeout(patienceMs));
  } catch (error) {
    if ((error as { code?: unknown }).code === "MessageEntityNotFoundError") return null;
    throw error;
  }
}
