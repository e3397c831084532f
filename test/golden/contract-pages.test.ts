import { basename } from "node:path";
import { expect, test } from "vitest";

import type { Contract } from "../../src/report/operations.ts";
import { expectText } from "../support/golden.ts";
import { filesOf, pageOf, pagesFor } from "../support/contract-page.ts";
import { pageCases } from "../support/contract-page-cases.ts";

// The page for other languages and frameworks. Review every change: users copy this text.

/** Pages that nearly repeat another one. Their golden files hold the difference to it. */
const siblings = new Map([
  ["rabbitmq-waits", "rabbitmq-staged"],
  ["rabbitmq-native", "rabbitmq-staged"],
  ["sqs-fifo", "sqs-visibility"],
  ["servicebus-in-order", "servicebus-scheduled"],
]);

test.for(pageCases)("%s", async ([name, contract]) => {
  const sibling = pageCases.find(([other]) => other === siblings.get(name));
  // Review the files where they are.
  const page = (of: Contract): string => pageOf(of, () => "");
  const like = sibling === undefined ? null : { file: sibling[0], text: page(sibling[1]) };
  await expectText(`contract-pages/${name}`, page(contract), like);
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
