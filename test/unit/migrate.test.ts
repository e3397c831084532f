import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import { runCommand } from "../support/run-command.ts";

const folder = mkdtempSync(join(tmpdir(), "redeliver-migrate-"));
const [old, next, steps] = ["old.yaml", "next.yaml", "steps"].map((name) => join(folder, name)) as [
  string,
  string,
  string,
];
afterAll(() => rmSync(folder, { recursive: true }));

function declare(file: string, jitter: string, kind = "topic"): void {
  const retry = `{ attempts: 3, backoff: { kind: constant, delay: 10s${jitter} } }`;
  const consumers = `{ billing: { from: { orders: all }, retry: ${retry} } }`;
  writeFileSync(file, `name: shop\nsources: { orders: { kind: ${kind} } }\nconsumers: ${consumers}\n`);
}

beforeEach(() => {
  rmSync(steps, { recursive: true, force: true });
  declare(old, "");
  declare(next, ', jitter: "20%"');
});

const options = ["--from", old, "--target", "rabbitmq@4.3"];
const fromNewer = ["--from", old, "--from-target", "rabbitmq@4.0"];
const fromOlder = ["--from", old, "--from-target", "rabbitmq@3.13"];

test("each step is written, and check proves it as the change from the one before", async () => {
  const said = await runCommand(["migrate", next, ...options, "--output", steps]);
  expect(said).toMatchObject({ code: 0, error: "" });
  expect(said.out).toContain("billing gets the queue shop.billing.2. billing-before drains shop.billing");
  expect(said.out).toContain(`strategies: { "billing-before": native }`);
  expect(readdirSync(steps)).toEqual(["1-beside.yaml", "2-last.yaml"]);
  let from = old;
  for (const file of readdirSync(steps)) {
    const step = join(steps, file);
    expect(await runCommand(["check", step, "--from", from, "--target", "rabbitmq@4.3"])).toMatchObject({ code: 0 });
    from = step;
  }
  expect((await runCommand(["check", next, ...options])).error).toContain("error[RD302]");
});

test("a second migration gives the next number, and a change that fits in one deployment needs no steps", async () => {
  await runCommand(["migrate", next, ...options, "--output", steps]);
  const deployed = join(steps, "2-last.yaml");
  const again = await runCommand(["migrate", old, "--from", deployed, "--target", "rabbitmq@4.3"]);
  expect(again.out).toContain("billing gets the queue shop.billing.");
  const same = await runCommand(["migrate", old, ...options]);
  expect(same.out).toContain("one deployment makes this change");
});

test.each([
  ["rabbitmq@4.3 staged", [12, 3], "can have 14 attempts; 12 are declared"],
  ["sqs@eu-west-1 visibility", [4, 6], "after the failure of attempt 4, the next one can come"],
  ["servicebus@standard auto", [4, 4], "can have 16 attempts; 4 are declared"],
])("steps keep a promise on %s, and one deployment needs a word", async (on, attempts, weaker) => {
  const [target = "", strategy = ""] = on.split(" ");
  for (const [index, file] of [old, next].entries()) {
    const backoff = index === 0 && strategy === "auto" ? "immediate" : "constant, delay: 10s";
    const retry = `retry: { attempts: ${attempts[index]}, backoff: { kind: ${backoff} } }`;
    writeFileSync(file, `name: shop\nconsumers: { billing: { handlerTimeout: 10s, ${retry} } }\n`);
  }
  const words = ["migrate", next, "--from", old, "--target", target, "--strategy", strategy];
  const kept = await runCommand([...words, "--json"]);
  expect(kept).toMatchObject({ code: 0, error: "" });
  expect(JSON.parse(kept.out)).toMatchObject({ avoided: [{ message: expect.stringContaining(weaker) }] });
  expect((JSON.parse(kept.out) as { steps: [] }).steps).toHaveLength(2);
  expect((await runCommand(words)).out).toMatch(/--accept-weaker.*\n {3}consumers\.billing\.retry: .*\n1\. Deploy/);
  const short = await runCommand([...words, "--accept-weaker"]);
  expect(short).toMatchObject({ code: 0, error: expect.stringContaining(weaker) });
  expect(short.out).toMatch(/^one deployment makes this change/);
});

