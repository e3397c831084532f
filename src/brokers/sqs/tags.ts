import type { SqsTopology } from "./topology.ts";

/** What a tag tells of a resource, beside the system it belongs to. */
interface TagValues {
  readonly consumer?: string | null;
  readonly role?: string;
  readonly source?: string;
}

/** For bills, searches and access rules by tag: the target's own, and Redeliver's, which its prefix keeps apart. */
export function tagsOf({ system, tags }: SqsTopology, values: TagValues = {}): Readonly<Record<string, string>> {
  const own = Object.entries({ system, ...values }).flatMap(([key, value]) =>
    value === null || value === undefined ? [] : [[`redeliver:${key}`, value] as const],
  );
  return { ...tags, ...Object.fromEntries(own) };
}
