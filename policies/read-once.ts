import { createRequire } from "node:module";

/** What reads a resource's properties out of a request. Source: `deserializeProperties` in @pulumi/policy 1.21. */
interface Reader {
  deserializeProperties: (properties: object, keepsSecrets: boolean) => object;
}

/**
 * Lets Pulumi's host read each resource of a request once for all rules, and not once for each, which with 5,000 resources was a third of
 * its work (`bench/policy.ts`).
 *
 * What is read is the same object for all of them, so this is for a pack whose rules change nothing that they are shown, as ours: a
 * remediation, which does, is given what was read for it alone. The host offers nothing for it. Where a version of it reads in another way,
 * everything stays as the host does it.
 */
export function readResourcesOnce(): void {
  const reader = readerOfHost();
  if (typeof reader?.deserializeProperties !== "function") return;
  const read = reader.deserializeProperties.bind(reader);
  const known = new WeakMap<object, object>();
  reader.deserializeProperties = (properties, keepsSecrets) => {
    if (keepsSecrets) return read(properties, keepsSecrets);
    const before = known.get(properties);
    if (before !== undefined) return before;
    const value = read(properties, keepsSecrets);
    known.set(properties, value);
    return value;
  };
}

/** Undefined where the host has no such part. */
function readerOfHost(): Reader | undefined {
  try {
    return createRequire(import.meta.url)("@pulumi/policy/deserialize") as Reader;
  } catch {
    return undefined;
  }
}
