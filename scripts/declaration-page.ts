import { type Checked, type CompiledSystem, checkSystem, compile, parseTarget } from "../src/index.ts";
import type { PromiseName } from "../src/contract/promise.ts";
import { declarationJsonSchema } from "../src/declare/schema.ts";
import { asDuration, durationPattern, unitMs } from "../src/declare/duration.ts";
import { formTexts } from "../src/declare/schema-parts.ts";

/** A part of the JSON Schema of a declaration. */
export interface Schema {
  readonly description?: string;
  readonly examples?: readonly unknown[];
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly string[];
  readonly type?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | false;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
}

/** A property of a declaration. */
export interface Property {
  /** Its path in an example: `consumers`, `billing`, `retry`, `attempts`. */
  readonly path: readonly string[];
  readonly schema: Schema;
  readonly isRequired: boolean;
  /** The kind of backoff that has it; null for a property outside a backoff. */
  readonly backoff: string | null;
}

/** The names of examples, for each mapping with names that the user chooses. */
const chosenNames: Readonly<Record<string, string>> = { sources: "orders", consumers: "billing", from: "orders" };

/** All properties of a declaration, in the order of its schema. */
export function propertiesOf(): Property[] {
  return propertiesIn(declarationJsonSchema() as Schema, [], null);
}

function propertiesIn(schema: Schema, path: readonly string[], backoff: string | null): Property[] {
  if (schema.oneOf !== undefined) {
    return schema.oneOf.flatMap((each) => propertiesIn(each, path, String(each.properties?.["kind"]?.const)));
  }
  const chosen = chosenNames[path.at(-1) ?? ""];
  if (schema.additionalProperties && chosen !== undefined) {
    return propertiesIn(schema.additionalProperties, [...path, chosen], backoff);
  }
  return Object.entries(schema.properties ?? {}).flatMap(([key, each]) => {
    const isRequired = schema.required?.includes(key) === true;
    const own = { path: [...path, key], schema: each, isRequired, backoff };
    return [own, ...propertiesIn(each, own.path, backoff)];
  });
}

type Data = { readonly [key: string]: unknown };

/** The settings that an example needs beside itself. */
const surroundings: Readonly<Record<string, Data>> = {
  order: { retry: { attempts: 5, backoff: { kind: "immediate" } } },
  delivery: { retry: undefined },
  exchangeType: { from: { orders: ["10"] } },
  ...Object.fromEntries(
    ["maxLength", "maxLengthBytes"].map((key) => [
      key,
      { retry: { attempts: 5, backoff: { kind: "constant", delay: "30s" } } },
    ]),
  ),
};

/** The other properties of a source, where an example belongs together with them. */
const sourceOf: Readonly<Record<string, (target: string) => Data>> = {
  exchangeType: () => ({ kind: "opaque", owner: "other", name: "events" }),
  arguments: () => ({ kind: "topic", owner: "other", name: "events" }),
  owner: (target) => ({
    kind: "topic",
    name: target.startsWith("sqs") ? "arn:aws:sns:eu-west-1:111122223333:events" : "events",
  }),
};

/** A whole declaration with one example in it. */
export function exampleSystem({ path, backoff }: Property, example: unknown, target = ""): Data {
  const backoffs = propertiesOf().find((each) => each.path.at(-1) === "backoff")?.schema.examples as readonly Data[];
  const billing = {
    from: { orders: ["order.placed"] },
    retry: { attempts: 5, backoff: backoffs.find(({ kind }) => kind === (backoff ?? "exponential")) },
    handlerTimeout: "30s",
    ...surroundings[path.at(-1) ?? ""],
  };
  const orders = sourceOf[path.at(-1) ?? ""]?.(target) ?? { kind: "topic" };
  const whole = { name: "shop", sources: { orders }, consumers: { billing } };
  return withValue(whole, path, example) as Data;
}

function withValue(data: unknown, [key, ...rest]: readonly string[], value: unknown): unknown {
  if (key === undefined) return value;
  return { ...(data as Data), [key]: withValue((data as Data | undefined)?.[key], rest, value) };
}

