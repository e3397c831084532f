import { type Checked, type Diagnostic, accepted, diagnosed, refuseWhole } from "../../../diagnostics/diagnostic.ts";
import { type Entry, isEntry } from "../../../foreign/entries.ts";
import { nameSome } from "../../../foreign/finding.ts";
import { parseJson } from "../../../foreign/parse-json.ts";
import { wordOf } from "../../../diagnostics/word-of.ts";
import { auditedFields } from "../compile/fields.ts";
import { type Evaluate, armValues, isKept, withTexts } from "./arm-values.ts";
import type { Deployment, NamedResource } from "./deployment.ts";
import { namespacesOf } from "./import/entity-properties.ts";
import { rulesByAzure } from "./import/pulumi-resources.ts";

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
 * It knows the functions that `armValues` knows, and the templates of deployments in it. Source of the format: Azure
 * Resource Manager documentation, "Template structure and syntax".
 */
export function readArm(text: string): Checked<Deployment> {
  const parsed = parseJson(text, "the template");
  if (!parsed.ok) return parsed;
  const template = parsed.value;
  const resources = isEntry(template) ? (template["resources"] ?? null) : null;
  if (!isEntry(template) || typeof resources !== "object" || resources === null) {
    return refuseWhole("RD401", "this is JSON, but not a template of Azure Resource Manager", howToExport);
  }
  const all = resourcesIn(resources, scopeOf(template), "", "");
  const read = all.map(namedOf);
  const found = read.flatMap((each) => each.named ?? []);
  const unnamed = read.flatMap((each) => each.unnamed ?? []);
  if (found.every(({ kind }) => kind === "namespace"))
    return refuseWhole(
      "RD401",
      unnamed.length === 0
        ? "this template has no queue, topic or subscription of Service Bus"
        : `only a deployment knows the names of the queues, topics and subscriptions in this template: ${nameSome(unnamed.map(({ name }) => name))}`,
      howToExport,
    );
  const elsewhere = all.flatMap(({ type, name }) => (isDeployment(type) ? [name] : []));
  const leftOut = [
    ...unread(
      "Redeliver cannot evaluate the expression of their names or properties",
      unnamed.map(({ name }) => name),
    ),
    ...unread("their templates are not in this one", elsewhere),
  ];
  // A rule that was not read may be the one that Azure makes.
  const areRulesRead = elsewhere.length === 0 && unnamed.every(({ kind }) => kind !== "rule");
  const assumed = areRulesRead ? rulesByAzure(found).map((each): NamedResource => ({ ...each, isAssumed: true })) : [];
  const isWhole = leftOut.length === 0 && !all.some(({ isExisting }) => isExisting);
  return accepted({ namespaces: namespacesOf([...found, ...assumed], isWhole) }, leftOut);
}

function unread(why: string, names: readonly string[]): readonly Diagnostic[] {
  if (names.length === 0) return [];
  const message = `left out, because ${why}: ${nameSome(names)}`;
  return diagnosed("RD409", { path: "", message, help: "export the resource group, which writes names out" });
}

/** Neither for a resource of another service. */
function namedOf({ type, name, properties, scope, isExisting }: ArmResource): {
  readonly named?: NamedResource;
  readonly unnamed?: { readonly kind: NamedResource["kind"]; readonly name: string };
} {
  const lower = type.toLowerCase();
  const kind =
    lower === namespaceType ? "namespace" : lower.startsWith(prefix) ? kinds[lower.slice(prefix.length)] : undefined;
  if (kind === undefined || isExisting) return {};
  const resolved = scope.ofName(name) ?? scope.ofNamespace(name);
  const [namespace = "", ...names] = typeof resolved === "string" ? resolved.split("/") : [];
  const isNamed = typeof resolved === "string" && (names.length > 0 || kind === "namespace") && !names.some(isKept);
  if (!isNamed || properties === null) return { unnamed: { kind, name } };
  const own = resolvedProperties(properties, scope);
  return { named: { kind, namespace, names, properties: kind === "rule" ? withFilter(own) : own } };
}

