import { type Linked, type Unknown, certainOf } from "../../../../foreign/certain.ts";
import { type Entry, isEntry } from "../../../../foreign/entries.ts";
import { type PulumiResource, hasUnknown } from "../../../../foreign/pulumi-resource.ts";
import { patternTestOf } from "../../compile/policy-pattern.ts";
import { writtenArguments } from "./arguments.ts";
import { builtIn } from "./kinds.ts";
import { wordOf } from "../../../../diagnostics/word-of.ts";

/** The connections of a resource, before patterns of policies are matched with names. */
interface Drawn {
  readonly places: readonly string[];
  readonly unknown: Unknown;
  /** The pattern of a policy, which decides about every name that it matches. */
  readonly pattern?: string;
  /** True if its dead letters may go to any queue: their own routing keys choose the queue, and those are unknown. */
  readonly leadsAnywhere?: boolean;
}

/** Settings that name an exchange or a queue, as arguments and as keys of a policy. */
const leading = /^(x-)?(dead-letter-exchange|dead-letter-routing-key)$|^alternate-exchange$/;

/**
 * The resources of RabbitMQ with only certain findings in a preview. Names are inputs of the provider, so a preview
 * mostly knows all of them. The unknown values are then settings, or values that no finding depends on.
 */
export function certainResources(resources: readonly PulumiResource[]): readonly PulumiResource[] {
  if (!resources.some(({ properties }) => hasUnknown(properties))) return resources;
  const drawn = resources.map((resource) => ({ resource, scope: scopeOf(resource), ...drawnOf(resource) }));
  // A pattern such as ^a matches exchanges that no resource names.
  const everywhere = Object.keys(builtIn).map((name) => `exchange ${name}`);
  const byScope = Map.groupBy(drawn, ({ scope }) => scope);
  return certainOf(
    drawn.map(({ resource, scope, places, unknown, pattern }): Linked => {
      const around = byScope.get(scope) ?? [];
      const matched =
        pattern === undefined
          ? []
          : namesMatched(pattern, new Set([...everywhere, ...around.flatMap((each) => each.places)]));
      const anywhere = around.some(({ leadsAnywhere }) => leadsAnywhere === true) ? ["anywhere"] : [];
      return { resource, scope, unknown, places: [...places, ...matched, ...anywhere] };
    }),
  );
}

/** The virtual host and its broker. Null if unknown. */
function scopeOf({ type, provider, properties }: PulumiResource): string | null {
  const { name, vhost = "/" } = properties;
  const virtualHost = kindOf(type) === "VHost" ? name : vhost;
  return hasUnknown(virtualHost) ? null : JSON.stringify([provider, virtualHost]);
}

function kindOf(type: string): string {
  return type.split(":").at(-1) ?? type;
}

function drawnOf(resource: PulumiResource): Drawn {
  if (scopeOf(resource) === null) return lost;
  const { type, properties } = resource;
  const kind = kindOf(type);
  if (kind === "VHost") return hasUnknown(properties["defaultQueueType"]) ? lost : { places: [], unknown: "nothing" };
  if (kind === "Exchange" || kind === "Queue") return named(kind.toLowerCase(), properties);
  return kind === "Binding" ? bindingOf(properties) : policyOf(properties);
}

const lost: Drawn = Object.freeze({ places: [], unknown: "where it leads" });

function named(kind: string, { name, settings }: Entry): Drawn {
  const given = argumentsIn(settings);
  if (hasUnknown(name) || given === null) return lost;
  return withLeading(given, [`${kind} ${wordOf(name)}`], hasUnknown(settings) ? "a value" : "nothing");
}

function bindingOf(properties: Entry): Drawn {
  const { source, destination, destinationType, ...others } = properties;
  if (hasUnknown([source, destination, destinationType])) return lost;
  const places = [`exchange ${wordOf(source)}`, `${wordOf(destinationType)} ${wordOf(destination)}`];
  const { routingKey, arguments: given, argumentsJson } = others;
  return { places, unknown: hasUnknown([routingKey, given, argumentsJson]) ? "a value" : "nothing" };
}

function policyOf({ name, policy }: Entry): Drawn {
  if (!isEntry(policy)) return hasUnknown(policy) ? lost : { places: [], unknown: "nothing" };
  const { pattern, definition = {} } = policy;
  if (hasUnknown(pattern) || !isEntry(definition)) return lost;
  const drawn = withLeading(
    definition,
    [`policy ${hasUnknown(name) ? "" : wordOf(name)}`],
    hasUnknown([name, policy]) ? "a value" : "nothing",
  );
  return typeof pattern === "string" ? { ...drawn, pattern } : drawn;
}

/** Null if the arguments are unknown. */
function argumentsIn(settings: unknown): Entry | null {
  if (!isEntry(settings)) return hasUnknown(settings) ? null : {};
  const given = writtenArguments(settings);
  if (isEntry(given)) return given;
  return hasUnknown([given, settings["argumentsJson"]]) ? null : {};
}

function withLeading(given: Entry, own: readonly string[], unknown: Unknown): Drawn {
  const names = Object.entries(given).filter(([key]) => leading.test(key));
  if (names.some(([, value]) => hasUnknown(value))) return lost;
  const places = names.map(([key, value]) => `${key.endsWith("key") ? "queue" : "exchange"} ${wordOf(value)}`);
  const leadsAnywhere = names.some(([key, value]) => key.endsWith("exchange") && value === "") && names.length === 1;
  return { places: [...own, ...places], unknown, ...(leadsAnywhere ? { leadsAnywhere } : {}) };
}

function namesMatched(pattern: string, places: ReadonlySet<string>): readonly string[] {
  const test = patternTestOf(pattern);
  return [...places].filter((place) => {
    const [, kind = "", name = ""] = /^(\w+) (.*)$/s.exec(place) ?? [];
    return (kind === "queue" || kind === "exchange") && test?.(name) === true;
  });
}
