import type { TestProject } from "vitest/node";

import { startOfficialEmulator, whyNot } from "./official-emulator.ts";
import { emulatorConfig } from "./portable-system.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Its connection string; null where it does not run. */
    officialServicebus: string | null;
  }
}

/** Provides Microsoft's emulator where it can run, and says whether it does. The one in the tests' process always does. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const report = (text: string): void => console.log(`[Service Bus] ${text}`);
  const reason = await whyNot();
  if (reason !== null) {
    report(`the emulator in the tests' process runs; Microsoft's does not: ${reason}`);
    project.provide("officialServicebus", null);
    return async () => {};
  }
  const official = await startOfficialEmulator(emulatorConfig);
  report("the emulator in the tests' process runs, and Microsoft's too");
  project.provide("officialServicebus", official.connectionString);
  return official.stop;
}
