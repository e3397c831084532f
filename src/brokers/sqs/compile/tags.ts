import type { SqsTopology } from "./topology.ts";

/** The tags of one resource, beside the tag of its system. */
export interface TagValues {
  readonly consumer?: string | null;
  readonly role?: string;
  readonly source?: string;
}

/** The tags for bills, searches and access rules: the target's own, and Redeliver's with their own prefix. */
export function tagsOf({ system, tags }: SqsTopology, values: TagValues = {}): Readonly<Record<string, string>> {
  const own = Object.entries({ system, ...values }).flatMap(([key, value]) =>
    value === null || value === undefined ? [] : [[`redeliver:${key}`, value] as const],
  );
  return { ...tags, ...Object.fromEntries(own) };
}
