import type { Entry } from "../../foreign/entries.ts";
import type { ResourceChange } from "../change.ts";
import type { AskedResource } from "../rule.ts";

/** An update, as far as `pulumi preview` knows it. */
export interface Preview {
  /** Everything that is in the stack after the update. */
  readonly resources: readonly PreviewedResource[];
  readonly changes: readonly PreviewedChange[];
}

export interface PreviewedChange extends ResourceChange {
  readonly source: SourcePosition | null;
}

export interface PreviewedResource extends Pick<AskedResource, "type" | "urn" | "name"> {
  /** The text for unknown values stands in the place of an unknown or secret value. */
  readonly inputs: Entry;
  /** The properties at the provider after the update, in the same form. */
  readonly outputs: Entry;
  /** URNs: empty texts where there is none. */
  readonly parent: string;
  readonly provider: string;
  readonly protect: boolean;
  /** True if it is only looked up. Pulumi then asks no policy about it alone. */
  readonly isExternal: boolean;
  readonly propertyDependencies: Readonly<Record<string, readonly string[]>>;
  /** Where the program made it; null where Pulumi does not say. */
  readonly source: SourcePosition | null;
}

export interface SourcePosition {
  /** From the folder of `Pulumi.yaml`, or absolute. */
  readonly path: string;
  readonly line: number;
  readonly column: number;
}