test("a consumer that goes drains its queue first, and its source stays as long", async () => {
  const consumer = (source: string): string =>
    `{ from: { ${source}: all }, retry: { attempts: 3, backoff: { kind: constant, delay: 10s } } }`;
  const billing = `billing: ${consumer("orders")}`;
  const sources = "orders: { kind: topic }";
  writeFileSync(
    old,
    `name: shop\nsources: { ${sources}, sales: { kind: topic } }\nconsumers: { ${billing}, mail: ${consumer("sales")} }\n`,
  );
  writeFileSync(next, `name: shop\nsources: { ${sources} }\nconsumers: { ${billing} }\n`);
  const said = await runCommand(["migrate", next, ...options, "--output", steps]);
  expect(said).toMatchObject({ code: 0, error: "" });
  expect(said.out).toContain("mail drains shop.mail, and gets no new messages");
  expect(said.out).toMatch(/empty, and have been for 10s: [^\n]*\n {3}shop\.mail\n/);
  const target = ["--target", "rabbitmq@4.3"];
  const [first, second] = ["1-beside.yaml", "2-last.yaml"].map((name) => join(steps, name)) as [string, string];
  expect(readFileSync(first, "utf8")).toContain("sales");
  expect(await runCommand(["check", first, "--from", old, ...target])).toMatchObject({ code: 0 });
  expect(await runCommand(["check", second, "--from", first, ...target])).toMatchObject({ code: 0 });
  expect(readFileSync(second, "utf8")).not.toMatch(/mail|sales/);
});

test.each([
  [
    "of another kind",
    "rabbitmq@4.3",
    "orders: { kind: direct }",
    "orders",
    "shop.orders for now, and from shop.orders.2",
  ],
  ["renamed, on RabbitMQ", "rabbitmq@4.3", "sales: { kind: topic }", "sales", "shop.orders for now"],
  ["renamed, on SQS", "sqs@eu-west-1", "sales: { kind: topic }", "sales", "shop-orders for now"],
  ["renamed, on Service Bus", "servicebus@standard", "sales: { kind: topic }", "sales", "shop.orders for now"],
])("publishers leave a source that is %s", async (_, target, source, key, names) => {
  const consumer = (from: string): string =>
    `consumers: { billing: { from: { ${from}: [order.placed] }, handlerTimeout: 10s, retry: { attempts: 3, backoff: { kind: constant, delay: 10s } } } }\n`;
  writeFileSync(old, `name: shop\nsources: { orders: { kind: topic } }\n${consumer("orders")}`);
  writeFileSync(next, `name: shop\nsources: { ${source} }\n${consumer(key)}`);
  const said = await runCommand(["migrate", next, "--from", old, "--target", target, "--output", steps]);
  expect(said).toMatchObject({ code: 0, error: "" });
  expect(said.out).toContain(`billing takes from ${names}.\n   Move the publishers of shop`);
  expect(said.out).toMatch(/2\. Wait until no program publishes to these sources any more:\n {3}shop[.-]orders\n/);
  expect(readdirSync(steps)).toEqual(["1-beside.yaml", "2-given-up.yaml", "3-last.yaml"]);
  let from = old;
  for (const file of readdirSync(steps)) {
    const step = join(steps, file);
    expect(await runCommand(["check", step, "--from", from, "--target", target])).toMatchObject({ code: 0 });
    from = step;
  }
  // Without the step between, messages from the old source would have no way to the consumer.
  const [beside, last] = ["1-beside.yaml", "3-last.yaml"].map((name) => join(steps, name)) as [string, string];
  expect((await runCommand(["check", last, "--from", beside, "--target", target])).error).toContain("error[RD303]");
});

