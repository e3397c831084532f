import type { TestProject } from "vitest/node";
import { startEmulators } from "./emulators.ts";

/** Provides the emulators of the SQS tests for all files of a run. It needs neither Docker nor a broker. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const startedAt = performance.now();
  const started = await startEmulators();
  for (const { name, version, endpoint } of started) {
    const elapsedSeconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    console.log(`[emulators ${elapsedSeconds} s] ${name} ${version} answers at ${endpoint}`);
  }
  project.provide(
    "sqsEmulators",
    started.map(({ name, version, endpoint }) => ({ name, version, endpoint })),
  );
  return async () => {
    await Promise.all(started.map(async ({ stop }) => stop()));
  };
}
