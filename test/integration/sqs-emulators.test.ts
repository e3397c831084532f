import { describe, expect, onTestFinished, test } from "vitest";

import { startServer } from "../support/sqs/emulator-process.ts";
import { emulatorNames } from "../support/sqs/emulators.ts";
import type { Experiment } from "../support/sqs/experiment.ts";
import { fifoExperiments } from "../support/sqs/fifo-experiments.ts";
import { type ClaimName, claimNames, claims, expectedOn, gapOf, proofOf } from "../support/sqs/known-gaps.ts";
import { createLab } from "../support/sqs/lab.ts";
import { sqsEmulators } from "../support/sqs/live-emulators.ts";
import { redriveExperiments } from "../support/sqs/redrive-experiments.ts";
import { refusalExperiments } from "../support/sqs/refusal-experiments.ts";
import { topicExperiments } from "../support/sqs/topic-experiments.ts";
import { visibilityExperiments } from "../support/sqs/visibility-experiments.ts";

// Every claim has an experiment and every experiment has a claim. The compiler checks both.
const experiments: Readonly<Record<ClaimName, Experiment>> = {
  ...redriveExperiments,
  ...visibilityExperiments,
  ...fifoExperiments,
  ...refusalExperiments,
  ...topicExperiments,
} satisfies Record<ClaimName, Experiment>;

// Concurrent, because an experiment mostly waits for visibility timeouts.
describe.concurrent.each(sqsEmulators())("SQS on $name $version", (emulator) => {
  for (const name of claimNames) {
    const gap = gapOf(name, emulator.name);
    const note = gap === undefined ? "" : ` (known gap: ${emulator.name} ${gap.does})`;
    test(`${name}: ${claims[name].says}${note}`, async ({ onTestFinished }) => {
      const lab = createLab(emulator);
      onTestFinished(async () => lab.dispose());
      const observed = await experiments[name](lab);
      // A known gap that an emulator has closed fails here too. Then remove its entry from known-gaps.ts.
      expect(observed).toEqual(expectedOn(name, emulator.name));
    });
  }
});

describe("the table of gaps", () => {
  test("says which emulator proves a claim", () => {
    expect(proofOf("moves-on-next-receive")).toBe("proved on elasticmq, moto");
    expect(proofOf("change-beyond-12h")).toBe("proved on moto");
    expect(proofOf("allow-policy-by-queue")).toBe("static only");
  });

  test("has no gap in which an emulator acts like AWS", () => {
    const empty = claimNames.filter((name) =>
      emulatorNames.some(
        (emulator) => JSON.stringify(gapOf(name, emulator)?.observed) === JSON.stringify(claims[name].aws),
      ),
    );
    expect(empty).toEqual([]);
  });
});

describe("starting a server", () => {
  const failing = (script: string, timeoutMs = 10_000) =>
    startServer({
      name: "the server",
      command: process.execPath,
      arguments: ["--eval", script],
      portInLog: /port (\d+)/,
      readyPath: "/",
      timeoutMs,
    });

  test("a server that ends shows the reason, with the end of its log", async () => {
    await expect(failing("console.error('no room'); process.exit(3)")).rejects.toThrow(
      /the server did not start: it ended with code 3\nno room/,
    );
  });

  test("a silent server is given up and ended", async () => {
    await expect(failing("setTimeout(() => {}, 60_000)", 300)).rejects.toThrow(/it does not answer in time/);
  });

  test("a missing command is named", async () => {
    const starting = startServer({
      name: "the server",
      command: "no-such-command",
      arguments: [],
      portInLog: /x/,
      readyPath: "/",
    });
    await expect(starting).rejects.toThrow(/no-such-command/);
  });

  test("a server that answers is stopped by its handle", async () => {
    const server = await failing(
      "const s = require('http').createServer((_, r) => r.end('ok')).listen(0, '127.0.0.1', () => console.log('port', s.address().port))",
    );
    onTestFinished(async () => server.stop());
    expect((await fetch(server.endpoint)).status).toBe(200);
    await server.stop();
    await expect(fetch(server.endpoint)).rejects.toThrow();
  });
});