test.each([
  ["a name of its own", "{ queue: lost }", ""],
  ["another name of its own", "{ queue: found }", "{ queue: lost }"],
  ["the name that it has, and the work queue another one", "{ queue: lost }, queue: q", "{ queue: lost }"],
  ["the name of the template", "{}", "{ queue: lost }"],
])("a dead queue gets %s in steps", async (_, now, before) => {
  const consumer = (own: string): string => {
    const dead = own === "" ? "" : `, deadLetter: ${own}`;
    return `billing: { from: { orders: all }, retry: { attempts: 3, backoff: { kind: constant, delay: 10s } }, handlerTimeout: 10s${dead} }`;
  };
  const declared = (own: string): string =>
    `name: shop\nsources: { orders: { kind: topic } }\nconsumers: { ${consumer(own)} }\n`;
  writeFileSync(old, declared(before));
  writeFileSync(next, declared(now));
  for (const target of ["rabbitmq@4.3", "sqs@eu-west-1"]) {
    const said = await runCommand(["migrate", next, "--from", old, "--target", target, "--output", steps]);
    expect(said).toMatchObject({ code: 0, error: "" });
    let from = old;
    for (const file of readdirSync(steps)) {
      const step = join(steps, file);
      expect(await runCommand(["check", step, "--from", from, "--target", target])).toMatchObject({ code: 0 });
      from = step;
    }
    expect(readdirSync(steps)).toHaveLength(2);
  }
});

test("a new name is free, and a year is no number of a generation", async () => {
  const consumer = (name: string, jitter: string, more: string): string =>
    `${name}: { from: { orders: all }, retry: { attempts: 3, backoff: { kind: constant, delay: 10s${jitter} } }${more} }`;
  const declared = (jitter: string, ...others: readonly string[]): string =>
    `name: shop\nnames: { dead: "{system}.{consumer}.dead" }\nsources: { orders: { kind: topic, name: events-2024 } }\nconsumers: { ${[consumer("billing", jitter, ""), ...others].join(", ")} }\n`;
  writeFileSync(old, declared(""));
  writeFileSync(next, declared(', jitter: "20%"', consumer("other", "", ", queue: shop.billing.2")));
  const said = await runCommand(["migrate", next, ...options]);
  expect(said).toMatchObject({ code: 0, error: "" });
  expect(said.out).toContain("billing gets the queue shop.billing.3, with the dead queue shop.billing.dead.2.");
  writeFileSync(next, declared("").replace("all", "[a]").replace("topic", "direct"));
  writeFileSync(old, declared("").replace("all", "[a]"));
  expect((await runCommand(["migrate", next, ...options])).out).toContain("from events-2024.2.");
});

test("a source without a consumer is named, and so are instances that have to restart", async () => {
  const retry = "retry: { attempts: 3, backoff: { kind: constant, delay: 10s } }";
  const declared = (source: string, kind: string, consumer: string): string =>
    `name: shop\nsources: { ${source}: { kind: ${kind} } }\nconsumers: { ${consumer} }\n`;
  writeFileSync(old, declared("orders", "topic", `billing: { from: { orders: all }, ${retry} }`));
  writeFileSync(next, declared("sales", "topic", `invoices: { from: { sales: all }, ${retry} }`));
  const gone = await runCommand(["migrate", next, ...options]);
  expect(gone.out).toContain("No consumer takes from shop.orders any more, so the broker drops the messages");
  const alone = "view: { from: { orders: [a] }, delivery: every-instance }";
  writeFileSync(old, declared("orders", "topic", alone));
  writeFileSync(next, declared("orders", "direct", alone));
  const instances = await runCommand(["migrate", next, ...options]);
  expect(instances.out).toMatch(
    /Restart the instances of view by this step\.\n {3}Move the publishers of shop\.orders/,
  );
  // They keep the sources that they have.
  const beside = "other: { from: { sales: all }, delivery: every-instance }";
  const both = (kind: string): string =>
    declared("sales: { kind: topic }, orders", kind, `billing: { from: { orders: [a] }, ${retry} }, ${beside}`);
  writeFileSync(old, both("topic"));
  writeFileSync(next, both("direct"));
  expect((await runCommand(["migrate", next, ...options])).out).not.toContain("Restart");
});

