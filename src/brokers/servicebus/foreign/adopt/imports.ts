import type { Imports } from "../../../../adopt/found.ts";
import { type Importable, importsBelow } from "../../../../adopt/imports-below.ts";
import type { ServicebusCompiled } from "../../compile/compile.ts";
import { defaultRuleName } from "../../compile/names.ts";
import type { Deployment } from "../deployment.ts";
import { resourcesOf } from "../drift.ts";

/** Properties that Azure never changes. Source: ARM reference of queues, topics and subscriptions. */
const fixed = ["requiresSession", "requiresDuplicateDetection", "enablePartitioning"] as const;

const types = { queue: "Queue", topic: "Topic", subscription: "Subscription", rule: "Rule" } as const;

/**
 * The entries that put each resource of a compiled system that is in the namespace below its component. An export does
 * not tell the Azure subscription and the resource group, so the ids have SUBSCRIPTION and GROUP in their places. A
 * state has the ids.
 *
 * @param component the name of the component in the program
 */
export function importsOf({ namespaces }: Deployment, { topology }: ServicebusCompiled, component: string): Imports {
  const [namespace] = namespaces;
  const there = new Map(namespace?.resources.map((each) => [`${each.kind} ${each.names.join("/")}`, each]));
  const place = `/subscriptions/SUBSCRIPTION/resourceGroups/GROUP/providers/Microsoft.ServiceBus/namespaces/${namespace?.name}`;
  const own = resourcesOf({ ...topology, topics: topology.topics.filter(({ owner }) => owner !== "other") }, "");
  const all = own.flatMap(({ kind, names, properties }): Importable[] => {
    if (kind === "namespace") return [];
    const found = there.get(`${kind} ${names.join("/")}`);
    const path = kind === "queue" ? ["queues"] : ["topics", "subscriptions", "rules"];
    const { id } = found?.properties ?? {};
    const differing = fixed.find((key) => (found?.properties[key] ?? false) !== (properties[key] ?? false));
    return [
      {
        type: typeOf(kind, names),
        logicalName: names.join("/"),
        id:
          found === undefined
            ? null
            : typeof id === "string"
              ? id
              : `${place}/${names.map((name, at) => `${path[at]}/${name}`).join("/")}`,
        reason:
          found === undefined || kind === "rule" || differing === undefined
            ? null
            : `${differing} is ${String(found.properties[differing] ?? false)}, declared is ${String(properties[differing] ?? false)}`,
        place: `${kind} ${names.join("/")}`,
      },
    ];
  });
  const imports = importsBelow("redeliver:servicebus:RetryTopology", component, all);
  const known = new Set(own.map(({ kind, names }) => `${kind} ${names.join("/")}`));
  // Its code needs that of its subscription, so it leaves the old program, too. It stays in the namespace.
  const others = [...there].flatMap(([key, { kind, names, properties }]) => {
    const isBelow = kind === "rule" && known.has(`subscription ${names.slice(0, -1).join("/")}`);
    const { id } = properties;
    return isBelow && !known.has(key) && typeof id === "string" ? [{ type: typeOf(kind, names), id }] : [];
  });
  return { ...imports, present: [...imports.present, ...others] };
}

function typeOf(kind: keyof typeof types, names: readonly string[]): string {
  return `azure-native:servicebus:${names.at(-1) === defaultRuleName ? "DefaultRule" : types[kind]}`;
}
