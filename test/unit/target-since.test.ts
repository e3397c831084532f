import { expect, test } from "vitest";

import { checkTarget } from "../../src/brokers/index.ts";
import { compile } from "../../src/index.ts";
import { judgeQueue } from "../../src/brokers/rabbitmq/operate/judge-queue.ts";
import { checked, oneConsumer } from "../support/examples.ts";

const unreached = 9_007_199_254_740_991;

test.each(["3.9", "3.13.7", "4.3", 3.13])("a target takes no `since` like %s", (since) => {
  const checked = checkTarget({ broker: "rabbitmq", version: "4.0", since: since as string });
  expect(checked.ok ? [] : checked.diagnostics.map(({ code, path }) => [code, path])).toEqual([
    ["RD201", "target.since"],
  ]);
});

test.each([
  ["4.3", undefined, -1, undefined],
  ["4.3", "4.0", -1, undefined],
  ["4.3", "3.13", undefined, unreached],
  ["3.13", undefined, undefined, unreached],
  ["3.13", "3.10", undefined, unreached],
])(
  "for %s since %s a dead queue has its limit in the argument or in the policy",
  (version, since, argument, policy) => {
    const compiled = compile(checked(oneConsumer({})), { broker: "rabbitmq", version, since, strategy: "waits" });
    if (!compiled.ok) throw new Error("it does not compile");
    const { queues, policies } = compiled.value.topology;
    const kept = queues.filter(({ role }) => role !== "work");
    expect(kept.length).toBeGreaterThan(1);
    for (const { name, arguments: given } of kept) {
      const { definition } = policies.find((each) => each.name === name) ?? {};
      expect([given["x-delivery-limit"], definition?.["delivery-limit"]], name).toEqual([argument, policy]);
      const shown = { type: "quorum", arguments: given, effective_policy_definition: definition };
      expect(judgeQueue(name, `${version}.0`, shown)).toBeNull();
    }
  },
);
