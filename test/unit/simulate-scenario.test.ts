import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";

import { parseText } from "../../src/declare/parse.ts";
import { renderSimulation } from "../../src/report/simulation.ts";
import { checkScenario, simulate } from "../../src/index.ts";
import shop from "../../stacks/shop.ts";
import { scenarioFor, subjectsFor } from "../support/simulation.ts";
import { inFolderOfItsOwn, runCommand, type Said } from "../support/run-command.ts";

const simulated = [
  { consumer: "billing", hasRetryAfter: false },
  { consumer: "mail", hasRetryAfter: true },
];

describe("a scenario is refused", () => {
  const event = { kind: "outage", from: "1m", to: "2m" };
  test.for<readonly [input: unknown, code: string, path: string, says: string]>([
    [[], "RD501", "", "a scenario is a mapping; this is a list"],
    [{ duration: 3 }, "RD501", "duration", '3 is not a duration such as "250ms"'],
    [{ duration: "0s" }, "RD501", "duration", '"0s" is not a duration from 1ms to 3650d'],
    [{ drain: "4000d" }, "RD501", "drain", "is not a duration of at most 3650d"],
    [{ duration: "999999999999999d" }, "RD501", "duration", "is not a duration from 1ms to 3650d"],
    [{ seed: 0.5 }, "RD501", "seed", "0.5 is not a whole number from 0 to 4294967295"],
    [{ events: { kind: "outage" } }, "RD501", "events", "a mapping is not a list"],
    [{ events: ["outage"] }, "RD501", "events[0]", '"outage" is not a mapping with a kind'],
    [{ events: [{ ...event, to: undefined }] }, "RD501", "events[0].to", "to is missing"],
    [{ events: [{ ...event, outcome: "permanent" }] }, "RD501", "events[0].outcome", "is not one of transient, crash"],
    [
      { events: [{ ...event, consumers: [] }] },
      "RD501",
      "events[0].consumers",
      "this has 0 entries; it must have at least 1",
    ],
    [{ consumers: { billing: { instances: 0 } } }, "RD501", "consumers.billing.instances", "a whole number from 1 to"],
    [
      { everyConsumer: { outcomes: { crash: "101%" } } },
      "RD501",
      "everyConsumer.outcomes.crash",
      "is not a percentage",
    ],
    [
      { everyConsumer: { poison: { return: "1%" } } },
      "RD502",
      "everyConsumer.poison.return",
      '"return" is no key of poison',
    ],
    [JSON.parse('{"consumers":{"__proto__":{}}}'), "RD111", "consumers.__proto__", "__proto__ cannot be a name"],
    [{ consumers: { constructor: {} } }, "RD503", "consumers.constructor", 'no consumer named "constructor"'],
    [{ durations: "1h" }, "RD502", "durations", '"durations" is no key of a scenario'],
    [{ events: [{ ...event, factor: 2 }] }, "RD502", "events[0].factor", '"factor" is no key of an event'],
    [{ events: [{ ...event, kind: "flood" }] }, "RD502", "events[0].kind", '"flood" is no kind of event'],
    [{ events: [{ from: "1m", to: "2m" }] }, "RD502", "events[0].kind", "the event has no kind"],
    [{ consumers: { biling: {} } }, "RD503", "consumers.biling", 'no consumer named "biling" is simulated'],
    [{ events: [{ ...event, consumers: ["mails"] }] }, "RD503", "events[0].consumers[0]", 'no consumer named "mails"'],
    [
      { consumers: { billing: { outcomes: { retryAfter: "1%" } } } },
      "RD503",
      "consumers.billing.outcomes.retryAfter",
      "no handler may ask",
    ],
    [
      { everyConsumer: { poison: { retryAfter: "1%" } } },
      "RD503",
      "everyConsumer.poison.retryAfter",
      "no handler may ask",
    ],
    [{ events: [{ ...event, to: "1m" }] }, "RD504", "events[0].to", "the event outage ends at 1m"],
    [{ duration: "1m", drain: "0s", events: [event] }, "RD504", "events[0].from", "when the simulation is over"],
    [{ everyConsumer: { arrivals: {} } }, "RD504", "everyConsumer.arrivals", "neither perSecond nor every"],
    [
      { everyConsumer: { arrivals: { every: "1s", perSecond: 1 } } },
      "RD504",
      "everyConsumer.arrivals",
      "both perSecond and every",
    ],
    [
      { everyConsumer: { concurrency: 11 } },
      "RD504",
      "everyConsumer.concurrency",
      "11 messages at a time with a prefetch of 10",
    ],
    [
      { everyConsumer: { concurrency: 9 }, consumers: { mail: { prefetch: 8 } } },
      "RD504",
      "consumers.mail.prefetch",
      "with a prefetch of 8",
    ],
    [
      { everyConsumer: { handlingTime: { from: "2s", to: "1s" } } },
      "RD504",
      "everyConsumer.handlingTime",
      "which is less",
    ],
    [
      { everyConsumer: { outcomes: { transient: "60%", crash: "40.5%" } } },
      "RD504",
      "everyConsumer.outcomes",
      "add up to 100.5%",
    ],
    [
      { everyConsumer: { outcomes: { return: "91%" } } },
      "RD504",
      "everyConsumer.outcomes.return",
      "91% of the handlings",
    ],
    [
      { duration: "3650d", everyConsumer: { arrivals: { perSecond: 1_000_000 } } },
      "RD505",
      "",
      "about 630,720,000,000,000 messages; at most 10,000,000",
    ],
    [{ events: [{ kind: "burst", from: "0s", to: "1h", factor: 1_000 }] }, "RD505", "", "about 72,000,000 messages"],
    [{ everyConsumer: { instances: 100_000 } }, "RD505", "", "hold up to 2,000,000 messages; at most 1,000,000"],
  ])("%j", ([input, code, path, says]) => {
    const checked = checkScenario(input, simulated);
    if (checked.ok) throw new Error("it is not refused");
    expect(checked.diagnostics.map((each) => [each.code, each.path])).toEqual([[code, path]]);
    expect(checked.diagnostics[0]?.message).toContain(says);
    expect(checked.diagnostics[0]?.help).not.toBe("");
  });
});