/** The targets that the page compares. */
export const comparedTargets = [
  "rabbitmq@4.3",
  "rabbitmq@4.0",
  "rabbitmq@3.10",
  "sqs@eu-west-1",
  "servicebus@standard",
];

export function compileFor(system: unknown, target: string): Checked<CompiledSystem> {
  const checked = checkSystem(system);
  const parsed = parseTarget(target);
  if (!checked.ok) return checked;
  return parsed.ok ? compile(checked.value, parsed.value) : parsed;
}

/** The promise that a property asks for. A property that only shapes another promise has none. */
const promises: Readonly<Record<string, PromiseName>> = {
  consumers: "no-loss",
  attempts: "attempts",
  kind: "timing",
  jitter: "timing",
  retryAfter: "timing",
  crash: "crash",
  handlerTimeout: "handler-timeout",
  errors: "permanent",
  retain: "retention",
  alarmAbove: "alarm",
  order: "order",
};

/** Renders the reference of the declaration, from its schema and from compiled examples. */
export function renderDeclaration(): string {
  return [
    "# The declaration",
    "<!-- Generated by `npm run generate` from src/declare/schema.ts and scripts/declaration-page.ts; changes here are lost. -->",
    "A declaration is a TypeScript or JavaScript module, or a JSON or YAML file. The properties are the same. This page, `schema.json` and the comments of the TypeScript types have the same texts.",
    "Redeliver compiled the first example of each property for this page. A table shows the keeper of the promise that the property asks for, and the promise in words. All properties exist since Redeliver 0.1.0.",
    editors,
    ...propertiesOf().map(renderProperty),
    "",
  ].join("\n\n");
}

const editors = `## In an editor
In JSON, \`$schema\` names the schema, and the editor shows the texts of this page:

\`\`\`json
{
  "$schema": "./node_modules/redeliver/schema.json",
  "name": "shop",
  "sources": { "orders": { "kind": "topic" } },
  "consumers": {
    "billing": {
      "from": { "orders": "all" },
      "retry": { "attempts": 5, "backoff": { "kind": "constant", "delay": "30s" } }
    }
  }
}
\`\`\`

In YAML, a comment in the first line names it. Keys at the top that begin with \`x-\` are yours: Redeliver ignores them, so they can hold anchors. A merge key, \`<<\`, takes over the entries of a mapping:

\`\`\`yaml
# yaml-language-server: $schema=./node_modules/redeliver/schema.json
name: shop
x-retry: &retry
  attempts: 5
  backoff: { kind: exponential, first: 1s, factor: 2, max: 1m }
sources:
  orders: { kind: topic }
consumers:
  billing:
    from: { orders: [order.placed] }
    retry: *retry
  audit:
    from: { orders: all }
    retry: { <<: *retry, attempts: 10 }
\`\`\`

In TypeScript, \`defineSystem\` has the same texts, and its result knows the names of the consumers: \`consume(shop, "biling", …)\` is a type error that names \`"billing"\`.`;

