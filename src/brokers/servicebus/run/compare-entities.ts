import type { ServicebusCompiled } from "../compile/compile.ts";
import { type Diagnostic, diagnosed, diagnostic } from "../../../diagnostics/diagnostic.ts";
import type { Contract } from "../compile/contract.ts";
import { type Field, entityFields, sqlOf } from "../compile/fields.ts";
import { type Named, type Settings, ruleKey } from "./read-entities.ts";

type Topology = ServicebusCompiled["topology"];

/** An entity that the namespace must have for a consumer's messages to come, wait and end there. */
export interface WantedEntity extends Named {
  readonly settings: Settings;
}

/** The entities that the consumer's messages pass. */
export function wantedEntities({ queues, topics, subscriptions }: Topology, contract: Contract): WantedEntity[] {
  const sources = new Set(contract.sources.map(({ entity }) => entity.name));
  return [
    ...queues
      .filter(({ consumer }) => consumer === contract.consumer || consumer === null)
      .map((queue): WantedEntity => wanted("queue", queue)),
    ...topics.filter(({ name }) => sources.has(name)).map((topic) => wanted("topic", topic)),
    ...subscriptions
      .filter(({ consumer }) => consumer === contract.consumer)
      .map((subscription): WantedEntity => {
        const { topic, rules } = subscription;
        const { settings, ...named } = wanted("subscription", subscription);
        const filters = rules.map(({ name, filter }) => [ruleKey(name), wordsOf(filter)] as const);
        return { ...named, topic, settings: { ...settings, ...Object.fromEntries(filters) } };
      }),
  ];
}

function wanted(kind: Named["kind"], entity: { readonly name: string }): WantedEntity {
  const names = new Set(entityFields[kind].map((field: Field) => field.own));
  const settings = Object.fromEntries(Object.entries(entity).filter(([name]) => names.has(name)));
  return { kind, name: entity.name, topic: "", settings };
}

/** A filter as Service Bus returns it. Source: reference of `TrueFilter` and `FalseFilter`, which are SQL filters. */
function wordsOf(filter: Topology["subscriptions"][number]["rules"][number]["filter"]): string {
  return filter.kind === "correlation" ? `subject = ${JSON.stringify(filter.subject)}` : sqlOf(filter);
}

/** @param found null if the entity does not exist */
export function compareEntity({ kind, name, topic, settings }: WantedEntity, found: Settings | null): Diagnostic[] {
  const path = kind === "subscription" ? `${topic}/Subscriptions/${name}` : name;
  if (found === null) return [missing(kind, path)];
  const names = new Set([...Object.keys(settings), ...Object.keys(found)]);
  const notes = [...names].flatMap((each) => {
    const [wanted, there] = [settings[each], found[each]];
    return Object.is(wanted, there) ? [] : [`${each} is ${shown(there)}; compiled is ${shown(wanted)}`];
  });
  if (notes.length === 0) return [];
  return diagnosed("RD808", {
    path,
    message: `the ${kind} ${path} differs from the compiled one`,
    notes,
    help: "deploy this declaration, or run the consumer from the deployed one",
  });
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