test("queues that a single deployment leaves with messages in them are named", async () => {
  declare(next, "");
  writeFileSync(next, `name: store\n${readFileSync(next, "utf8").replace(/^name: shop\n/, "")}`);
  const said = await runCommand(["migrate", next, ...options]);
  expect(said.code).toBe(0);
  expect(said.out).toContain("stays    queue shop.billing: its consumer is no longer declared");
});

test("as JSON it has the declarations of all steps, and nothing is written", async () => {
  const said = await runCommand(["migrate", next, ...options, "--json"]);
  expect(JSON.parse(said.out)).toMatchObject({
    moved: [{ consumer: "billing", before: "billing-before", queue: "shop.billing", newQueue: "shop.billing.2" }],
    drained: ["shop.billing"],
    steps: [
      { system: { consumers: { "billing-before": { formerly: "billing" } } } },
      { system: { consumers: { billing: { queue: "shop.billing.2" } } } },
    ],
  });
  expect(existsSync(steps)).toBe(false);
});

test("a queue of Service Bus keeps its duplicate detection until the last step, and the text says so", async () => {
  const target = join(folder, "target.yaml");
  writeFileSync(target, "{ broker: servicebus, sku: standard, duplicates: 10m }");
  const to = ["migrate", old, "--from", old, "--from-target", "servicebus@standard", "--target", target] as const;
  const settings = 'duplicates: { "billing": 10m }, strategies: { "billing-before": scheduled }';
  const out = expect.stringContaining(`1-beside.yaml, with this in the target: ${settings}`) as string;
  expect(await runCommand([...to, "--output", steps])).toMatchObject({ code: 0, out });
});

test("the change to a target 4.x begins with the broker's upgrade, and keeps the arguments of queues", async () => {
  const to = (target: string): readonly string[] => ["migrate", old, ...fromOlder, "--target", target];
  const said = await runCommand(to("rabbitmq@4.3"));
  expect(said).toMatchObject({ code: 0, error: "" });
  const [before, first] = ["Before: upgrade the broker to rabbitmq@4.3", "1. Deploy 1-beside.yaml"].map((text) =>
    said.out.indexOf(text),
  ) as [number, number];
  expect([before > 0, before < first]).toEqual([true, true]);
  expect(said.out).toContain('with this in the target: since: "3.13", strategies: { "billing-before": staged }');
  const { out } = await runCommand([...to("rabbitmq@4.0"), "--json"]);
  const { steps, ...plan } = JSON.parse(out) as { readonly steps: readonly { readonly target: object }[] };
  expect(plan).toMatchObject({ reasons: [], upgradeTo: "rabbitmq@4.0", settings: { since: "3.13" } });
  expect(steps).toMatchObject([{ target: { version: "4.0", since: "3.13" } }]);
});

test("a change without an order is refused, and nothing is written", async () => {
  const said = await runCommand(["migrate", old, ...fromNewer, "--target", "rabbitmq@3.13", "--output", steps]);
  expect([said.code, ...new Set(said.error.match(/error\[RD\d+\]/g))]).toEqual([1, "error[RD306]"]);
  // The consumer that drains stands in no file of a person.
  expect(said.error).toMatch(/^ {2}at .*: consumers\.billing$/m);
  expect(said.error).not.toContain("consumers.billing-before");
  const own = "retry: { attempts: 2, backoff: { kind: immediate } }";
  const named = (billing: string, mail: string): string =>
    `name: shop\nconsumers: { billing: { queue: ${billing}, ${own} }, mail: { queue: ${mail}, ${own} } }\n`;
  writeFileSync(old, named("one", "two"));
  writeFileSync(next, named("two", "one"));
  const swapped = await runCommand(["migrate", next, ...options, "--output", steps]);
  expect(swapped.error).toContain("the queue two of mail cannot pass to billing while mail drains it");
  expect(swapped.error).toContain(
    "fix  first migrate with a new name for the queue of billing, too; then delete two once it is empty",
  );
  expect(existsSync(steps)).toBe(false);
});

