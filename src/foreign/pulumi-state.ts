import { type Checked, accepted, refuseWhole, refusedFor } from "../diagnostics/diagnostic.ts";
import { type Entry, isEntry } from "./entries.ts";
import { parseJson } from "./parse-json.ts";
import type { PulumiResource } from "./pulumi-resource.ts";

/**
 * Reads the output of `pulumi stack export`, or the file in which a self-managed backend keeps a stack.
 *
 * Values that the provider read from the broker go before the program's inputs. Source: `apitype.UntypedDeployment`,
 * `apitype.ResourceV3`, `apitype.CheckpointV3` of Pulumi.
 *
 * @returns every resource of the stack, of any provider
 */
export function readPulumiState(text: string): Checked<readonly PulumiResource[]> {
  const parsed = parseJson(text, "the stack");
  if (!parsed.ok) return parsed;
  const state = stateIn(parsed.value);
  if (state === null) {
    const hint = hintFor(isEntry(parsed.value) ? parsed.value : {});
    return refuseWhole("RD401", "this is JSON, but not the state of a Pulumi stack", hint);
  }
  const { resources = [] } = state;
  if (!Array.isArray(resources))
    return refuseWhole("RD401", "the resources of this state are no list", "export the stack again");
  const broken = resources.findIndex((each) => !isEntry(each) || !isTold(each));
  if (broken !== -1) {
    const problem = { path: ["resources", broken], message: "a resource of this state has no type or no urn" };
    return refusedFor("RD402", { ...problem, help: "export the stack again" });
  }
  // A replaced resource that waits for its deletion has a successor in the same state, so it is skipped.
  const present = resources.filter(isEntry).filter((each) => each["delete"] !== true);
  return accepted(present.map(resourceOf));
}

function hintFor(data: Entry): string {
  if ("rabbitmq_version" in data || "rabbit_version" in data)
    return "this looks like a definitions file: read it with --definitions";
  if ("terraform_version" in data) return "this looks like a state of Terraform: read it with --terraform-state";
  return "write one with pulumi stack export --file state.json";
}

/** In an export it is below `deployment`, and in a backend's file below `checkpoint.latest`. */
function stateIn(data: unknown): Entry | null {
  if (!isEntry(data)) return null;
  if (isEntry(data["deployment"])) return data["deployment"];
  const checkpoint = data["checkpoint"];
  if (!isEntry(checkpoint)) return null;
  return isEntry(checkpoint["latest"]) ? checkpoint["latest"] : {};
}

function isTold({ type, urn }: Entry): boolean {
  return typeof type === "string" && typeof urn === "string";
}

function resourceOf(entry: Entry): PulumiResource {
  const { type, urn, provider, id, inputs, outputs } = entry;
  return {
    type: type as string,
    urn: urn as string,
    ...(isEntry(inputs) ? { inputs } : {}),
    ...(entry["external"] === true ? { isExternal: true as const } : {}),
    ...(entry["protect"] === true ? { isProtected: true as const } : {}),
    provider: typeof provider === "string" ? provider : null,
    properties: {
      ...(typeof id === "string" ? { id } : {}),
      ...(isEntry(inputs) ? inputs : {}),
      ...(isEntry(outputs) ? outputs : {}),
    },
  };
}
