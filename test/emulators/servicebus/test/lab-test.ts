import { test as plain } from "vitest";

import { startLab } from "../src/lab.ts";

/** A test with an emulator of its own. */
export const test = plain.extend("lab", async ({ task: _task }, { onCleanup }) => startLab(onCleanup));
