import type { Linked, Unknown } from "../../certain.ts";
import { certainOf } from "../../certain.ts";
import type { Entry } from "../../entries.ts";
import { isEntry } from "../../entries.ts";
import { parseJson } from "../../parse-json.ts";
import type { PulumiResource } from "../../pulumi-resource.ts";
import { hasUnknown } from "../../pulumi-resource.ts";
import { patternTestOf } from "../semantics/policy-pattern.ts";

/** Of a resource, before it is known which names the patterns of policies match. */
interface Drawn {
  readonly places: readonly string[];
  readonly unknown: Unknown;
  /** The pattern of a policy, which decides about whatever it matches. */
  readonly pattern?: string;
  /** Its dead letters go to the queue that their own routing key names, which nothing tells: to any. */
  readonly leadsAnywhere?: boolean;
}

/** Settings that name an exchange or a queue, as arguments and as keys of a policy. */
const leading = /^(x-)?(dead-letter-exchange|dead-letter-routing-key)$|^alternate-exchange$/;

/**
 * The resources of RabbitMQ about which everything that is found is certain in a preview. Names are inputs of the provider, so most of the
 * time all of them are known; what is not known is then a setting, or something that no finding depends on.
 */
export function certainResources(resources: readonly PulumiResource[]): readonly PulumiResource[] {
  if (!resources.some(({ properties }) => hasUnknown(properties))) return resources;
  const drawn = resources.map((resource) => ({ resource, scope: scopeOf(resource), ...drawnOf(resource) }));
  const byScope = Map.groupBy(drawn, ({ scope }) => scope);
  return certainOf(
    drawn.map(({ resource, scope, places, unknown, pattern }): Linked => {
      const around = byScope.get(scope) ?? [];
      const matched =
        pattern === undefined ? [] : namesMatched(pattern, new Set(around.flatMap((each) => each.places)));
      const anywhere = around.some(({ leadsAnywhere }) => leadsAnywhere === true) ? ["anywhere"] : [];
      return { resource, scope, unknown, places: [...places, ...matched, ...anywhere] };
    }),
  );
}

/** The virtual host at its broker; null where it is not known. */
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
  switch (kindOf(type)) {
    case "VHost":
      return hasUnknown(properties["defaultQueueType"]) ? lost : { places: [], unknown: "nothing" };
    case "Exchange":
      return named("exchange", properties, properties["settings"]);
    case "Queue":
      return named("queue", properties, properties["settings"]);
    case "Binding":
      return bindingOf(properties);
    default:
      return policyOf(properties);
  }
}

const lost: Drawn = Object.freeze({ places: [], unknown: "where it leads" });

function named(kind: string, { name }: Entry, settings: unknown): Drawn {
  const given = argumentsIn(settings);
  if (hasUnknown(name) || given === null) return lost;
  return withLeading(given, [`${kind} ${String(name)}`], hasUnknown(settings) ? "a value" : "nothing");
}

function bindingOf({
  source,
  destination,
  destinationType,
  routingKey,
  arguments: given,
  argumentsJson,
}: Entry): Drawn {
  if (hasUnknown([source, destination, destinationType])) return lost;
  const places = [`exchange ${String(source)}`, `${String(destinationType)} ${String(destination)}`];
  return { places, unknown: hasUnknown([routingKey, given, argumentsJson]) ? "a value" : "nothing" };
}

function policyOf({ name, policy }: Entry): Drawn {
  if (!isEntry(policy)) return hasUnknown(policy) ? lost : { places: [], unknown: "nothing" };
  const { pattern, definition = {} } = policy;
  if (hasUnknown(pattern) || !isEntry(definition)) return lost;
  const drawn = withLeading(
    definition,
    [`policy ${hasUnknown(name) ? "" : String(name)}`],
    hasUnknown([name, policy]) ? "a value" : "nothing",
  );
  return typeof pattern === "string" ? { ...drawn, pattern } : drawn;
}

/** Null where it is not known what the arguments are. */
function argumentsIn(settings: unknown): Entry | null {
  if (!isEntry(settings)) return hasUnknown(settings) ? null : {};
  const { argumentsJson, arguments: given = {} } = settings;
  if (hasUnknown(argumentsJson)) return null;
  if (typeof argumentsJson === "string" && argumentsJson !== "") {
    const parsed = parseJson(argumentsJson, "the arguments");
    return parsed.ok && isEntry(parsed.value) ? parsed.value : {};
  }
  if (hasUnknown(given) && !isEntry(given)) return null;
  return isEntry(given) ? given : {};
}

function withLeading(given: Entry, own: readonly string[], unknown: Unknown): Drawn {
  const names = Object.entries(given).filter(([key]) => leading.test(key));
  if (names.some(([, value]) => hasUnknown(value))) return lost;
  const places = names.map(([key, value]) => `${key.endsWith("key") ? "queue" : "exchange"} ${String(value)}`);
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
