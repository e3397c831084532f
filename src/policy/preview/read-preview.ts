import { type Entry, isEntry } from "../../foreign/entries.ts";
import { parseJson } from "../../foreign/parse-json.ts";
import { nameIn } from "../../foreign/pulumi-resource.ts";
import { type Checked, type Diagnostic, accepted, diagnostic, refuseWhole } from "../../diagnostics/diagnostic.ts";
import type { Preview, PreviewedChange, PreviewedResource } from "./preview.ts";
import { outputsOf } from "./outputs.ts";
import { parseSourcePosition } from "./source-position.ts";
import { type PreviewStep, propertiesOf, stepsIn, textsIn } from "./step.ts";
import { wordOf } from "../../diagnostics/word-of.ts";

/** Steps that remove an existing resource. Source: `StepOp` in `pkg/resource/deploy/step.go` of Pulumi. */
const deletions: Readonly<Record<string, PreviewedChange["kind"]>> = {
  delete: "delete",
  replace: "replace",
  "create-replacement": "replace",
  "delete-replaced": "replace",
  "import-replacement": "replace",
};

/**
 * Reads the output of `pulumi preview --json --show-sames`.
 *
 * Source: `PreviewDigest` in `pkg/display/json.go` and `ShowPreviewDigest` in `pkg/backend/display/json.go` of Pulumi.
 * docs/policy-in-ci.md lists the parts that Redeliver uses.
 *
 * @returns the stack after the update; refused where the text has another form (RD904), or a part of the stack is
 *   missing (RD905)
 */
export function readPreview(text: string): Checked<Preview> {
  const parsed = parseJson(text, "the preview");
  if (!parsed.ok) {
    const isStream = /^\s*\{.*\}\s*\n\s*\{/.test(text.slice(0, 100_000));
    return isStream ? refuseWhole("RD904", "this is a stream of events, not one document", unsetStreaming) : parsed;
  }
  const digest = parsed.value;
  if (!isEntry(digest) || !isDigest(digest))
    return refuseWhole(
      "RD904",
      "this is JSON, but not the output of pulumi preview --json",
      "run pulumi preview --json --show-sames",
    );
  const steps = stepsIn(digest["steps"]);
  if (steps === null) {
    const help = "use a version of Redeliver that knows this version of Pulumi";
    return refuseWhole("RD904", "a step of this preview has an unknown form", help);
  }
  const missing = missingIn(digest, steps);
  if (missing !== null) return { ok: false, diagnostics: [missing] };
  const resources = resourcesAfter(steps);
  const urns = new Set(resources.map(({ urn }) => urn));
  // A resource that a refresh did not find has a step that deletes it, and another that makes it again.
  const changes = changesIn(steps).filter(({ kind, urn }) => kind === "replace" || !urns.has(urn));
  return accepted({ resources, changes });
}

const unsetStreaming = "unset PULUMI_ENABLE_STREAMING_JSON_PREVIEW for pulumi preview --json --show-sames";

/** A failed preview has no steps, and a state has none of these keys. */
function isDigest(digest: Entry): boolean {
  return Array.isArray(digest["steps"]) || "changeSummary" in digest || Array.isArray(digest["diagnostics"]);
}

/**
 * Every resource has to be there: other resources name a dead-letter queue, so a missing one makes a violation wrong.
 */
function missingIn(digest: Entry, steps: readonly PreviewStep[]): Diagnostic | null {
  const { diagnostics, changeSummary } = digest;
  const failure = (Array.isArray(diagnostics) ? diagnostics : [])
    .filter(isEntry)
    .find(({ severity }) => severity === "error");
  if (failure !== undefined) {
    const [message = ""] = wordOf(failure["message"] ?? "")
      .trim()
      .split("\n");
    return incomplete(
      `the preview failed: ${message}`,
      "correct the errors that pulumi preview reports, and run it again",
    );
  }
  if (!isEntry(changeSummary)) return incomplete("the preview did not finish", "run it again, and read its messages");
  const wanted = Number(changeSummary["same"] ?? 0);
  const shown = steps.filter(({ op }) => op === "same").length;
  if (shown >= wanted) return null;
  const message = `${wanted - shown} of the ${wanted} unchanged resources are not in it`;
  return incomplete(message, "run pulumi preview --json --show-sames");
}

function incomplete(message: string, help: string): Diagnostic {
  return diagnostic("RD905", { path: "", message, help });
}

/** A replacement has two or three steps: the last one with a new state counts. */
function resourcesAfter(steps: readonly PreviewStep[]): readonly PreviewedResource[] {
  const resources = steps.flatMap((step) => {
    const { op, urn, newState } = step;
    // A resource that was only read for a moment, or that is replaced, is not in the stack afterwards.
    if (newState === null || newState["delete"] === true || op.startsWith("discard") || op.startsWith("delete"))
      return [];
    return [[urn, resourceOf(step, newState)] as const];
  });
  return [...new Map(resources).values()];
}

function resourceOf(step: PreviewStep, state: Entry): PreviewedResource {
  const { type, parent, provider, protect, propertyDependencies, sourcePosition } = state;
  const named = isEntry(propertyDependencies) ? propertyDependencies : {};
  return {
    urn: step.urn,
    type: type as string,
    name: nameIn(step.urn),
    inputs: propertiesOf(state["inputs"]),
    outputs: outputsOf(step, state),
    parent: typeof parent === "string" ? parent : "",
    provider: typeof provider === "string" ? provider : "",
    protect: protect === true,
    isExternal: state["external"] === true,
    propertyDependencies: Object.fromEntries(Object.entries(named).map(([key, urns]) => [key, textsIn(urns)])),
    source: parseSourcePosition(sourcePosition),
  };
}

function changesIn(steps: readonly PreviewStep[]): readonly PreviewedChange[] {
  const changes = new Map<string, PreviewedChange>();
  const leaving = new Set(steps.flatMap(({ op, urn }) => (deletions[op] === undefined ? [] : [urn])));
  for (const step of steps) {
    const { op, urn, oldState, newState, replaceReasons } = step;
    const kind = deletions[op];
    if (kind === undefined || oldState === null || oldState["external"] === true) continue;
    const key = `${kind} ${urn}`;
    const known = changes.get(key);
    const { type, retainOnDelete, deletedWith, sourcePosition } = oldState;
    changes.set(key, {
      kind,
      urn,
      type: type as string,
      name: nameIn(urn),
      properties: { ...propertiesOf(oldState["inputs"]), ...propertiesOf(oldState["outputs"]) },
      isRetained: retainOnDelete === true || (typeof deletedWith === "string" && leaving.has(deletedWith)),
      reasons: [...new Set([...(known?.reasons ?? []), ...replaceReasons])],
      source: parseSourcePosition(newState?.["sourcePosition"]) ?? known?.source ?? parseSourcePosition(sourcePosition),
    });
  }
  return [...changes.values()];
}
