import { type Entry, isEntry } from "../../../../foreign/entries.ts";
import { isUnreadable } from "../../../../foreign/pulumi-resource.ts";
import { type Sku, skuNames } from "../../compile/capabilities.ts";
import { type Field, auditedFields, destinationIn, jsonTypes } from "../../compile/fields.ts";
import type { AuditedEntity, AuditedNamespace, AuditedRule, NamedResource } from "../deployment.ts";
import { readIsoDuration } from "../../compile/iso-duration.ts";
import { subscriptionPath } from "../../compile/topology.ts";

/** The properties that Redeliver reads besides the names, with their types. */
export const propertyTypes: Readonly<Record<string, string>> = {
  ...Object.fromEntries(auditedFields.map(({ arm, kind }) => [arm, jsonTypes[kind]])),
  filterType: "string",
  sqlFilter: "object",
  sku: "object",
};

/** True if these properties have the form of @pulumi/azure-native 3. A secret and an unknown value also pass. */
export function isWellFormed(properties: Entry): boolean {
  return Object.entries(propertyTypes).every(([key, type]) => {
    const value = properties[key] ?? null;
    return value === null || isUnreadable(value) || (typeof value === type && !Array.isArray(value));
  });
}

/** Assembles resources by namespace. If an entity occurs twice, the last counts. */
export function namespacesOf(resources: readonly NamedResource[], isWhole: boolean): readonly AuditedNamespace[] {
  return [...Map.groupBy(resources, ({ namespace }) => namespace.toLowerCase()).values()].flatMap((all) => {
    const { namespace: name } = all.find(({ kind }) => kind === "namespace") ?? all[0] ?? { namespace: "" };
    const own = all.map(inOneSpelling(all)).map((each) => ({ ...each, namespace: name }));
    if (own.every(({ kind }) => kind === "namespace")) return [];
    const rules = Map.groupBy(
      own.filter(({ kind }) => kind === "rule"),
      ({ names }) => JSON.stringify(names.slice(0, 2)),
    );
    const entities = own.flatMap((each): AuditedEntity[] => {
      if (each.kind !== "queue" && each.kind !== "subscription") return [];
      const ownRules = rules.get(JSON.stringify(each.names)) ?? [];
      return [entityOf(each, each.kind, ownRules.map(ruleOf))];
    });
    return {
      name,
      tier: tierOf(own.findLast(({ kind }) => kind === "namespace")),
      entities: [...new Map(entities.map((entity) => [entity.name, entity])).values()],
      topics: [...new Set(own.flatMap(({ kind, names }) => (kind === "topic" ? (names[0] ?? []) : [])))],
      isWhole,
      resources: own,
    };
  });
}

/** Service Bus ignores the case of names. So each name is spelled as its own entity spells it. */
function inOneSpelling(all: readonly NamedResource[]): (resource: NamedResource) => NamedResource {
  const keyOf = (names: readonly string[]): string => names.join("/").toLowerCase();
  const spelling = new Map(
    all.flatMap(({ kind, names }) =>
      kind === "namespace" || kind === "rule" ? [] : [[keyOf(names), names.at(-1) ?? ""] as const],
    ),
  );
  const destinations = auditedFields.filter(({ kind }) => kind === "entity").map(({ arm }) => arm);
  return ({ names, properties, ...rest }) => ({
    ...rest,
    names: names.map((name, at) => spelling.get(keyOf(names.slice(0, at + 1))) ?? name),
    properties: {
      ...properties,
      ...Object.fromEntries(
        destinations.flatMap((key) => {
          const value = properties[key];
          const name = typeof value === "string" ? spelling.get(destinationIn(value).toLowerCase()) : undefined;
          return name === undefined ? [] : [[key, name]];
        }),
      ),
    },
  });
}

function tierOf(namespace: NamedResource | undefined): Sku | null {
  const sku = namespace?.properties["sku"];
  const name = isEntry(sku) && typeof sku["name"] === "string" ? sku["name"].toLowerCase() : "";
  return skuNames.find((each) => each === name) ?? null;
}

function entityOf(
  { names, properties }: NamedResource,
  kind: AuditedEntity["kind"],
  rules: readonly AuditedRule[],
): AuditedEntity {
  const [first = "", second = ""] = names;
  const settings = auditedFields.map((field) => {
    const { arm, own, audited = own ?? arm, unsaid } = field;
    return [audited, readAs(field.kind, properties[arm] ?? unsaid)];
  });
  return {
    kind,
    name: kind === "queue" ? first : subscriptionPath({ topic: first, name: second }),
    topic: kind === "queue" ? null : first,
    ...(Object.fromEntries(settings) as Omit<AuditedEntity, "kind" | "name" | "topic" | "rules">),
    rules,
  };
}

/** Null if a value cannot be read. */
function readAs(kind: Field["kind"], value: unknown): unknown {
  if (typeof value !== jsonTypes[kind] || isUnreadable(value)) return null;
  if (kind === "duration") return readIsoDuration(value as string) ?? null;
  if (kind !== "entity") return value;
  const name = value as string;
  return name.startsWith("[") ? null : destinationIn(name);
}

function ruleOf({ names, properties }: NamedResource): AuditedRule {
  const { filterType, sqlFilter } = properties;
  const expression = isEntry(sqlFilter) ? sqlFilter["sqlExpression"] : undefined;
  const isCorrelation = filterType === "CorrelationFilter";
  const isTrue = expression === undefined || (typeof expression === "string" && /^1\s*=\s*1$/.test(expression.trim()));
  return { name: names[2] ?? "", letsInAll: !isCorrelation && isTrue };
}