/** The version 2015-08-01 of the API calls each filter of a rule `filter`. */
function withFilter({ filter, ...properties }: Entry): Entry {
  if (!isEntry(filter)) return properties;
  return "sqlExpression" in filter
    ? { filterType: "SqlFilter", sqlFilter: filter, ...properties }
    : { filterType: "CorrelationFilter", correlationFilter: filter, ...properties };
}

/** The values of a template. A parameter without a default value is unknown, but names and destinations need one. */
interface ArmScope {
  readonly ofName: Evaluate;
  /** The same, with the expressions of parts that only a deployment knows. Equal expressions have one value. */
  readonly ofNamespace: Evaluate;
  readonly ofSetting: Evaluate;
}

function scopeOf(template: Entry, given: Entry = {}, outer?: ArmScope): ArmScope {
  const passedBy = (of: Evaluate, value: unknown): unknown => {
    if (typeof value === "string") return of(value);
    // Lists of lists could double with each template.
    return withTexts(value, (text) => {
      const made = of(text);
      return typeof made === "object" ? undefined : made;
    });
  };
  const passed = (of: Evaluate | undefined): Entry =>
    Object.fromEntries(
      Object.entries(given).map(([name, each]) => [
        name,
        of === undefined || !isEntry(each) ? undefined : passedBy(of, each["value"]),
      ]),
    );
  return {
    ofName: armValues(template, "named", passed(outer?.ofName)),
    ofNamespace: armValues(template, "kept", passed(outer?.ofNamespace)),
    ofSetting: armValues(template, "none", passed(outer?.ofSetting)),
  };
}

interface ArmResource {
  readonly type: string;
  readonly name: string;
  /** Null if they are an expression without a known value. */
  readonly properties: Entry | null;
  readonly scope: ArmScope;
  /** True if another template makes it. */
  readonly isExisting: boolean;
}

/**
 * A nested resource has only the rest of the type and of the name. Since version 2.0 of the language, resources may have
 * names of their own in the template.
 */
function resourcesIn(list: unknown, scope: ArmScope, type: string, name: string): readonly ArmResource[] {
  const entries = typeof list === "object" && list !== null ? Object.values(list) : [];
  return entries.filter(isEntry).flatMap((entry) => {
    const { properties, resources, sku, condition, existing } = entry;
    if (withTexts(condition, scope.ofSetting) === false) return [];
    const ownType = `${type === "" ? "" : `${type}/`}${wordOf(entry["type"])}`;
    const ownName = joined(name, wordOf(entry["name"]));
    const known = typeof properties === "string" ? scope.ofSetting(properties) : properties;
    const own = isEntry(known) ? known : {};
    const isKnown = typeof properties !== "string" || isEntry(known);
    const { template, parameters, expressionEvaluationOptions: options } = own;
    if (isDeployment(ownType) && isEntry(template)) {
      const isInner = isEntry(options) && /^inner$/i.test(wordOf(options["scope"]));
      const inner = isInner ? scopeOf(template, isEntry(parameters) ? parameters : {}, scope) : scope;
      return resourcesIn(template["resources"], inner, "", "");
    }
    return [
      // The tier of a namespace lies beside its properties.
      {
        type: ownType,
        name: ownName,
        properties: isKnown ? { ...own, sku } : null,
        scope,
        isExisting: existing === true,
      },
      ...resourcesIn(resources, scope, ownType, ownName),
    ];
  });
}

function isDeployment(type: string): boolean {
  return type.toLowerCase() === "microsoft.resources/deployments";
}

function joined(outer: string, inner: string): string {
  if (outer === "") return inner;
  const argument = (text: string): string => (text.startsWith("[") ? text.slice(1, -1) : `'${text}'`);
  return `[concat(${argument(outer)}, '/', ${argument(inner)})]`;
}

/** A destination is the name of another entity. A value that is not known stays an expression. */
function resolvedProperties(properties: Entry, { ofName, ofSetting }: ArmScope): Entry {
  const isDestination = (key: string): boolean =>
    auditedFields.some(({ arm, kind }) => arm === key && kind === "entity");
  return Object.fromEntries(
    Object.entries(properties).map(([key, value]) => {
      const of = isDestination(key) ? ofName : ofSetting;
      return [key, withTexts(value, (text) => of(text) ?? text)];
    }),
  );
}
