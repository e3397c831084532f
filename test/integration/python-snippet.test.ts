import { describe, onTestFinished, test } from "vitest";

import { renderContractPage } from "../../src/report/contract-page/contract-page.ts";
import { runSnippet } from "../support/python-snippet.ts";
import { deployForSnippet, expectContractKept, type Plan, snippetCases } from "../support/snippet-course.ts";

const bodyOf = (id: string, plan: Plan): string => JSON.stringify({ id, plan });

// As it stands on the page, on every broker of this run with every strategy of AMQP 0-9-1 that it has.
describe.each(snippetCases())("the snippet for pika, $name", (each) => {
  test("keeps the contract: attempts, delays, dead letters with all that they had", async () => {
    const system = await deployForSnippet(each);
    onTestFinished(async () => system.dispose());
    const page = renderContractPage(system.contract("billing"));
    const snippet = runSnippet(page, "import os\nsnippet.main(os.environ['AMQP_URL'])", { AMQP_URL: system.url });
    onTestFinished(async () => snippet.stop());
    await expectContractKept({ system, bodyOf, runs: () => snippet.runs, log: snippet.log });
  });
});
