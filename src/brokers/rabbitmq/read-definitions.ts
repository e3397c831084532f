import type { Checked } from "../../diagnostics/diagnostic.ts";
import { diagnostic } from "../../diagnostics/diagnostic.ts";
import type { Entry, Problems } from "../entries.ts";
import { addProblem, isEntry, noProblems, problemsAsDiagnostic } from "../entries.ts";
import { parseJson } from "../parse-json.ts";
import type { Deployment } from "./deployment.ts";
import { namelessVirtualHost } from "./deployment.ts";
import { assembleDeployment } from "./import/assemble.ts";
import type { Drafts, DraftVirtualHost } from "./import/draft.ts";
import { draftOf } from "./import/draft.ts";
import { argumentsOf, definitionOf } from "./import/arguments.ts";

/** The lists of an export that are read. Users, permissions and limits decide nothing about a message, and are passed over. */
const listNames = ["vhosts", "exchanges", "queues", "bindings", "policies", "parameters"] as const;
type ListName = (typeof listNames)[number];

/**
 * Reads a definitions file, of a whole broker or of one virtual host, as `rabbitmqctl export_definitions` and the management API
 * write it from 3.10 to 4.3. Keys that are not known are passed over, as a broker does that imports the file.
 * Source: `rabbit_definitions:all_definitions/0`, `rabbit_mgmt_wm_definitions:small_parts/1` (4.3.5).
 */
export function readDefinitions(text: string): Checked<Deployment> {
  const parsed = parseJson(text, "the definitions");
  return parsed.ok ? readDefinitionsData(parsed.value) : parsed;
}

/** Reads definitions that are data already. The lists are emptied on the way: a million bindings need not be there twice. */
export function readDefinitionsData(data: unknown): Checked<Deployment> {
  if (!isEntry(data)) return refuse(`this is ${kindOf(data)}, and no definitions file, which is an object`);
  const wrong = listNames.find((name) => data[name] !== undefined && !Array.isArray(data[name]));
  if (wrong !== undefined) {
    return refuse(`${wrong} is ${kindOf(data[wrong])}, and a list in every definitions file`, wrong);
  }
  const isDefinitions =
    versionOf(data) !== null || ["exchanges", "queues", "bindings", "vhosts"].some((name) => Array.isArray(data[name]));
  if (!isDefinitions) return refuse(`this is JSON, but no definitions file: it has ${keysOf(data)}`, "", hintFor(data));
  const problems = noProblems();
  const drafts: Drafts = new Map();
  readVirtualHosts(data, drafts, problems);
  const defaultName = defaultVirtualHost(data, drafts);
  for (const name of ["exchanges", "queues", "bindings", "policies", "parameters"] as const) {
    const list = (data[name] ?? []) as unknown[];
    for (let index = 0; index < list.length; index += 1) {
      readEntry(list[index], { list: name, index, defaultName, drafts, problems });
      list[index] = null;
    }
  }
  const problem = problemsAsDiagnostic(problems);
  if (problem !== null) return { ok: false, diagnostics: [problem] };
  const { deployment, warnings } = assembleDeployment(versionOf(data), drafts);
  return { ok: true, value: deployment, warnings };
}

function versionOf(data: Entry): string | null {
  const version = data["rabbitmq_version"] ?? data["rabbit_version"];
  return typeof version === "string" ? version : null;
}

/** The default queue type is in the metadata, and from 3.13 to 4.1 beside it. Source: `rabbit_definitions:vhost_definition/1`. */
function readVirtualHosts(data: Entry, drafts: Drafts, problems: Problems): void {
  for (const [index, entry] of ((data["vhosts"] ?? []) as readonly unknown[]).entries()) {
    if (isEntry(entry) && typeof entry["name"] === "string") {
      draftOf(drafts, entry["name"]).defaultQueueType = defaultTypeOf(entry);
    } else addProblem(problems, ["vhosts", index, "name"], "a virtual host has no name");
  }
}

function defaultTypeOf(entry: Entry): string | null {
  const metadata = isEntry(entry["metadata"]) ? entry["metadata"] : {};
  const type = metadata["default_queue_type"] ?? entry["default_queue_type"];
  // "undefined" and the empty text stand for none. Source: `rabbit_queue_type:inject_dqt/1`.
  return typeof type === "string" && type !== "" && type !== "undefined" ? type : null;
}

/**
 * The virtual host of entries that name none. In the export of a single one no entry does, but for policies and parameters up to 3.13.
 * Null where it cannot be told. Source: `rabbit_mgmt_wm_definitions:vhost_definitions/3` (3.10.8).
 */
function defaultVirtualHost(data: Entry, drafts: Drafts): string | null {
  if (drafts.size > 1) return null;
  const named = [...((data["policies"] ?? []) as unknown[]), ...((data["parameters"] ?? []) as unknown[])]
    .map((entry) => (isEntry(entry) ? entry["vhost"] : undefined))
    .find((name) => typeof name === "string");
  const original = data["original_vhost_name"];
  const [only] = drafts.keys();
  const name = typeof original === "string" ? original : (only ?? (named as string | undefined) ?? namelessVirtualHost);
  const type = defaultTypeOf(data);
  if (type !== null) draftOf(drafts, name).defaultQueueType = type;
  return name;
}

