import type { CompiledSystem } from "../../brokers/index.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { diagnostic } from "../../diagnostics/diagnostic.ts";
import type { Contract } from "./contract.ts";
import type { Settings } from "./read-entities.ts";
import { ruleKey } from "./read-entities.ts";

type Topology = CompiledSystem<"servicebus">["topology"];

/** Something that has to be in the namespace for a consumer's messages to come, wait and end there. */
export interface WantedEntity {
  readonly kind: "queue" | "topic" | "subscription";
  readonly name: string;
  /** Of a subscription. */
  readonly topic: string;
  readonly settings: Settings;
}

const messageSettings = [
  "lockDurationMs",
  "maxDeliveryCount",
  "timeToLiveMs",
  "deadLetterOnExpiration",
  "requiresSession",
  "forwardTo",
  "forwardDeadLetteredTo",
] as const;

/** What of the topology the consumer's messages pass. */
export function wantedEntities({ queues, topics, subscriptions }: Topology, contract: Contract): WantedEntity[] {
  const sources = new Set(contract.sources.map(({ entity }) => entity.name));
  return [
    ...queues
      .filter(({ consumer }) => consumer === contract.consumer || consumer === null)
      .map((queue): WantedEntity => {
        const settings = pick(queue, [...messageSettings, "duplicateDetectionMs"]);
        return { kind: "queue", name: queue.name, topic: "", settings };
      }),
    ...topics
      .filter(({ name }) => sources.has(name))
      .map((topic): WantedEntity => {
        const settings = pick(topic, ["timeToLiveMs", "duplicateDetectionMs"]);
        return { kind: "topic", name: topic.name, topic: "", settings };
      }),
    ...subscriptions
      .filter(({ consumer }) => consumer === contract.consumer)
      .map((subscription): WantedEntity => {
        const { name, topic, rules } = subscription;
        const settings = pick(subscription, [...messageSettings, "deadLetterOnFilterError"]);
        const filters = Object.fromEntries(rules.map((rule) => [ruleKey(rule.name), wordsOf(rule.filter)]));
        return { kind: "subscription", name, topic, settings: { ...settings, ...filters } };
      }),
  ];
}

function pick<Entity extends object>(entity: Entity, names: readonly (keyof Entity & string)[]): Settings {
  return Object.fromEntries(names.map((name) => [name, entity[name]]));
}

type RuleFilter = Topology["subscriptions"][number]["rules"][number]["filter"];

/** A filter as Service Bus gives it. Source: reference of `TrueFilter` and `FalseFilter`, which are SQL filters. */
function wordsOf(filter: RuleFilter): string {
  switch (filter.kind) {
    case "true":
      return "1=1";
    case "false":
      return "1=0";
    case "correlation":
      return `subject = ${JSON.stringify(filter.subject)}`;
    case "sql":
      return filter.expression;
    default:
      return filter satisfies never;
  }
}

/** @param found null where it is not there */
export function compareEntity({ kind, name, topic, settings }: WantedEntity, found: Settings | null): Diagnostic[] {
  const path = kind === "subscription" ? `${topic}/Subscriptions/${name}` : name;
  if (found === null) return [missing(kind, path)];
  const names = new Set([...Object.keys(settings), ...Object.keys(found)]);
  const notes = [...names].flatMap((each) => {
    const [wanted, there] = [settings[each], found[each]];
    return Object.is(wanted, there) ? [] : [`${each} is ${shown(there)}; compiled is ${shown(wanted)}`];
  });
  if (notes.length === 0) return [];
  return [
    diagnostic("RD808", {
      path,
      message: `the ${kind} ${path} differs from what was compiled`,
      notes,
      help: "deploy this declaration, or run the consumer from the one that is deployed",
    }),
  ];
}

function shown(value: unknown): string {
  return value === undefined ? "not there" : value === null ? "none" : String(value);
}

export function missing(kind: WantedEntity["kind"], path: string): Diagnostic {
  return diagnostic("RD805", {
    path,
    message: `there is no ${kind} ${path}`,
    help: "deploy the system into the namespace that its consumers connect to, with pulumi up, before they start",
  });
}