test("a missing setting comes from everyConsumer, then from the defaults", () => {
  const scenario = scenarioFor(simulated, {
    everyConsumer: { instances: 3, outcomes: { crash: "1%" } },
    consumers: { mail: { arrivals: { every: "250ms" }, outcomes: { transient: "12.5%" } } },
    events: [{ kind: "stopped", from: "1s", to: "2s", consumers: ["mail"] }],
  });
  const [billing, mail] = scenario.consumers;
  const none = { transient: 0, "retry-after": 0, permanent: 0, crash: 0, return: 0 };
  expect([scenario.durationMs, scenario.drainMs, scenario.seed]).toEqual([3_600_000, 86_400_000, 1]);
  expect(billing).toMatchObject({ arrivals: { perSecond: 10, spacing: "random" }, instances: 3, prefetch: 10 });
  expect(billing?.outcomes).toEqual({ ...none, crash: 0.01 });
  expect(billing?.phases).toHaveLength(1);
  expect(mail).toMatchObject({ arrivals: { perSecond: 4, spacing: "even" }, instances: 3 });
  expect(mail?.outcomes).toEqual({ ...none, transient: 0.125 });
  expect(mail?.phases.map(({ fromMs, isStopped }) => [fromMs, isStopped])).toEqual([
    [0, false],
    [1_000, true],
    [2_000, false],
  ]);
});

test("docs/simulating.md shows the real defaults, and valid events", () => {
  const text = readFileSync(resolve(import.meta.dirname, "../../docs/simulating.md"), "utf8");
  const [defaults, events] = [...text.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, block = ""]) => {
    const parsed = parseText(block, "yaml");
    if (!parsed.ok) throw new Error(block);
    return parsed.value;
  });
  expect(scenarioFor(simulated, defaults)).toEqual(scenarioFor(simulated, {}));
  expect(scenarioFor(simulated, events).consumers[0]?.phases).toHaveLength(9);
});

