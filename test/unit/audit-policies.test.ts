import { describe, expect, test } from "vitest";

import { findingsIn, policy, quorum } from "../support/audit.ts";
import { deadTo, queue } from "../support/known-topologies.ts";

const dead = queue("dead");

function codes(definitions: object, version: string): string[] {
  return findingsIn(definitions, version).map(({ code }) => code);
}

describe("a pattern in the broker's dialect", () => {
  test.for([
    [String.raw`^svc\-.*$`, "svc-a"],
    [String.raw`^tmp\_\d+$`, "tmp_12"],
    ["(?i)^other$", "OTHER"],
    ["^[[:upper:]]+$", "ABC"],
    [String.raw`\Aorders\z`, "orders"],
    [String.raw`^[\w-.]+c$`, "a-b.c"],
    [String.raw`^\Qa.b\E$`, "a.b"],
    ["^a{b$", "a{b"],
  ] as const)("%s matches %s", ([pattern, name]) => {
    const definitions = { queues: [queue(name), dead], policies: [policy("dlx", pattern, deadToByPolicy)] };
    expect(codes(definitions, "4.3.2")).toEqual([]);
  });

  test("[[:upper:]] does not match lower case", () => {
    const definitions = { queues: [queue("abc")], policies: [policy("dlx", "^[[:upper:]]+$", deadToByPolicy)] };
    expect(codes(definitions, "4.3.2")).toEqual(["RD420"]);
  });

  test.for(["(?x)^orders", "orders++", String.raw`\p{L}`, "(?>a)", "[[:nonsense:]]"])(
    "%s is unreadable, and its meaning is not guessed",
    (pattern) => {
      const definitions = { queues: [queue("orders"), dead], policies: [policy("dlx", pattern, deadToByPolicy)] };
      expect(codes(definitions, "4.3.2")).toContain("RD427");
    },
  );
});

const deadToByPolicy = { "dead-letter-exchange": "", "dead-letter-routing-key": "dead" };

describe("a policy with a key that a classic queue does not know does not apply", () => {
  test.for([
    ["max-in-memory-length", 1_000, "3.10.8", false],
    ["max-in-memory-length", 1_000, "3.12.14", true],
    ["max-in-memory-bytes", 1_000, "4.0.5", true],
    ["queue-leader-locator", "balanced", "3.13.7", true],
    ["queue-leader-locator", "balanced", "4.0.5", false],
  ] as const)("%s on %s", ([key, value, version, isSetAside]) => {
    const policies = [policy("dlx", "^orders$", { ...deadToByPolicy, [key]: value })];
    const found = codes({ queues: [queue("orders"), dead], policies }, version);
    expect(found.includes("RD423")).toBe(isSetAside);
    expect(found.includes("RD420")).toBe(isSetAside);
  });

  test("the fix names apply-to only for versions that have it", () => {
    const policies = [policy("dlx", "^orders$", { ...deadToByPolicy, "delivery-limit": 5 })];
    const helpOn = (version: string): string | undefined =>
      findingsIn({ queues: [queue("orders"), dead], policies }, version).find(({ code }) => code === "RD423")?.help;
    expect(helpOn("3.13.7")).toContain("classic_queues");
    expect(helpOn("3.10.8")).not.toContain("classic_queues");
  });
});

describe("a key without effect is reported once, with all its queues", () => {
  test("at-least-once without reject-publish", () => {
    const policies = [policy("safe", "^w", { ...deadToByPolicy, "dead-letter-strategy": "at-least-once" })];
    const found = findingsIn({ queues: [quorum("w1"), quorum("w2"), dead], policies }, "4.0.5");
    const about = found.filter(({ code }) => code === "RD418");
    expect(about.map(({ value }) => value)).toEqual([["w1", "w2"]]);
  });

  test.for([
    ["4.3.0", true],
    ["4.3.2", false],
  ] as const)("delayed retry by policy on %s", ([version, isFound]) => {
    const policies = [policy("delays", "^w", { "delayed-retry-type": "all", "delayed-retry-min": 1_000 })];
    const found = findingsIn({ queues: [quorum("w", deadTo("dead")), dead], policies }, version);
    expect(found.some(({ message }) => message.includes("key delayed-retry-type without effect"))).toBe(isFound);
  });

  test("a dead-letter key without an exchange", () => {
    const policies = [policy("key", "^w$", { "dead-letter-routing-key": "dead" })];
    expect(codes({ queues: [queue("w"), dead], policies }, "4.3.2")).toContain("RD423");
  });
});
