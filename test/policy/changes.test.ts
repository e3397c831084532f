import { Exchange } from "@pulumi/rabbitmq/exchange.js";
import { Queue } from "@pulumi/rabbitmq/queue.js";
import { VHost } from "@pulumi/rabbitmq/vhost.js";
import type { CustomResourceOptions } from "@pulumi/pulumi";
import { describe, expect, test } from "vitest";

import type { PolicyOptions, RuleOptions } from "../../src/policy/index.ts";
import { judgePreview } from "../../src/policy/preview/judge-preview.ts";
import type { JudgedPreview } from "../../src/policy/preview/preview.ts";
import { readPreview } from "../../src/policy/preview/read-preview.ts";
import { rules } from "../../src/policy/rules.ts";
import shop from "../../stacks/shop.ts";
import { runExample } from "../support/example-program.ts";
import { foundInProcess } from "../support/policy-in-process.ts";
import type { DigestOptions } from "../support/preview.ts";
import { digestOf } from "../support/preview.ts";
import type { ProgramRun } from "../support/pulumi.ts";
import { register, runProgram } from "../support/pulumi.ts";

const rule = "queue-deletion";

async function judged(
  before: ProgramRun,
  after: ProgramRun,
  options: PolicyOptions = { preset: "strict" },
  digest: DigestOptions = {},
): Promise<JudgedPreview["violations"]> {
  const read = readPreview(JSON.stringify(digestOf(before, after, digest)));
  if (!read.ok) throw new Error(read.diagnostics.map(({ message }) => message).join("\n"));
  return (await judgePreview(read.value, options, new Map())).violations;
}

const ofDeletions = (violations: JudgedPreview["violations"]): readonly string[] =>
  violations.filter((each) => each.rule === rule).map(({ message }) => message.split("\n")[0] ?? "");

describe.each(rules.filter(({ kind }) => kind === "change"))("$name", ({ name }) => {
  const program = async (which: string): Promise<ProgramRun> => runExample(`examples/policies/${name}/${which}.ts`);

  test("finds its bad example, and no other rule does", async () => {
    const violations = await judged(await program("before"), await program("fails"));
    expect(violations.map((each) => each.rule)).toEqual([name]);
    expect(violations[0]).toMatchObject({ level: "mandatory", message: expect.stringMatching(/\nfix: /) });
  });

  test("is quiet about its good example, like every other rule", async () => {
    expect(await judged(await program("before"), await program("passes"))).toEqual([]);
  });

  test("is no policy of a pack, which is not told what changes", async () => {
    expect(await foundInProcess(await program("fails"), { preset: "strict" })).toEqual([]);
  });
});

describe("a queue that is replaced or deleted", () => {
  const settings = { durable: true, argumentsJson: '{"x-queue-type":"quorum"}' };
  const other = { durable: true, argumentsJson: '{"x-queue-type":"classic"}' };
  const temporary = { durable: true, autoDelete: true };
  type Made = readonly [settings: object, options?: CustomResourceOptions];
  const queue = async ([given, options]: Made): Promise<ProgramRun> =>
    runProgram(() => void new Queue("orders", { name: "orders", settings: given }, options));
  const nothing = async (): Promise<ProgramRun> => runProgram(() => undefined);
  const replaced = "it is replaced because of settings: RabbitMQ deletes every message in it";
  const deleted =
    "it is deleted, since the program has nothing of this name any more: RabbitMQ deletes every message in it";
  const retained = { retainOnDelete: true };

  test.each<readonly [string, Made, Made | null, readonly string[]]>([
    ["another argument", [settings], [other], [replaced]],
    [
      "another argument, and the protection gone in the same update",
      [settings, { protect: true }],
      [other],
      [replaced],
    ],
    ["another argument, and retained from now on", [settings], [other, retained], [replaced]],
    ["another argument, and retained up to now", [settings, retained], [other], []],
    ["gone", [settings], null, [deleted]],
    ["gone, and retained", [settings, retained], null, []],
    ["the same", [settings], [settings], []],
    ["a temporary one with another argument", [temporary], [other], []],
    ["a temporary one that is gone", [temporary], null, []],
  ])("%s", async (_, before, after, found) => {
    const [old, next] = [await queue(before), after === null ? await nothing() : await queue(after)];
    expect(ofDeletions(await judged(old, next))).toEqual(found);
    // The parts of a replacement are shown on demand, and are the same replacement.
    expect(ofDeletions(await judged(old, next, { preset: "strict" }, { showReplacementSteps: true }))).toEqual(found);
  });

  test("names, waivers and levels are those of the policy pack's options", async () => {
    const [old, next] = [await queue([settings]), await queue([other])];
    const withRule = (given: RuleOptions): PolicyOptions => ({ rules: { [rule]: given } });
    const waiver = { resource: "orders", reason: "it is empty" };
    expect((await judged(old, next, {})).find((each) => each.rule === rule)?.level).toBe("advisory");
    expect((await judged(old, next, withRule({ enforcementLevel: "mandatory" }))).map(({ level }) => level)).toContain(
      "mandatory",
    );
    expect(ofDeletions(await judged(old, next, withRule({ enforcementLevel: "disabled" })))).toEqual([]);
    expect(ofDeletions(await judged(old, next, withRule({ exclude: ["ord*"] })))).toEqual([]);
    expect(ofDeletions(await judged(old, next, withRule({ waivers: [{ ...waiver, expires: "2999-12-31" }] })))).toEqual(
      [],
    );
    const expired = await judged(old, next, withRule({ waivers: [{ ...waiver, expires: "2020-01-31" }] }));
    expect(expired.find((each) => each.rule === rule)?.message).toContain("the waiver for it expired on 2020-01-31");
  });
});

describe("what leads to queues, and what they are in", () => {
  test("an exchange loses its bindings where it is replaced; where it is gone, its publishers hear of it", async () => {
    const exchange = async (type: string | null): Promise<ProgramRun> =>
      runProgram(() => {
        if (type !== null) void new Exchange("orders", { name: "orders", settings: { type, durable: true } });
      });
    const [topic, direct, none] = [await exchange("topic"), await exchange("direct"), await exchange(null)];
    expect(ofDeletions(await judged(topic, direct))).toEqual([expect.stringContaining("its bindings go with it")]);
    expect(ofDeletions(await judged(topic, none))).toEqual([]);
  });

  test("a virtual host that is gone takes its queues with it", async () => {
    const [old, next] = [
      await runProgram(() => void new VHost("shop", { name: "shop" })),
      await runProgram(() => undefined),
    ];
    expect(ofDeletions(await judged(old, next))).toEqual([expect.stringContaining("deletes every queue in it")]);
  });

  test("what a component of Redeliver gives up stays at the broker", async () => {
    const { audit: _, ...others } = shop.consumers;
    const [old, next] = [await register(shop, "4.0"), await register({ ...shop, consumers: others }, "4.0")];
    expect(digestOf(old, next).changeSummary?.["delete"]).toBeGreaterThan(3);
    expect(ofDeletions(await judged(old, next))).toEqual([]);
  });
});
