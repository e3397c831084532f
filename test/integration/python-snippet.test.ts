import { describe, test } from "vitest";

import { renderContractPage } from "../../src/report/contract-page/contract-page.ts";
import { runSnippet } from "../support/python-snippet.ts";
import {
  beginSlowly,
  deployForSnippet,
  expectContractKept,
  expectNothingLostByShutdown,
  type Plan,
  snippetCases,
} from "../support/snippet-course.ts";

const bodyOf = (id: string, plan: Plan): string => JSON.stringify({ id, plan });

const start = "import os\nsnippet.main(os.environ['AMQP_URL'])";
const withCelery = `import tasks\ntasks.work.run = handle\n${start}`;
const cases = snippetCases();
const runs = [
  ...cases.map((each) => ({ ...each, client: "pika", main: start })),
  // What it adds is the same whatever the strategy; this one takes delays that a task asks for.
  ...cases
    .filter(({ strategy }) => strategy === "waits")
    .map((each) => ({ ...each, client: "Celery", main: withCelery })),
];

// As it stands on the page, on every broker of this run with every strategy of AMQP 0-9-1 that it has.
describe("the snippets for Python", () => {
  test.concurrent.for(runs)(
    "$client keeps the contract, $name: attempts, delays, dead letters with all that they had; a shutdown costs nothing",
    async ({ main, ...each }, { expect, onTestFinished }) => {
      const system = await deployForSnippet(each);
      onTestFinished(async () => system.dispose());
      const page = renderContractPage(system.contract("billing"));
      const snippet = runSnippet(page, main, { AMQP_URL: system.url });
      onTestFinished(async () => snippet.stop());
      const driven = { system, bodyOf, runs: () => snippet.runs, log: snippet.log };
      await expectContractKept(driven);
      await beginSlowly(driven);
      expect(await snippet.terminate()).toBe(0);
      await expectNothingLostByShutdown(driven);
    },
  );
});
