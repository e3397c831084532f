import { describe, expect, test } from "vitest";

import { renderGithub } from "../../src/diagnostics/github.ts";
import { renderSarif } from "../../src/diagnostics/sarif.ts";
import { findingsIn, policy, quorum } from "../support/audit.ts";
import { deadTo, queue } from "../support/known-topologies.ts";

function found(definitions: object, version: string, code: string, upgradeTo?: string): ReturnType<typeof findingsIn> {
  return findingsIn(definitions, version, upgradeTo).filter((each) => each.code === code);
}

describe("the delivery limit of a dead queue", () => {
  const work = quorum("w", { ...deadTo("d"), "x-delivery-limit": 5 });
  const limited = (given: object): object => ({ queues: [work, quorum("d", { ...given })] });
  const byPolicy = (value: number): object[] => [policy("limits", "^d$", { "delivery-limit": value })];
  const helpOf = (definitions: object, version: string): string | undefined =>
    found(definitions, version, "RD421")[0]?.help;

  test("up to 3.13 the fix is to remove a negative one", () => {
    expect(helpOf(limited({ "x-delivery-limit": -1 }), "3.10.8")).toBe(
      "remove x-delivery-limit when you make the queue again: this version treats a negative limit as 0",
    );
  });

  test("from 4.0 on a policy's limit hides -1, so the fix begins with the policy", () => {
    const definitions = { ...limited({ "x-delivery-limit": -1 }), policies: byPolicy(3) };
    expect(helpOf(definitions, "4.0.5")).toContain("give the queue a policy without delivery-limit in place of limits");
    expect(helpOf({ ...limited({}), policies: byPolicy(3) }, "4.0.5")).toContain("and make the queue again");
  });

  test("on 4.3 the sentence names the counted events", () => {
    expect(found(limited({}), "4.3.2", "RD421")[0]?.notes[0]).toContain("basic.nack with requeue does not count");
  });
});

describe("the delivery limit of a work queue", () => {
  const work = (given: object): object => ({ queues: [quorum("w", { ...deadTo("d"), ...given }), queue("d")] });

  test.for([
    ["3.13.7", 1],
    ["4.0.5", 0],
  ] as const)("a negative one on %s", ([version, count]) => {
    expect(found(work({ "x-delivery-limit": -1 }), version, "RD430")).toHaveLength(count);
  });

  test("an explicit limit of 20 counts as stated, and a missing one does not", () => {
    expect(found(work({ "x-delivery-limit": 20 }), "4.3.2", "RD417")).toHaveLength(1);
    expect(found(work({}), "4.3.2", "RD417")).toHaveLength(0);
  });

  test("with delayed retry the message comes back later", () => {
    const delays = { "x-delivery-limit": 5, "x-delayed-retry-type": "all", "x-delayed-retry-min": 1_000 };
    expect(found(work(delays), "4.3.2", "RD417")[0]?.notes[0]).toContain("after 1000 ms each time, for ever");
  });

  test("an upgrade reports it once", () => {
    const definitions = work({ "x-delivery-limit": 5 });
    expect(found(definitions, "4.2.0", "RD425", "4.3")).toHaveLength(1);
    expect(found(definitions, "4.2.0", "RD417", "4.3")).toHaveLength(0);
  });
});

describe("queues without a dead-letter exchange", () => {
  const many = Array.from({ length: 12 }, (_, index) => queue(`w${index}`));
  const queues = [...many, quorum("q"), queue("reply", { "x-expires": 60_000 })];

  test("share one diagnostic, with the causes of each, and without those that expire anyway", () => {
    const [only, ...rest] = found({ queues }, "4.3.2", "RD420");
    expect(rest).toEqual([]);
    expect(only?.value).toHaveLength(13);
    expect(only?.notes).toEqual([
      "a message is deleted that is rejected: w0, w1, w2, w3, w4, w5, w6, w7, w8, w9 and 2 more",
      "a message is deleted that is rejected or returned by a lost consumer, or rejected with requeue, more than 20 times: q",
    ]);
  });

  test("are not repeated for an upgrade, although there are other causes there", () => {
    expect(found({ queues }, "3.13.7", "RD420", "4.3")).toEqual([]);
  });

  test("are all named in the output for tools", () => {
    const diagnostics = found({ queues }, "4.3.2", "RD420");
    expect(renderGithub(diagnostics, {})).toContain("all 13: w0, ");
    expect(renderSarif(diagnostics, {})).toContain("w11");
  });

  test("a name that could be overlooked is in quotes", () => {
    expect(found({ queues: [queue("a b")] }, "4.3.2", "RD420")[0]?.message).toBe('"a b" has no dead-letter exchange');
  });
});

test("a dead queue that empties itself", () => {
  const definitions = { queues: [queue("w", deadTo("d")), queue("d", { "x-max-length": 10 })] };
  expect(found(definitions, "4.3.2", "RD431")[0]?.notes[0]).toContain("when the queue is full, the oldest first");
});

test("queues that dead-letter to each other at least once, both with a length limit", () => {
  const safe = { "x-dead-letter-strategy": "at-least-once", "x-overflow": "reject-publish", "x-max-length": 10 };
  const queues = [
    quorum("w", { ...safe, ...deadTo("r") }),
    quorum("r", { ...safe, ...deadTo("w"), "x-message-ttl": 5 }),
  ];
  expect(found({ queues }, "4.3.2", "RD432")[0]?.value).toEqual(["w", "r"]);
});