test("without a deployed declaration, or into a file, it is wrong usage", async () => {
  const said = await runCommand(["migrate", next, "--target", "rabbitmq@4.3"]);
  expect([said.code, said.error]).toEqual([2, expect.stringContaining("--from")]);
  writeFileSync(steps, "");
  expect(await runCommand(["migrate", next, ...options, "--output", steps])).toMatchObject({ code: 2 });
  for (const option of [["--wait", "1m"], ["--publishers-moved"]])
    expect(await runCommand(["migrate", next, ...options, ...option])).toMatchObject({
      code: 2,
      error: expect.stringContaining(`${option[0]} needs --next or --apply`),
    });
});

test("a strategy that the target names changes in steps, and the old code keeps its own", async () => {
  const [was, now, between] = ["was.yaml", "now.yaml", "between.json"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(was, '{ broker: rabbitmq, version: "4.3", strategy: staged }');
  writeFileSync(now, '{ broker: rabbitmq, version: "4.3", strategy: waits }');
  const from = ["--from", old, "--from-target", was];
  const said = await runCommand(["migrate", old, ...from, "--target", now, "--output", steps, "--json"]);
  const [beside] = (JSON.parse(said.out) as { steps: readonly { target: object }[] }).steps;
  expect(beside?.target).toMatchObject({ strategies: { "billing-before": "staged" } });
  writeFileSync(between, JSON.stringify(beside?.target));
  const step = join(steps, "1-beside.yaml");
  expect(await runCommand(["check", step, ...from, "--target", between])).toMatchObject({ code: 0 });
  const last = ["--from", step, "--from-target", between, "--target", now];
  expect(await runCommand(["check", join(steps, "2-last.yaml"), ...last])).toMatchObject({ code: 0 });
});

test("the new code of a consumer in order starts last, and its producers move first", async () => {
  const consumer = (name: string, own: string): string =>
    `${name}: { ${own}retry: { attempts: 3, backoff: { kind: constant, delay: 10s } }, handlerTimeout: 10s, order: per-key }`;
  const declared = (own: string): string =>
    `name: shop\nsources: { orders: { kind: topic } }\nconsumers: { ${consumer("billing", `${own}from: { orders: all }, `)}, ${consumer("mail", own.replace("q,", "m,"))} }\n`;
  writeFileSync(old, declared(""));
  writeFileSync(next, declared("queue: q, "));
  const said = await runCommand(["migrate", next, "--from", old, "--target", "sqs@eu-west-1"]);
  expect(said).toMatchObject({ code: 0, error: "" });
  for (const consumer of ["billing", "mail"]) {
    const [early, late] = [
      `Do not start the new code of ${consumer} yet`,
      `Only now start the new code of ${consumer}.`,
    ];
    expect(said.out.indexOf(early)).toBeGreaterThan(0);
    expect(said.out.indexOf(late)).toBeGreaterThan(said.out.indexOf("3. Stop the code that drains"));
  }
  expect(said.out).not.toContain("Start the new code of each consumer");
  expect(said.out).toContain("Move the producers of shop-mail.fifo to m.fifo.");
  expect(said.out).toMatch(/Wait until no program sends to these queues any more:\n {3}shop-mail\.fifo\n/);
});

test("a function of Lambda takes from a queue in order only in the last step", async () => {
  const [was, target] = ["was.yaml", "target.yaml"].map((name) => join(folder, name)) as [string, string];
  const declared = (own: string): string =>
    `name: shop\nsources: { orders: { kind: topic } }\nconsumers: { billing: { ${own}from: { orders: all }, retry: { attempts: 5, backoff: { kind: immediate } }, order: per-key } }\n`;
  writeFileSync(old, declared(""));
  writeFileSync(next, declared("queue: q, "));
  for (const file of [was, target])
    writeFileSync(file, "{ broker: sqs, region: eu-west-1, lambda: { billing: { function: billing, timeout: 10s } } }");
  const said = await runCommand(["migrate", next, "--from", old, "--from-target", was, "--target", target, "--json"]);
  expect(said.error).toBe("");
  const { steps } = JSON.parse(said.out) as { steps: readonly { target: { lambda: object } }[] };
  expect(steps.map(({ target: { lambda } }) => Object.keys(lambda))).toEqual([["billing-before"], ["billing"]]);
});
