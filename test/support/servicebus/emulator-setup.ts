import type { TestProject } from "vitest/node";

import { exportEmulatorConfig } from "../../../src/brokers/servicebus/make/export.ts";
import { startOfficialEmulator, whyNot } from "./official-emulator.ts";
import { behaviours, notOnMicrosofts, sharedBehaviours } from "./behaviours/all-behaviours.ts";
import { sharedTopology } from "./deploy-behaviour.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Its connection string; null if it does not run. */
    officialServicebus: string | null;
  }
}

/**
 * Provides Microsoft's emulator if it can run, and reports the tests that run on it. The one in the tests' process
 * always runs.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const report = (text: string): void => console.log(`[Service Bus] ${text}`);
  report(`the emulator in the tests' process runs ${Object.keys(behaviours).length} behaviours`);
  const reason = await whyNot();
  if (reason !== null) {
    report(`Microsoft's emulator does not run: ${reason}`);
    project.provide("officialServicebus", null);
    return async () => {};
  }
  const official = await startOfficialEmulator(exportEmulatorConfig(sharedTopology()));
  report(`Microsoft's emulator runs ${sharedBehaviours.length} of them`);
  for (const [name, why] of Object.entries(notOnMicrosofts)) report(`not there, since ${why}: ${name}`);
  project.provide("officialServicebus", official.connectionString);
  return official.stop;
}
