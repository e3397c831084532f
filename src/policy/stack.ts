import type { StayingResource } from "../brokers/broker.ts";
import type { PulumiResource } from "../foreign/pulumi-resource.ts";
import type { ResourceChange } from "./change.ts";
import type { AskedResource } from "./rule.ts";

/** A resource as it is after the update. */
export interface StackResource extends PulumiResource {
  /** The name that the program gave it. */
  readonly name: string;
  /** True if a component of Redeliver made it. Then its consumers are known, and it was proved with them. */
  readonly isProved: boolean;
}

/** A stack and its update, as plain data: all that rules judge. */
export interface Stack {
  /** The resources as the program asks for them. */
  readonly asked: readonly AskedResource[];
  /** The same resources after the update, and those that are only looked up. */
  readonly resources: readonly StackResource[];
  readonly changes: readonly ResourceChange[];
  /** The resources that are on the broker after the update. */
  readonly staying: readonly StayingResource[];
  /** The stack's own tags, which the backend keeps. */
  readonly tags: ReadonlyMap<string, string>;
}

/** For a skin that shows only a part of a stack. */
export const emptyStack: Stack = Object.freeze({
  asked: [],
  resources: [],
  changes: [],
  staying: [],
  tags: new Map<string, string>(),
});
