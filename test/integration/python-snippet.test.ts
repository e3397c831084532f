import { describe, expect, test } from "vitest";

import { pageOf } from "../support/contract-page.ts";
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

const start = "snippet.main()";
const withCelery = `import tasks\ntasks.work.run = handle\n${start}`;
const cases = snippetCases();
const runs = [
  ...cases.map((each) => ({ ...each, client: "pika", main: start })),
  // The wrapper adds the same under every strategy. This strategy takes the delays that a task asks for.
  ...cases
    .filter(({ strategy }) => strategy === "waits")
    .map((each) => ({ ...each, client: "Celery", main: withCelery })),
];

// The snippet from the page, on every broker of this run, with every strategy of AMQP 0-9-1.
describe("the snippets for Python", () => {
  test.concurrent.for(runs)(
    "$client keeps the contract, $name: attempts, delays, complete dead letters; a shutdown costs no attempt",
    async ({ main, ...each }, { onTestFinished }) => {
      const system = await deployForSnippet(each);
      onTestFinished(async () => system.dispose());
      const page = pageOf(system.contract("billing"));
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
