import { basename } from "node:path";
import { expect, test } from "vitest";

import { filesOf, pageOf, pagesFor } from "../support/contract-page.ts";
import { pageCases } from "../support/contract-page-cases.ts";

// The page for other languages and frameworks. Review every change: users copy this text.

test.for(pageCases)("%s", async ([name, contract]) => {
  // Review the files where they are.
  const page = pageOf(contract, () => "");
  await expect(page).toMatchFileSnapshot(`contract-pages/${name}.md`);
});

/** These lie in the files of their clients, so that people can compile and run them there. */
const examples = new Set(["rabbitmq-native", "rabbitmq-deferred", "sqs-fifo", "servicebus-in-order"]);

test.for(pageCases.filter(([name]) => examples.has(name)))(
  "the files of %s have a contract embedded without any change",
  async ([, contract]) => {
    const shown = filesOf(pageOf(contract));
    const files = pagesFor(contract)
      .clientsOf(contract)
      .flatMap((client) => client.files ?? []);
    expect(shown.size).toBeGreaterThan(1);
    expect(shown.size).toBe(files.length);
    for (const file of files) await expect(shown.get(basename(file))).toMatchFileSnapshot(`../../src/${file}`);
  },
);