interface Reading {
  readonly list: Exclude<ListName, "vhosts">;
  readonly index: number;
  readonly defaultName: string | null;
  readonly drafts: Drafts;
  readonly problems: Problems;
}

/** One entry, by hand: a schema of zod takes seven times as long for a million bindings (1.8 s against 0.25 s), and a third more memory. */
function readEntry(entry: unknown, reading: Reading): void {
  const { list, index, drafts, problems } = reading;
  if (!isEntry(entry))
    return addProblem(problems, [list, index], `this is ${kindOf(entry)}, and an object in every export`);
  const virtualHost = entry["vhost"] ?? reading.defaultName;
  if (typeof virtualHost !== "string") {
    return addProblem(problems, [list, index, "vhost"], "it is not said which virtual host this is in");
  }
  const draft = draftOf(drafts, virtualHost);
  const problem = list === "bindings" ? readBinding(entry, draft) : readNamed(entry, list, draft);
  if (problem !== null) addProblem(problems, [list, index, problem.key], problem.message);
}

type EntryProblem = { readonly key: string; readonly message: string } | null;

function readBinding(entry: Entry, draft: DraftVirtualHost): EntryProblem {
  const { source, destination, destination_type: kind, routing_key: routingKey = "" } = entry;
  const given = argumentsOf(entry["arguments"]);
  if (typeof source !== "string") return { key: "source", message: "a binding has no source" };
  if (typeof destination !== "string") return { key: "destination", message: "a binding has no destination" };
  if (kind !== "queue" && kind !== "exchange") {
    return { key: "destination_type", message: "a binding leads neither to a queue nor to an exchange" };
  }
  if (typeof routingKey !== "string") return { key: "routing_key", message: "a routing key is no text" };
  if (given === null) return { key: "arguments", message: "the arguments are no object" };
  // The default exchange is bound to every queue by its name, and routing knows that.
  if (source !== "") draft.bindings.push({ source, destination, destinationKind: kind, routingKey, arguments: given });
  return null;
}

function readNamed(
  entry: Entry,
  list: Exclude<ListName, "vhosts" | "bindings">,
  draft: DraftVirtualHost,
): EntryProblem {
  const { name } = entry;
  if (typeof name !== "string") return { key: "name", message: "this has no name" };
  if (list === "policies") return readPolicy({ ...entry, name }, "user", draft);
  if (list === "parameters") {
    // Operator policies are parameters. Source: `rabbit_policy:set_op/7`, `rabbit_runtime_parameters:list/0`.
    if (entry["component"] !== "operator_policy") return null;
    if (!isEntry(entry["value"])) return { key: "value", message: "an operator policy is no object" };
    return readPolicy({ ...entry["value"], name }, "operator", draft);
  }
  const given = argumentsOf(entry["arguments"]);
  if (given === null) return { key: "arguments", message: "the arguments are no object" };
  const { type = null } = entry;
  if (list === "exchanges") {
    if (typeof type !== "string") return { key: "type", message: "an exchange has no type" };
    draft.exchanges.push({ name, type, arguments: given });
    return null;
  }
  if (type !== null && typeof type !== "string") return { key: "type", message: "the type of a queue is no text" };
  const takesDefaultType = entry["durable"] !== false && entry["auto_delete"] !== true && entry["exclusive"] !== true;
  draft.queues.push({ name, type, takesDefaultType, arguments: given });
  return null;
}

function readPolicy(
  entry: Entry & { readonly name: string },
  kind: "user" | "operator",
  draft: DraftVirtualHost,
): EntryProblem {
  const { name, pattern, priority, "apply-to": applyTo } = entry;
  const definition = definitionOf(entry["definition"]);
  if (typeof pattern !== "string") return { key: "pattern", message: "a policy has no pattern" };
  if (definition === null) return { key: "definition", message: "the definition of a policy is no object" };
  draft.policies.push({
    name,
    kind,
    pattern,
    // Source: `rabbit_policy:set/7`.
    applyTo: typeof applyTo === "string" ? applyTo : "all",
    priority: typeof priority === "number" ? priority : 0,
    definition,
  });
  return null;
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  switch (typeof value) {
    case "object":
      return "an object";
    case "string":
      return "a text";
    case "number":
      return "a number";
    default:
      return "true or false";
  }
}

/** Keys are told, never values: the file may be one that has secrets in it. */
function keysOf(data: Entry): string {
  const keys = Object.keys(data).map((key) => (key.length > 40 ? `${key.slice(0, 39)}…` : key));
  if (keys.length === 0) return "no keys";
  const more = keys.length > 5 ? ` and ${keys.length - 5} more` : "";
  return `the keys ${keys.slice(0, 5).join(", ")}${more}`;
}

function hintFor(data: Entry): string | undefined {
  return "deployment" in data || "checkpoint" in data
    ? "this looks like the state of a Pulumi stack: read it with --stack"
    : undefined;
}

function refuse(message: string, path = "", hint?: string): Checked<never> {
  return {
    ok: false,
    diagnostics: [
      diagnostic("RD401", {
        path,
        message,
        notes: ["a definitions file has lists of exchanges, queues and bindings, and says rabbitmq_version"],
        help: hint ?? "write one with rabbitmqctl export_definitions definitions.json",
      }),
    ],
  };
}
