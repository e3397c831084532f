import { inject } from "vitest";
import type { SqsEmulator } from "./emulators.ts";

declare module "vitest" {
  interface ProvidedContext {
    sqsEmulators: readonly SqsEmulator[];
  }
}

/** The emulators of this run: one of each kind, or the one that the environment names. All test files share them. */
export function sqsEmulators(): readonly SqsEmulator[] {
  return inject("sqsEmulators");
}
