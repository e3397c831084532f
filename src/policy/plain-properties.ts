import type { Entry } from "../brokers/entries.ts";
import { unknownText } from "../brokers/pulumi-resource.ts";

/**
 * A resource's properties as plain data.
 *
 * A policy gets them behind a proxy that throws where a value is read that a preview does not know, which would end the whole rule.
 * Here such a value becomes the text that stands for it in a stack's state, so that everything else can be judged.
 */
export function plainProperties(properties: object): Entry {
  return plainCopy(properties) as Entry;
}

function plainCopy(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return Array.from({ length: value.length }, (_, index) => read(value, index));
  return Object.fromEntries(Object.keys(value).map((key) => [key, read(value, key)]));
}

/** Nothing but an unknown value throws when it is read. Source: `unknownCheckingProxy` of @pulumi/policy 1.21. */
function read(holder: object, key: string | number): unknown {
  let value: unknown;
  try {
    value = (holder as Record<string | number, unknown>)[key];
  } catch {
    return unknownText;
  }
  return plainCopy(value);
}
