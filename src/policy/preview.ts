import { hasUnknown } from "../foreign/pulumi-resource.ts";
import { refused } from "../diagnostics/render.ts";
import { isComponentType } from "./component.ts";
import { type ShownViolation, judge } from "./engine.ts";
import { type PolicyOptions, type SelectedRule, selectRules, settingsReader } from "./options.ts";
import { plannedProperties } from "./planned-properties.ts";
import type { Preview, PreviewedResource, SourcePosition } from "./preview/preview.ts";
import { takesPart } from "./resource-types.ts";
import { docsOfRule } from "./rule.ts";
import { today } from "./selection.ts";
import type { Stack, StackResource } from "./stack.ts";

export type PreviewViolation = ReturnType<typeof previewViolation>;

export type JudgedPreview = ReturnType<typeof judgePreview>;

/**
 * Judges a preview by the rules of the policy pack, and by the rules on changes, which Pulumi does not show to a pack.
 *
 * @param stackTags the stack's own tags, which are not in a preview
 * @throws RefusedError with the rendered diagnostics (RD901 to RD903) where the options are wrong
 */
export function judgePreview(preview: Preview, options: PolicyOptions, stackTags: ReadonlyMap<string, string>) {
  const selected = selectRules(options);
  if (!selected.ok) throw refused(selected.diagnostics);
  const stack = stackOf(preview, stackTags);
  const places = placesIn(preview);
  const violations = selected.value
    .filter(({ level }) => level !== "disabled")
    .flatMap((each) =>
      judge(each.rule, stack, settingsReader(each)(), today()).map((found) =>
        previewViolation(each, found, places[each.rule.kind === "change" ? "changes" : "resources"]),
      ),
    );
  const own = preview.resources.filter(({ type }) => takesPart(type));
  const unknown = own.filter(({ inputs, outputs }) => hasUnknown(inputs) || hasUnknown(outputs));
  return {
    /** How many resources rules were asked about. */
    judged: own.length,
    /** The names of those with values that only the update knows. */
    unknown: unknown.map(({ name }) => name),
    violations,
  };
}

type Places = ReadonlyMap<string, Pick<PreviewedResource, "name" | "type" | "urn" | "source">>;

function previewViolation({ rule, level }: SelectedRule, { text, urn }: ShownViolation, places: Places) {
  const place = places.get(urn ?? "");
  return {
    rule: rule.name,
    /** Mandatory stops a deployment. A violation that the policy pack mends in the update is advisory. */
    level: level === "mandatory" ? "mandatory" : "advisory",
    severity: rule.severity,
    /** The rule as one sentence. */
    description: rule.description,
    /** The fact, the reason and the fix: a line each. */
    message: level === "remediate" ? `${text}\nthe policy pack corrects it in the update` : text,
    /** The resource that it is about; null for the stack. */
    resource: place === undefined ? null : { name: place.name, type: place.type, urn: place.urn },
    /** The place where the program makes it or its parent; null if Pulumi does not know it. */
    source: place?.source ?? null,
    url: docsOfRule(rule),
  };
}

function placesIn({ resources, changes }: Preview): Readonly<Record<"resources" | "changes", Places>> {
  const byUrn = new Map(resources.map((resource) => [resource.urn, resource]));
  return {
    resources: new Map(resources.map((each) => [each.urn, { ...each, source: sourceOf(each, byUrn) }])),
    changes: new Map(changes.map((change) => [change.urn, change])),
  };
}

/** A resource that a package made has no place in the program, so that of its parent counts. */
function sourceOf(resource: PreviewedResource, byUrn: ReadonlyMap<string, PreviewedResource>): SourcePosition | null {
  const seen = new Set<PreviewedResource>();
  let at: PreviewedResource | undefined = resource;
  // A broken file may name a resource as its own parent.
  while (at !== undefined && at.source === null && !seen.has(at)) {
    seen.add(at);
    at = byUrn.get(at.parent);
  }
  return at?.source ?? null;
}

function stackOf({ resources, changes }: Preview, tags: ReadonlyMap<string, string>): Stack {
  const byUrn = new Map(resources.map((resource) => [resource.urn, resource]));
  return {
    // Pulumi asks no policy about a single resource that is only looked up.
    asked: resources
      .filter(({ isExternal }) => !isExternal)
      .map(({ type, urn, name, inputs, protect }) => ({ type, urn, name, properties: inputs, isProtected: protect })),
    resources: resources.filter(({ type }) => takesPart(type)).map((each) => stackResource(each, byUrn)),
    changes,
    staying: [
      ...changes.flatMap(({ isRetained, type, properties }) =>
        isRetained ? [{ type, properties, isLeft: true }] : [],
      ),
      ...resources.map(({ type, inputs }) => ({ type, properties: inputs, isLeft: false })),
    ],
    tags,
  };
}

function stackResource(resource: PreviewedResource, byUrn: ReadonlyMap<string, PreviewedResource>): StackResource {
  const { type, urn, name, inputs, outputs, parent, provider, isExternal, propertyDependencies } = resource;
  const known = Object.entries(propertyDependencies).map(([key, urns]) => [
    key,
    urns.filter((each) => byUrn.has(each)),
  ]);
  return {
    type,
    urn,
    name,
    // A reference is a URN and an id, with `::` between them. The id of the provider does not matter.
    provider: provider === "" ? null : `${provider.split("::").slice(0, -1).join("::")}::id`,
    properties: isExternal ? outputs : plannedProperties(type, outputs, inputs),
    propertyDependencies: Object.fromEntries(known) as Record<string, string[]>,
    isProved: isComponentType(byUrn.get(parent)?.type ?? ""),
  };
}
