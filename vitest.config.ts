import { fileURLToPath } from "node:url";
import { defineConfig, type ViteUserConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const sourceFile = (path: string): string => fileURLToPath(new URL(`src/${path}`, import.meta.url));

/** `npm test` leaves these out: they take longest, and a change that breaks only them is rare. They need no broker. */
const thoroughTests = [
  // A browser, the build of the site, and an installation of the packed package.
  "test/docs/{package,page,site}.test.ts",
  // Policy packs in processes of their own.
  "test/policy/{command,engine,host,read-once}.test.ts",
  // Properties of thousands of cases, and every mutant.
  "test/property/{bad-inputs,series,state-key}.test.ts",
  "test/property/*{audit-exact,deployment-changes,mutations}*.test.ts",
];
const liveTests = ["test/integration/**/*.test.ts", "test/differential/**/*.test.ts"];
/** These need the emulators of SQS, and no Docker. */
const sqsTests = ["test/integration/sqs-*.test.ts"];
/** These start a PostgreSQL and a Redis of their own, and need nothing else. */
const storeTests = ["test/integration/stores-*.test.ts"];
/** These start an emulator of Service Bus in their own process, and need nothing; some of them run on Microsoft's as well, where it can run. */
const servicebusTests = ["test/integration/servicebus-*.test.ts"];
/** A workspace with tests of its own. They need nothing else. */
const emulatorTests = ["test/emulators/servicebus/test/*.test.ts"];

/** The longest first. */
const longTests = (
  "consume-cluster-faults dead-taking deployment-changes migrate-upgrade sqs-dead-killed sqs-dead servicebus-dead servicebus-migrate dead-redrive " +
  "dead-journal sqs-migrate dead-faults migrate-apply shared-tiers sqs-dead-taking migrate-back diff consume-cluster"
)
  .split(" ")
  .map((name) => `test/integration/${name}.test.ts`);

/**
 * Starts the longest files of a project first. A fresh clone knows no times of earlier runs, and begins with the largest
 * files. So a small file that takes ten minutes would begin when the other worker has nothing left to do.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const index = longTests.findIndex((file) => moduleId.endsWith(file));
      return index === -1 ? longTests.length : index;
    };
    const projects = Map.groupBy(await super.sort(files), ({ project }) => project);
    return [...projects.values()].flatMap((each) => each.toSorted((one, other) => place(one) - place(other)));
  }
}

const withoutBroker = {
  // Properties look at hundreds of systems, also on a machine that does something else beside.
  testTimeout: 120_000,
  // A policy pack is started as a process of its own.
  hookTimeout: 120_000,
  maxWorkers: 2,
};

const withServicebusEmulator = {
  testTimeout: 240_000,
  hookTimeout: 60_000,
  // They wait more than they work: two leave more than half of two cores idle.
  maxWorkers: 3,
  maxConcurrency: 12,
  sequence: { groupOrder: 3 },
};

const config: ViteUserConfig = defineConfig({
  resolve: {
    alias: [
      { find: /^redeliver$/, replacement: sourceFile("index.ts") },
      { find: /^redeliver\/consume$/, replacement: sourceFile("consume/index.ts") },
      { find: /^redeliver\/operate$/, replacement: sourceFile("dead-letters/index.ts") },
      { find: /^redeliver\/opentelemetry$/, replacement: sourceFile("consume/opentelemetry.ts") },
      { find: /^redeliver\/pulumi$/, replacement: sourceFile("brokers/rabbitmq/make/index.ts") },
      { find: /^redeliver\/pulumi\/sqs$/, replacement: sourceFile("brokers/sqs/make/index.ts") },
      { find: /^redeliver\/pulumi\/servicebus$/, replacement: sourceFile("brokers/servicebus/make/index.ts") },
      { find: /^redeliver\/policy$/, replacement: sourceFile("policy/index.ts") },
    ],
  },
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          ...withoutBroker,
          name: "fast",
          include: ["test/**/*.test.ts"],
          exclude: [...liveTests, ...emulatorTests, ...thoroughTests],
        },
      },
      {
        extends: true,
        test: { ...withoutBroker, name: "thorough", include: thoroughTests },
      },
      {
        extends: true,
        test: {
          name: "live",
          include: liveTests,
          exclude: [...sqsTests, ...servicebusTests, ...storeTests],
          globalSetup: "test/support/live-setup.ts",
          testTimeout: 300_000,
          hookTimeout: 300_000,
          // They wait more than they work.
          maxWorkers: 3,
          // After the fast tests: what measures time on a broker must not compete with them for the processor.
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: "live-sqs",
          include: sqsTests,
          globalSetup: "test/support/sqs/emulator-setup.ts",
          testTimeout: 240_000,
          // They wait more than they work, as those of Service Bus.
          maxWorkers: 3,
          maxConcurrency: 12,
          // After the brokers' tests, for the same reason.
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: {
          ...withServicebusEmulator,
          name: "live-servicebus",
          include: servicebusTests,
          globalSetup: "test/support/servicebus/emulator-setup.ts",
        },
      },
      {
        extends: true,
        test: { ...withServicebusEmulator, name: "servicebus-emulator", include: emulatorTests },
      },
      {
        extends: true,
        test: {
          name: "live-stores",
          include: storeTests,
          testTimeout: 60_000,
          hookTimeout: 120_000,
          maxWorkers: 2,
          sequence: { groupOrder: 4 },
        },
      },
    ],
  },
});

export default config;
