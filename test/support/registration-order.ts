import { expect } from "vitest";

import type { ProgramRun, RegisteredResource } from "./pulumi.ts";

/** The resources that must exist before a resource, direct and indirect, by their URNs. */
export function before({ resources }: ProgramRun, resource: RegisteredResource): ReadonlySet<string> {
  const byUrn = new Map(resources.map((each) => [each.urn, each]));
  const found = new Set<string>();
  const visit = (urn: string): void => {
    if (found.has(urn)) return;
    found.add(urn);
    for (const dependency of byUrn.get(urn)?.dependencies ?? []) visit(dependency);
  };
  for (const dependency of resource.dependencies) visit(dependency);
  return found;
}

/** No resource comes before one that it depends on. */
export function expectInOrder({ resources }: ProgramRun): void {
  const seen = new Set<string>();
  for (const { urn, name, dependencies } of resources) {
    const missing = dependencies.filter((dependency) => !seen.has(dependency));
    expect(missing, name).toEqual([]);
    seen.add(urn);
  }
}