function renderProperty(property: Property): string {
  const { path, schema, backoff, isRequired } = property;
  const key = path.at(-1) ?? "";
  const names = new Set(Object.values(chosenNames));
  const title = path.map((each) => (names.has(each) ? "&lt;name&gt;" : each)).join(".");
  const isKind = key === "kind" && backoff !== null;
  const place = isKind ? `: ${backoff}` : backoff === null ? "" : `, of ${backoff}`;
  const examples = schema.examples ?? [];
  const form = formTexts[schema.pattern ?? ""] ?? "";
  return [
    `${path.length === 1 ? "##" : "###"} ${title}${place}`,
    (schema.description ?? "").replace(form, "").trim(),
    [
      `- Value: ${valueOf(schema)}${boundsOf(property)}${isRequired ? ", required" : ""}`,
      ...(schema.default === undefined ? [] : [`- Default: \`${inYaml(schema.default)}\``]),
      ...(examples.length === 0
        ? []
        : [`- Example: ${examples.map((each) => `\`${key}: ${inYaml(each)}\``).join(", ")}`]),
    ].join("\n"),
    ...(examples.length === 0 && !isKind ? [] : [renderTargets(property, examples[0] ?? schema.const)]),
  ].join("\n\n");
}

function valueOf({
  const: only,
  enum: words,
  type,
  pattern,
  minimum,
  maximum,
  items,
  maxLength,
  oneOf,
}: Schema): string {
  if (only !== undefined) return `\`${String(only)}\``;
  if (words !== undefined) return words.map((each) => `\`${each}\``).join(" or ");
  const form = formTexts[pattern ?? ""];
  if (form !== undefined) return form.replace(/^A/, "a").replace(/\.$/, "");
  switch (type) {
    case "integer":
    case "number": {
      const number = type === "integer" ? "a whole number" : "a number";
      const most =
        maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? "" : ` to ${maximum.toLocaleString("en")}`;
      return most === "" ? `${number}, at least ${minimum}` : `${number} from ${minimum}${most}`;
    }
    case "array":
      return `a list: each ${valueOf(items ?? {})}`;
    case "boolean":
      return "`true` or `false`";
    case "string":
      return maxLength === undefined ? "a text" : `a text of at most ${maxLength} characters`;
    default:
      return oneOf === undefined ? "a mapping" : "a mapping with a `kind`";
  }
}

/** The shortest and the longest duration that the rules accept. Empty for a property without durations. */
function boundsOf(property: Property): string {
  const { pattern, items } = property.schema;
  if ((pattern ?? items?.pattern) !== durationPattern.source) return "";
  const isInRange = (durationMs: number): boolean => {
    const value = asDuration(durationMs);
    const checked = checkSystem(exampleSystem(property, items === undefined ? value : [value]));
    return checked.ok || checked.diagnostics.every(({ code }) => code !== "RD105");
  };
  const lastInRange = (insideMs: number, outsideMs: number): number => {
    if (Math.abs(insideMs - outsideMs) === 1) return insideMs;
    const middleMs = Math.floor((insideMs + outsideMs) / 2);
    return isInRange(middleMs) ? lastInRange(middleMs, outsideMs) : lastInRange(insideMs, middleMs);
  };
  const [shortestMs, longestMs] = [lastInRange(unitMs.d, 0), lastInRange(unitMs.d, 1e6 * unitMs.d)];
  return `; from ${asDuration(shortestMs)} to ${asDuration(longestMs)}`;
}

function renderTargets(property: Property, example: unknown): string {
  const key = property.path.at(-1) ?? "";
  const promise = key === "kind" && property.backoff === null ? undefined : promises[key];
  const kept = new Map<string, string[]>();
  const refusals: string[] = [];
  for (const target of comparedTargets) {
    const result = compileFor(exampleSystem(property, example, target), target);
    if (result.ok) {
      const { strategy = "" } = result.value.choices[0] ?? {};
      const { keeper, statement } = result.value.promises.find((each) => each.promise === promise) ?? {};
      const row = promise === undefined ? "" : ` | \`${strategy}\` | ${keeper ?? "–"} | ${statement ?? "–"} |`;
      kept.set(row, [...(kept.get(row) ?? []), `\`${target}\``]);
    } else {
      const { message, code } = result.diagnostics.find(({ severity }) => severity === "error") ?? {};
      refusals.push(`\`${target}\` refuses it: ${message} ([${code}](diagnostics.md#${code?.toLowerCase()})).`);
    }
  }
  const rows = [...kept].map(([row, targets]) =>
    promise === undefined ? `Compiles for ${targets.join(", ")}.` : `| ${targets.join(", ")}${row}`,
  );
  const head = promise === undefined ? [] : ["| target | strategy | kept by | promise |", "|---|---|---|---|"];
  return [[...head, ...rows].join("\n"), ...refusals].join("\n\n");
}

/** A value in YAML, on one line. */
function inYaml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inYaml).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).map(([key, each]) => `${key}: ${inYaml(each)}`);
    return entries.length === 0 ? "{}" : `{ ${entries.join(", ")} }`;
  }
  const text = String(value);
  return typeof value === "string" && /[*#:,{}]|^\d+$/.test(text) ? JSON.stringify(text) : text;
}
