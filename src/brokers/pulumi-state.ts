import type { Checked } from "../diagnostics/diagnostic.ts";
import { diagnostic } from "../diagnostics/diagnostic.ts";
import type { Entry } from "./entries.ts";
import { isEntry } from "./entries.ts";
import { parseJson } from "./parse-json.ts";
import type { PulumiResource } from "./pulumi-resource.ts";

/**
 * Reads what `pulumi stack export` writes, or the file in which a backend of one's own keeps a stack.
 *
 * What the provider read back from the broker goes before what the program asked for.
 * Source: `apitype.UntypedDeployment`, `apitype.ResourceV3`, `apitype.CheckpointV3` of Pulumi.
 *
 * @returns every resource of the stack, of whatever provider
 */
export function readPulumiState(text: string): Checked<readonly PulumiResource[]> {
  const parsed = parseJson(text, "the stack");
  if (!parsed.ok) return parsed;
  const state = stateIn(parsed.value);
  if (state === null) {
    const hint =
      isEntry(parsed.value) && ("rabbitmq_version" in parsed.value || "rabbit_version" in parsed.value)
        ? "this looks like a definitions file: read it with --definitions"
        : "write one with pulumi stack export --file state.json";
    return refuse("this is JSON, but not the state of a Pulumi stack", hint);
  }
  const { resources = [] } = state;
  if (!Array.isArray(resources)) return refuse("the resources of this state are no list", "export the stack again");
  return { ok: true, value: resources.filter(isEntry).filter(isPresent).map(resourceOf), warnings: [] };
}

/** Below `deployment` in an export, below `checkpoint.latest` in a backend's file. */
function stateIn(data: unknown): Entry | null {
  if (!isEntry(data)) return null;
  if (isEntry(data["deployment"])) return data["deployment"];
  const checkpoint = data["checkpoint"];
  if (!isEntry(checkpoint)) return null;
  return isEntry(checkpoint["latest"]) ? checkpoint["latest"] : {};
}

/** A resource that has been replaced and is still to be deleted has a successor in the same state, and is passed over. */
function isPresent(entry: Entry): boolean {
  return entry["delete"] !== true && typeof entry["type"] === "string" && typeof entry["urn"] === "string";
}

function resourceOf(entry: Entry): PulumiResource {
  const { type, urn, provider, inputs, outputs } = entry;
  return {
    type: type as string,
    urn: urn as string,
    provider: typeof provider === "string" ? provider : null,
    properties: { ...(isEntry(inputs) ? inputs : {}), ...(isEntry(outputs) ? outputs : {}) },
  };
}

function refuse(message: string, help: string): Checked<never> {
  return { ok: false, diagnostics: [diagnostic("RD401", { path: "", message, help })] };
}
