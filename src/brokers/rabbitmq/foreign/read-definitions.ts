import { type Checked, accepted, refusedFor } from "../../../diagnostics/diagnostic.ts";
import type { Entry, Problems } from "../../../foreign/entries.ts";
import { addProblem, isEntry, noProblems, problemsAsDiagnostic } from "../../../foreign/entries.ts";
import { parseJson } from "../../../foreign/parse-json.ts";
import { type Deployment, namelessVirtualHost } from "./deployment.ts";
import { assembleDeployment } from "./import/assemble.ts";
import { type Drafts, type DraftVirtualHost, type Lifetime, draftOf } from "./import/draft.ts";
import { argumentsOf, definitionOf } from "./import/arguments.ts";
import { shovelOf } from "./shovels.ts";

/**
 * The lists of an export that Redeliver reads. It skips users, permissions and limits, because they decide nothing
 * about a message.
 */
const listNames = ["vhosts", "exchanges", "queues", "bindings", "policies", "parameters"] as const;
type ListName = (typeof listNames)[number];

/**
 * Reads a definitions file of a whole broker or of one virtual host. `rabbitmqctl export_definitions` and the
 * management API write such files from 3.10 to 4.3. It skips unknown keys, like a broker that imports the file. Source:
 * `rabbit_definitions:all_definitions/0`, `rabbit_mgmt_wm_definitions:small_parts/1` (4.3.5).
 */
export function readDefinitions(text: string): Checked<Deployment> {
  const parsed = parseJson(text, "the definitions");
  return parsed.ok ? readDefinitionsData(parsed.value) : parsed;
}

/**
 * Reads definitions that are already data. It empties the lists on the way, because two copies of a million bindings
 * need too much memory.
 */
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
  return accepted(deployment, warnings);
}

function versionOf(data: Entry): string | null {
  const version = data["rabbitmq_version"] ?? data["rabbit_version"];
  return typeof version === "string" ? version : null;
}

/**
 * The default queue type is in the metadata, and from 3.13 to 4.1 also beside it. Source:
 * `rabbit_definitions:vhost_definition/1`.
 */
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
 * The virtual host of entries that name none. In the export of a single virtual host no entry names it, except policies
 * and parameters up to 3.13. Null if it is ambiguous. Source: `rabbit_mgmt_wm_definitions:vhost_definitions/3`
 * (3.10.8).
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

/**
 * Reads one entry without a schema. For a million bindings, a schema of zod takes seven times as long (1.8 s against
 * 0.25 s), and a third more memory.
 */
function readEntry(entry: unknown, reading: Reading): void {
  const { list, index, drafts, problems } = reading;
  if (!isEntry(entry))
    return addProblem(problems, [list, index], `this is ${kindOf(entry)}, and an object in every export`);
  const virtualHost = entry["vhost"] ?? reading.defaultName;
  if (typeof virtualHost !== "string") {
    return addProblem(problems, [list, index, "vhost"], "its virtual host is missing");
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
  if (source === "") return null;
  const own = typeof entry["properties_key"] === "string" ? { propertiesKey: entry["properties_key"] } : {};
  draft.bindings.push({ source, destination, destinationKind: kind, routingKey, arguments: given, ...own });
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
    if (entry["component"] === "shovel" && isEntry(entry["value"]))
      draft.shovels.push(shovelOf(name, entry["value"], draft.name));
    if (entry["component"] !== "operator_policy") return null;
    if (!isEntry(entry["value"])) return { key: "value", message: "an operator policy is no object" };
    return readPolicy({ ...entry["value"], name }, "operator", draft);
  }
  const given = argumentsOf(entry["arguments"]);
  if (given === null) return { key: "arguments", message: "the arguments are no object" };
  const { type = null } = entry;
  if (list === "exchanges") {
    if (typeof type !== "string") return { key: "type", message: "an exchange has no type" };
    const isInternal = entry["internal"] === true;
    draft.exchanges.push({ name, type, lifetime: lifetimeOf(entry), arguments: given, isInternal });
    return null;
  }
  if (type !== null && typeof type !== "string") return { key: "type", message: "the type of a queue is no text" };
  draft.queues.push({ name, type, lifetime: lifetimeOf(entry), arguments: given });
  return null;
}

function lifetimeOf(entry: Entry): Lifetime {
  return {
    isTransient: entry["durable"] === false,
    isAutoDelete: entry["auto_delete"] === true,
    isExclusive: entry["exclusive"] === true,
  };
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
  const kinds: Readonly<Record<string, string>> = { object: "an object", string: "a text", number: "a number" };
  return kinds[typeof value] ?? "true or false";
}

/** Names keys and never values, because the file may contain secrets. */
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
  return refusedFor("RD401", {
    path,
    message,
    notes: ["a definitions file has lists of exchanges, queues and bindings, and says rabbitmq_version"],
    help: hint ?? "write one with rabbitmqctl export_definitions definitions.json",
  });
}
