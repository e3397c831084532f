import type { Entry } from "../../brokers/entries.ts";
import type { ResourceChange } from "../change.ts";
import type { Severity } from "../rule.ts";

/** What an update is going to do, as far as `pulumi preview` knows it. */
export interface Preview {
  /** Everything that is in the stack after the update. */
  readonly resources: readonly PreviewedResource[];
  readonly changes: readonly PreviewedChange[];
}

export interface PreviewedChange extends ResourceChange {
  readonly source: SourcePosition | null;
}

/** A resource as it is going to be. */
export interface PreviewedResource {
  readonly urn: string;
  readonly type: string;
  /** The name that the program gave it. */
  readonly name: string;
  /** What the program asks for. What a preview does not know, or is a secret, has the text that stands for unknown values. */
  readonly inputs: Entry;
  /** What there is going to be at the provider, in the same way. */
  readonly outputs: Entry;
  /** URNs: empty texts where there is none. */
  readonly parent: string;
  readonly provider: string;
  readonly protect: boolean;
  /** Whether it is only looked up: then no policy is asked about it by itself. */
  readonly isExternal: boolean;
  readonly dependencies: readonly string[];
  readonly propertyDependencies: Readonly<Record<string, readonly string[]>>;
  /** Where the program made it; null where Pulumi does not say. */
  readonly source: SourcePosition | null;
}

/** Where a program made a resource. */
export interface SourcePosition {
  /** From the folder of `Pulumi.yaml`, or absolute. */
  readonly path: string;
  readonly line: number;
  readonly column: number;
}

/** What a rule says of a preview. */
export interface PreviewViolation {
  /** The rule's name. */
  readonly rule: string;
  /** Mandatory stops a deployment, advisory does not; what the policy pack mends in the update is advisory. */
  readonly level: "advisory" | "mandatory";
  readonly severity: Severity;
  /** What has to be so. */
  readonly description: string;
  /** What is not so, why, and the fix: a line each. */
  readonly message: string;
  /** The resource that it is about; null for the stack. */
  readonly resource: { readonly name: string; readonly type: string; readonly urn: string } | null;
  /** Where the program makes it, or what it belongs to; null where Pulumi does not say. */
  readonly source: SourcePosition | null;
  /** The rule's page. */
  readonly url: string;
}

export interface JudgedPreview {
  /** How many resources rules were asked about. */
  readonly judged: number;
  /** The names of those of which not everything is known before the update. */
  readonly unknown: readonly string[];
  readonly violations: readonly PreviewViolation[];
}
