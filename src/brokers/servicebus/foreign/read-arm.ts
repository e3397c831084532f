import { type Checked, accepted, diagnostic, refuseWhole } from "../../../diagnostics/diagnostic.ts";
import { type Entry, isEntry } from "../../../foreign/entries.ts";
import { nameSome } from "../../../foreign/finding.ts";
import { parseJson } from "../../../foreign/parse-json.ts";
import { armValues } from "./arm-values.ts";

import type { Deployment, NamedResource } from "./deployment.ts";
import { namespacesOf } from "./import/entity-properties.ts";
import { wordOf } from "../../../diagnostics/word-of.ts";

const namespaceType = "microsoft.servicebus/namespaces";
const howToExport = "write one with az group export --name GROUP > template.json";
const prefix = `${namespaceType}/`;
const kinds: Readonly<Record<string, NamedResource["kind"]>> = {
  queues: "queue",
  topics: "topic",
  "topics/subscriptions": "subscription",
  "topics/subscriptions/rules": "rule",
};

/**
 * Reads an ARM template from `az group export`, from Export template of the portal, or from `az bicep build`.
 *
 * It knows the functions that make names in those templates: `concat`, `format`, `parameters` and `variables`. Source
 * of the format: Azure Resource Manager documentation, "Template structure and syntax".
 */
export function readArm(text: string): Checked<Deployment> {
  const parsed = parseJson(text, "the template");
  if (!parsed.ok) return parsed;
  const template = parsed.value;
  if (!isEntry(template) || !Array.isArray(template["resources"])) {
    return refuseWhole("RD401", "this is JSON, but not a template of Azure Resource Manager", howToExport);
  }
  const leftOut: string[] = [];
  const valueOf = armValues(template);
  const found = resourcesIn(template["resources"], "", "").flatMap(({ type, name, properties }): NamedResource[] => {
    const lower = type.toLowerCase();
    const isNamespace = lower === namespaceType;
    const kind = lower.startsWith(prefix) ? kinds[lower.slice(prefix.length)] : undefined;
    if (kind === undefined && !isNamespace) return [];
    const resolved = valueOf(name);
    const [namespace = "", ...names] = resolved?.split("/") ?? [];
    if (resolved === null || (names.length === 0 && !isNamespace)) {
      leftOut.push(name);
      return [];
    }
    return [{ kind: kind ?? "namespace", namespace, names, properties: resolvedProperties(properties, valueOf) }];
  });
  if (found.every(({ kind }) => kind === "namespace"))
    return refuseWhole("RD401", "this template has no queue, topic or subscription of Service Bus", howToExport);
  const value: Deployment = { namespaces: namespacesOf(found, leftOut.length === 0) };
  if (leftOut.length === 0) return accepted(value);
  const warning = diagnostic("RD409", {
    path: "",
    message: `left out, because Redeliver cannot evaluate the expression of their names: ${nameSome(leftOut)}`,
    help: "export the resource group, which writes names out",
  });
  return accepted(value, [warning]);
}

interface ArmResource {
  readonly type: string;
  readonly name: string;
  readonly properties: Entry;
}

/** A nested resource has only the rest of the type and of the name. */
function resourcesIn(list: readonly unknown[], type: string, name: string): readonly ArmResource[] {
  return list.filter(isEntry).flatMap((entry) => {
    const ownType = `${type === "" ? "" : `${type}/`}${wordOf(entry["type"])}`;
    const ownName = joined(name, wordOf(entry["name"]));
    const { properties, resources, sku } = entry;
    return [
      // The tier of a namespace lies beside its properties.
      { type: ownType, name: ownName, properties: { ...(isEntry(properties) ? properties : {}), sku } },
      ...resourcesIn(Array.isArray(resources) ? resources : [], ownType, ownName),
    ];
  });
}

function joined(outer: string, inner: string): string {
  if (outer === "") return inner;
  const argument = (text: string): string => (text.startsWith("[") ? text.slice(1, -1) : `'${text}'`);
  return `[concat(${argument(outer)}, '/', ${argument(inner)})]`;
}

/** A destination is the name of another entity, which may also be an expression. */
function resolvedProperties(properties: Entry, valueOf: ReturnType<typeof armValues>): Entry {
  return Object.fromEntries(
    Object.entries(properties).map(([key, value]) => [
      key,
      typeof value === "string" && value.startsWith("[") ? (valueOf(value) ?? value) : value,
    ]),
  );
}