test("no line of the text is wider than the terminal, and every queue is in it", () => {
  const { subjects } = subjectsFor(shop, "rabbitmq@4.3");
  const events = [{ kind: "outage", from: "5m", to: "15m" }];
  const result = simulate(subjects, scenarioFor(subjects, { duration: "30m", events }));
  for (const columns of [80, 132]) {
    const text = renderSimulation("rabbitmq@4.3", result, { columns });
    const longest = Math.max(...text.split("\n").map((line) => Array.from(line).length));
    expect(longest).toBeLessThanOrEqual(columns);
    for (const { queue } of result.queues) expect(text).toContain(queue);
  }
  // oxlint-disable-next-line no-control-regex -- colours are what is looked for
  expect(renderSimulation("rabbitmq@4.3", result, { colour: true })).toMatch(/\u001B\[/);
});

test("without a work queue there is nothing to simulate", () => {
  const result = simulate([], scenarioFor([], {}));
  expect([result.events, result.isSettled, result.timeline]).toEqual([0, true, null]);
  expect(renderSimulation("rabbitmq@4.3", result)).toBe(
    "simulated on rabbitmq@4.3\nno consumer has a work queue: there is nothing to simulate\n",
  );
});

describe("redeliver simulate", () => {
  const root = resolve(import.meta.dirname, "../..");
  const folder = inFolderOfItsOwn("simulate");
  const declaration = join(root, "examples/shop.yaml");
  const simulateIt = async (...words: readonly string[]): Promise<Said> => runCommand(["simulate", ...words]);
  const target = ["--target", "rabbitmq@4.3"];
  const short = join(folder, "short.json");
  writeFileSync(short, '{ "duration": "1m" }');

  test("needs no scenario, and gives the same result for the same seed", async () => {
    const [one, two] = [await simulateIt(declaration, ...target), await simulateIt(declaration, ...target)];
    expect([one.code, one.error]).toEqual([0, ""]);
    expect(one.out).toBe(two.out);
    expect(one.out).toContain("shop.attempt.2.1s");
    const seeded = await simulateIt(declaration, ...target, "--scenario", short, "--seed", "7", "--json");
    expect(JSON.parse(seeded.out)).toMatchObject({
      target: "rabbitmq@4.3",
      seed: 7,
      durationMs: 60_000,
      isSettled: true,
    });
  });

  test("writes to a file", async () => {
    const { code, out } = await simulateIt(declaration, ...target, "--scenario", short, "--output", "run/result.txt");
    expect([code, out]).toEqual([0, ""]);
    expect(readFileSync(join(folder, "run/result.txt"), "utf8")).toMatch(/^simulated on rabbitmq@4.3\n/);
  });

  test.for([
    ["unknown.yaml", "events: [{ kind: flood, from: 1m, to: 2m }]\n", "RD502"],
    ["large.yaml", "duration: 3650d\neveryConsumer: { arrivals: { perSecond: 1000000 } }\n", "RD505"],
    ["empty.yaml", "# nothing\n", "RD004"],
    ["cut.json", '{ "duration": ', "RD002"],
    ["missing.yaml", null, "RD001"],
    ["scenario.toml", 'duration = "1h"\n', "RD001"],
  ] as const)("refuses %s with one diagnostic and exit code 2, and writes nothing", async ([name, text, code]) => {
    if (text !== null) writeFileSync(join(folder, name), text);
    const words = [declaration, ...target, "--scenario", name, "--output", "refused.txt"];
    const { code: exitCode, out, error } = await simulateIt(...words);
    expect([exitCode, out, existsSync(join(folder, "refused.txt"))]).toEqual([2, "", false]);
    expect(error.match(/\[(RD\d+)\]/g)).toEqual([`[${code}]`]);
    expect(JSON.parse((await simulateIt(...words, "--json")).out)).toMatchObject({
      ok: false,
      diagnostics: [{ code }],
    });
  });

  test("refuses too many pairs of attempts and crashes, and names the setting to declare", async () => {
    const patient = async (crash: string): Promise<Said> => {
      const consumer = `{ from: { orders: all }, retry: { attempts: 1000, backoff: { kind: constant, delay: 1s } }${crash} }`;
      const text = `name: shop\nsources: { orders: { kind: fanout } }\nconsumers: { billing: ${consumer} }\n`;
      writeFileSync(join(folder, "patient.yaml"), text);
      return simulateIt("patient.yaml", ...target, "--strategy", "waits", "--scenario", short);
    };
    const { code, out, error } = await patient("");
    expect([code, out]).toEqual([2, ""]);
    expect(error.match(/\[(RD\d+)\]/g)).toEqual(["[RD505]"]);
    expect(error).toContain("1000 attempts with 1000 crash deliveries");
    expect(error).toContain("consumers.billing.crash.deliveries");
    expect(error).toContain("crash: { deliveries: 10 }");
    expect((await patient(", crash: { deliveries: 2 }")).code).toBe(0);
  });

  test("a wrong seed is wrong usage; a refused declaration is exit code 1", async () => {
    expect((await simulateIt(declaration, ...target, "--seed", "x")).code).toBe(2);
    writeFileSync(join(folder, "bad.yaml"), "name: shop\n");
    expect((await simulateIt("bad.yaml", ...target)).code).toBe(1);
  });
});
