import type { PathSegment } from "../diagnostics/diagnostic.ts";

/** The parts of the broker that others own and a compiled system assumes. */
export interface Assumed<System> {
  /** The system without any of them. */
  readonly own: System;
  readonly parts: readonly AssumedPart<System>[];
}

export interface AssumedPart<System> {
  /** Its place in the target. */
  readonly path: readonly PathSegment[];
  /** The part for a sentence, such as `the policy limits`. */
  readonly what: string;
  /** The system with no other of these parts. */
  readonly only: System;
}
