import type { Checked } from "../../diagnostics/diagnostic.ts";
import { diagnostic } from "../../diagnostics/diagnostic.ts";
import type { Entry } from "../entries.ts";
import { isEntry } from "../entries.ts";
import { nameSome } from "../finding.ts";
import { parseJson } from "../parse-json.ts";
import type { Deployment } from "./deployment.ts";
import type { NamedResource } from "./import/entity-properties.ts";
import { namespacesOf } from "./import/entity-properties.ts";

const namespaceType = "microsoft.servicebus/namespaces";
const prefix = `${namespaceType}/`;
const kinds: Readonly<Record<string, NamedResource["kind"]>> = {
  queues: "queue",
  topics: "topic",
  "topics/subscriptions": "subscription",
  "topics/subscriptions/rules": "rule",
};

/**
 * Reads an ARM template: what `az group export`, the portal's Export template, or `az bicep build` writes.
 *
 * Of the functions of templates it knows those that names are made with there: `concat`, `format`, `parameters` and `variables`.
 * Source of the format: Azure Resource Manager documentation, "Template structure and syntax".
 */
export function readArm(text: string): Checked<Deployment> {
  const parsed = parseJson(text, "the template");
  if (!parsed.ok) return parsed;
  const template = parsed.value;
  if (!isEntry(template) || !Array.isArray(template["resources"])) {
    return refuse("this is JSON, but no template of Azure Resource Manager");
  }
  const leftOut: string[] = [];
  const found = resourcesIn(template["resources"], "", "").flatMap(({ type, name, properties }): NamedResource[] => {
    const lower = type.toLowerCase();
    const isNamespace = lower === namespaceType;
    const kind = lower.startsWith(prefix) ? kinds[lower.slice(prefix.length)] : undefined;
    if (kind === undefined && !isNamespace) return [];
    const resolved = valueOf(name, template);
    const [namespace = "", ...names] = resolved?.split("/") ?? [];
    if (resolved === null || (names.length === 0 && !isNamespace)) {
      leftOut.push(name);
      return [];
    }
    return [{ kind: kind ?? "namespace", namespace, names, properties: resolvedProperties(properties, template) }];
  });
  if (found.every(({ kind }) => kind === "namespace"))
    return refuse("there is no queue, topic or subscription of Service Bus in this template");
  const value: Deployment = { namespaces: namespacesOf(found, leftOut.length === 0) };
  if (leftOut.length === 0) return { ok: true, value, warnings: [] };
  const warning = diagnostic("RD409", {
    path: "",
    message: `left out, since their names are made in a way that is not known here: ${nameSome(leftOut)}`,
    help: "export the resource group, where names are written out",
  });
  return { ok: true, value, warnings: [warning] };
}

interface ArmResource {
  readonly type: string;
  readonly name: string;
  readonly properties: Entry;
}

/** A resource within another has the rest of the type and of the name. */
function resourcesIn(list: readonly unknown[], type: string, name: string): readonly ArmResource[] {
  return list.filter(isEntry).flatMap((entry) => {
    const ownType = `${type === "" ? "" : `${type}/`}${String(entry["type"])}`;
    const ownName = joined(name, String(entry["name"]));
    const { properties, resources, sku } = entry;
    return [
      // The tier of a namespace is beside its properties.
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

/** Forwarding names another entity by its name, which may be made in the same way. */
function resolvedProperties(properties: Entry, template: Entry): Entry {
  return Object.fromEntries(
    Object.entries(properties).map(([key, value]) => [
      key,
      typeof value === "string" && value.startsWith("[") ? (valueOf(value, template) ?? value) : value,
    ]),
  );
}

/** What a text stands for; null where that is not known. A parameter without a default value stands for its name. */
function valueOf(text: string, template: Entry): string | null {
  if (!text.startsWith("[") || text.startsWith("[[")) return text;
  return expressionValue(text.slice(1, -1).trim(), template);
}

function expressionValue(expression: string, template: Entry): string | null {
  const literal = /^'((?:[^']|'')*)'$/.exec(expression);
  if (literal !== null) return (literal[1] ?? "").replaceAll("''", "'");
  const call = /^(\w+)\(([\s\S]*)\)$/.exec(expression);
  if (call === null) return null;
  const [, name = "", inside = ""] = call;
  const values = argumentsIn(inside).map((each) => expressionValue(each, template));
  const [first, ...others] = values;
  if (first === undefined || first === null || others.includes(null)) return null;
  switch (name) {
    case "concat":
      return values.join("");
    case "format":
      return first.replaceAll(/\{(\d+)\}/g, (_, index) => others[Number(index)] ?? "");
    case "parameters":
    case "variables": {
      const declared = isEntry(template[name]) ? template[name][first] : undefined;
      const value = isEntry(declared) ? declared["defaultValue"] : declared;
      if (typeof value === "string") return valueOf(value, template);
      return name === "parameters" ? first : null;
    }
    default:
      return null;
  }
}

/** The arguments of a call, at the commas that are in no text and in no brackets. */
function argumentsIn(text: string): readonly string[] {
  const found: string[] = [];
  let depth = 0;
  let isText = false;
  let start = 0;
  for (let at = 0; at <= text.length; at++) {
    const character = text[at];
    if (character === "'") isText = !isText;
    else if (!isText && character === "(") depth++;
    else if (!isText && character === ")") depth--;
    if (character === undefined || (character === "," && depth === 0 && !isText)) {
      found.push(text.slice(start, at).trim());
      start = at + 1;
    }
  }
  return found;
}

function refuse(message: string): Checked<never> {
  const help = "write one with az group export --name GROUP > template.json";
  return { ok: false, diagnostics: [diagnostic("RD401", { path: "", message, help })] };
}
