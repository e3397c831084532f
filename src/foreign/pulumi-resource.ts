import { type Entry, isEntry } from "./entries.ts";

/** A resource as a stack's state has it, or as a policy pack gets it. */
export interface PulumiResource {
  readonly type: string;
  readonly urn: string;
  /** The URN and the id of its provider. Null if unknown. */
  readonly provider: string | null;
  /** Its outputs, or its inputs if there are no outputs yet. */
  readonly properties: Entry;
  /** The program's inputs alone, if a state has them. */
  readonly inputs?: Entry;
  /** True if the program only reads it, so that another one owns it. */
  readonly isExternal?: true;
  /** True if Pulumi has to be forced to delete it. */
  readonly isProtected?: true;
  /** For each property that the program gave, the URNs of the resources behind its value, if known. */
  readonly propertyDependencies?: Readonly<Record<string, readonly string[]>>;
}

/** How Pulumi marks an object as a secret. Source: `resource.SigKey`. */
const signatureKey = "4dabf18193072939515e22adb298388d";
/** The text that stands for a value that only a deployment reveals. Source: `plugin.UnknownStringValue`. */
export const unknownText = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/** True if a value is a secret, or unknown before the deployment. */
export function isUnreadable(value: unknown): boolean {
  return value === unknownText || (isEntry(value) && signatureKey in value);
}

/** True if the value contains one that only the update will know. */
export function hasUnknown(value: unknown): boolean {
  if (value === unknownText) return true;
  return typeof value === "object" && value !== null && Object.values(value).some(hasUnknown);
}

/**
 * The last part of a URN is the name that the program gave:
 * `urn:pulumi:prod::shop::rabbitmq:index/queue:Queue::orders`.
 */
export function nameIn(urn: string): string {
  return urn.split("::").at(-1) ?? urn;
}

/** A provider reference is a URN and an id, with `::` between them. */
export function providerName(provider: string | null): string {
  return provider?.split("::").at(-2) ?? "default";
}

/** A unique name for each provider: programs may give one name to several providers, in components. */
export function providerNames(resources: readonly PulumiResource[]): ReadonlyMap<string | null, string> {
  const names = new Map<string | null, string>();
  const taken = new Set<string>();
  for (const { provider } of resources) {
    if (names.has(provider)) continue;
    const own = providerName(provider);
    let name = own;
    for (let number = 2; taken.has(name); number++) name = `${own}-${number}`;
    taken.add(name);
    names.set(provider, name);
  }
  return names;
}
