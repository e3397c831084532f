import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { inFolderOfItsOwn, runCommand, runSeparately, type Said } from "../support/run-command.ts";
import { withoutProgress } from "../support/without-progress.ts";
import { oneConsumer } from "../support/examples.ts";

const root = resolve(import.meta.dirname, "../..");
const folder = inFolderOfItsOwn("cli");

/** A module is loaded as in a program of a user, by Node itself. */
async function redeliver(...words: string[]): Promise<Said> {
  const isModule = words.some((word) => /\.[jt]s$/.test(word));
  const said = await (isModule ? runSeparately : runCommand)(words);
  return { ...said, error: withoutProgress(said.error) };
}
function file(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return name;
}
const shop = join(root, "examples/shop.yaml");

describe("an unusable file: one diagnostic, its exit code, no stack trace, nothing on the standard output", () => {
  const cases: readonly (readonly [name: string, text: string | null, code: string, exitCode: number])[] = [
    ["missing.yaml", null, "RD001", 2],
    ["shop.txt", "name: shop", "RD001", 2],
    ["empty.yaml", "", "RD004", 1],
    ["comment.yaml", "# nothing yet\n", "RD004", 1],
    ["list.yaml", "- a\n- b\n", "RD101", 1],
    ["text.yaml", "just a text", "RD101", 1],
    ["duplicate.yaml", "name: a\nname: b\n", "RD002", 1],
    ["duplicate.json", '{"name":"a","name":"b"}', "RD002", 1],
    ["cut.json", '{"name": "shop", ', "RD002", 1],
    ["indented.yaml", "a:\n  - b\n c: d", "RD002", 1],
    ["two.yaml", "name: a\n---\nname: b\n", "RD002", 1],
    [
      "bomb.yaml",
      `a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c]\n`,
      "RD002",
      1,
    ],
    ["tagged.yaml", "name: !secret shop\nsources: {}\nconsumers: {}\n", "RD002", 1],
    ["prototype.yaml", "name: shop\nsources: {}\nconsumers: { __proto__: { from: {} } }\n", "RD111", 1],
    ["prototype.json", '{"name":"shop","sources":{"__proto__":{"kind":"topic"}},"consumers":{}}', "RD111", 1],
    ["nothing.ts", "export const shop = 1;", "RD003", 1],
    ["broken.ts", "export default {", "RD003", 1],
    ["throws.ts", 'throw new Error("no");', "RD003", 1],
    ["imports.ts", 'import "nowhere-to-be-found"; export default 1;', "RD003", 1],
    ["number.js", "export default 3;", "RD101", 1],
  ];
  test.for(cases)("%s", async ([name, text, code, exitCode]) => {
    if (text !== null) file(name, text);
    const result = await redeliver("plan", name);
    expect(result.error.match(/RD\d{3}/g)?.[0]).toBe(code);
    expect(result.error.match(/error\[RD/g)).toHaveLength(1);
    // Two spaces indent a diagnostic's own place.
    expect(result.error).not.toMatch(/\n {4,}at .*:\d+:\d+/);
    expect([result.code, result.out]).toEqual([exitCode, ""]);
    const json = await redeliver("plan", name, "--json");
    expect(JSON.parse(json.out)).toMatchObject({ ok: false, diagnostics: [{ code }] });
  });
});

test.for(["rabbitmq@4.3", "rabbitmq@4.0", "sqs@eu-west-1", "servicebus@standard"])(
  "plan and check have the same number of deliveries on %s, and plan alone says that its number is for any broker",
  async (target) => {
    const portable = join(root, "examples/portable.yaml");
    const checked = await redeliver("check", portable, "-t", target);
    const [, proved = ""] = /billing: \d+ states, (\d+) deliveries at most/.exec(checked.out) ?? [];
    expect(proved).not.toBe("");
    const deliveries = async (...words: string[]): Promise<string | undefined> =>
      /deliveries\s+(.*?)\n  \w/s.exec((await redeliver("plan", portable, ...words)).out)?.[1]?.replaceAll(/\s+/g, " ");
    const any = "25 at most on any broker: 5 attempts of 5 deliveries, if its consumer crashes";
    expect(await deliveries()).toBe(any);
    expect(await deliveries("-t", target)).toBe(`${proved} at most on ${target}, as check proves; ${any}`);
  },
);

test("a TypeScript file in any folder may import redeliver, and its refusal has the user's paths", async () => {
  const text = (attempts: number): string =>
    `import { constant, defineSystem } from "redeliver";\nexport default defineSystem({ name: "shop", sources: { orders: { kind: "topic" } }, consumers: { billing: { from: { orders: "all" }, retry: { attempts: ${attempts}, backoff: constant("1s") } } } });\n`;
  expect((await redeliver("plan", file("good.ts", text(3)), "--json")).code).toBe(0);
  const refused = await redeliver("plan", file("bad.ts", text(0)));
  expect(refused.code).toBe(1);
  expect(refused.error).toContain("bad.ts: consumers.billing.retry.attempts = 0");
});

describe("wrong usage is exit code 2", () => {
  test.for([
    [],
    ["nonsense"],
    ["plan"],
    ["compile", shop],
    ["compile", shop, "--target", "rabbitmq"],
    ["compile", shop, "--target", "rabbitmq@five"],
    ["compile", shop, "--target", "rabbitmq@4.9"],
    ["compile", shop, "--target", "nats@2"],
    ["compile", shop, "--target", "rabbitmq@4.3", "--strategy", "hope"],
    ["compile", shop, "--target", "rabbitmq@4.3", "--format", "toml"],
    ["compile", shop, "--target", "sqs"],
    ["compile", shop, "--target", "sqs@eu-west-9"],
    ["compile", shop, "--target", "sqs@eu-west-1", "--strategy", "staged"],
    ["compile", shop, "--target", "sqs@eu-west-1", "--format", "definitions"],
    ["compile", shop, "--target", "rabbitmq@4.3", "--format", "aws-json"],
    ["compile", shop, "--target", "sqs@eu-west-1", "--vhost", "orders"],
    ["audit", "--definitions", shop, "--target", "sqs@eu-west-1"],
    ["contract", shop, "nobody", "--target", "rabbitmq@4.3"],
    ["graph", shop, "--target", "rabbitmq@4.3", "--format", "png"],
    ["plan", shop, "--verbose"],
    ["plan", shop, "--strategy", "staged"],
  ])("%j", async (words) => {
    const result = await redeliver(...words);
    expect([result.code, result.out]).toEqual([2, ""]);
    expect(result.error).not.toBe("");
    expect(result.error).not.toMatch(/\n\s+at .*:\d+:\d+/);
  });
});

test("help is not an error, and names every command", async () => {
  const { code, out } = await redeliver("--help");
  expect(code).toBe(0);
  for (const command of ["plan", "compile", "contract", "simulate", "graph", "report", "explain"])
    expect(out).toContain(command);
});

test("a declaration that does not fit the target is refused with exit code 1, and writes no file", async () => {
  const target = ["--target", "rabbitmq@4.2", "--strategy", "native"];
  const result = await redeliver("compile", shop, ...target, "--output", "refused.json");
  expect(result.code).toBe(1);
  expect(result.error).toContain("RD202");
  expect(readdirSync(folder)).not.toContain("refused.json");
});

test("compile prints everything as JSON, or a definitions file for the named virtual host", async () => {
  const compile = ["compile", shop, "-t", "rabbitmq@4.3"];
  const compiled = JSON.parse((await redeliver(...compile)).out) as object;
  expect(Object.keys(compiled).join()).toBe("target,topology,contracts,promises,choices,input,warnings");
  const exported = await redeliver(...compile, "-f", "definitions", "--vhost", "orders", "-o", "sub/d.json");
  expect(exported.code).toBe(0);
  const definitions = JSON.parse(readFileSync(join(folder, "sub/d.json"), "utf8")) as { queues: { vhost: string }[] };
  expect(new Set(definitions.queues.map((queue) => queue.vhost))).toEqual(new Set(["orders"]));
});

test("for SQS it gives a CloudFormation template", async () => {
  const portable = resolve(import.meta.dirname, "../../examples/portable.yaml");
  const { code, out } = await redeliver("compile", portable, "-t", "sqs@eu-west-1", "--format", "aws-json");
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ AWSTemplateFormatVersion: "2010-09-09" });
  const contract = await redeliver("contract", portable, "shipping", "-t", "sqs@eu-west-1");
  expect(contract.out).toContain("transient\n  nothing\n");
});

test("the contract is a page of Markdown for other languages, or one file of it; JSON excludes both", async () => {
  const words = ["contract", shop, "billing", "--target", "rabbitmq@4.3", "--markdown"] as const;
  const { code, out } = await redeliver(...words);
  expect(code).toBe(0);
  expect(out.split("\n")[0]).toBe("# Consuming as `billing`");
  expect(await redeliver(...words, "--output", join(folder, "billing.md"))).toMatchObject({ code: 0, out: "" });
  expect(readFileSync(join(folder, "billing.md"), "utf8")).toBe(out);
  expect((await redeliver(...words, "--json")).code).toBe(2);
});

test("the page of a contract has one client if a person wants one", async () => {
  const words = ["contract", shop, "billing", "--target", "rabbitmq@4.3", "--client"] as const;
  const titlesFor = async (client: string) =>
    (await redeliver(...words, client)).out.split("\n").filter((line) => line.startsWith("### "));
  expect(await titlesFor("spring")).toEqual(["### Java, Spring AMQP"]);
  expect(await titlesFor(".net")).toEqual(["### .NET, RabbitMQ.Client", "### .NET, MassTransit"]);
  expect((await redeliver(...words, "spring", "--json")).error).toContain("'--client <text>' cannot be used with");
  const refused = await redeliver(...words, "rust");
  expect(refused).toMatchObject({ code: 2, out: "" });
  expect(refused.error).toContain('no client has "rust" in its name; the page has Python, pika; Java, Spring AMQP; ');
});

test("the contract as JSON lets other programs drive consumers", async () => {
  const { out } = await redeliver("contract", shop, "billing", "--target", "rabbitmq@4.3", "--json");
  expect(JSON.parse(out)).toMatchObject({
    consumer: "billing",
    target: "rabbitmq@4.3",
    strategy: "staged",
    protocol: "amqp-0-9-1",
    workQueue: "shop.billing",
    deadQueue: "shop.billing.dead",
    attempts: [
      { attempt: 1, delayMs: 0 },
      { attempt: 2, delayMs: 1_000 },
      { attempt: 3 },
      { attempt: 4 },
      { attempt: 5, delayMs: 8_000 },
    ],
    crashDeliveries: 3,
    outcomes: {
      success: [{ operation: "basic.ack" }],
      transient: [{ operation: "basic.nack", requeue: false }],
      permanent: [
        { operation: "basic.publish", exchange: "shop.dead", confirm: true, mandatory: true },
        { operation: "basic.ack" },
      ],
      return: [{ operation: "basic.nack", requeue: true }],
    },
  });
});

test.for(["mermaid", "dot", "svg"])("the graph as %s", async (format) => {
  const { code, out } = await redeliver("graph", shop, "--target", "rabbitmq@4.0", "--format", format);
  expect(code).toBe(0);
  expect(out).toContain("shop.billing.dead");
});

test("the command line loads no Pulumi", () => {
  const withoutPulumi = `data:text/javascript,import { registerHooks } from "node:module"; registerHooks({ resolve: (name, context, next) => { if (name.startsWith("@pulumi")) throw new Error("loaded " + name); return next(name, context); } });`;
  const words = ["--import", withoutPulumi, join(root, "src/cli/main.ts"), "compile", shop, "--target", "rabbitmq@4.3"];
  const child = spawnSync(process.execPath, words, { encoding: "utf8" });
  expect([child.status, withoutProgress(child.stderr)]).toEqual([0, ""]);
});

describe("leftovers", () => {
  const written = (attempts: number, name: string): string => {
    const retry = { attempts, backoff: { kind: "exponential", first: "1s", factor: 3 } };
    return file(name, JSON.stringify(oneConsumer({ retry })));
  };
  const target = ["--target", "rabbitmq@4.3", "--strategy", "staged"];
  const [four, two] = [written(4, "four.json"), written(2, "two.json")];
  const exported = "exported.json";
  let definitions = "";
  beforeAll(async () => {
    definitions = (await redeliver("compile", four, ...target, "--format", "definitions")).out;
    file(exported, definitions);
  });

  test("are listed with the reason, the end of their need and the requests, with exit code 1", async () => {
    const { code, out } = await redeliver("leftovers", two, ...target, "--definitions", exported);
    expect(code).toBe(1);
    expect(out).toContain("queue shop.attempt.4.9s in /");
    expect(out).toContain("needed  until its waiting messages are due, 9s after the last message came in");
    expect(out).toContain("DELETE /api/queues/%2F/shop.attempt.4.9s\n");
    const json = await redeliver("leftovers", two, ...target, "--definitions", exported, "--json");
    const { leftovers } = JSON.parse(json.out) as { leftovers: readonly { kind: string; name: string }[] };
    const queues = leftovers.filter(({ kind }) => kind === "queue").map(({ name }) => name);
    expect(queues).toEqual(["shop.attempt.3.3s", "shop.attempt.4.9s"]);
  });

  test("a name on the broker cannot control a terminal, as text and as JSON", async () => {
    const driving = definitions.replaceAll("shop.attempt.4.9s", "shop.attempt.4.9s\u009b2J");
    const from = ["--definitions", file("driving.json", driving)];
    for (const words of [[], ["--json"]]) {
      const { code, out } = await redeliver("leftovers", two, ...target, ...from, ...words);
      expect([code, out.includes("shop.attempt.4.9s"), out.includes("\u009b")]).toEqual([1, true, false]);
    }
  });

  test("if there are none, the exit code is 0", async () => {
    expect(await redeliver("leftovers", four, ...target, "--definitions", exported)).toMatchObject({
      code: 0,
      out: "shop on rabbitmq@4.3: all its resources are declared\n",
    });
  });

  test("those of the system under an earlier name are listed with --from", async () => {
    const renamed = { ...JSON.parse(readFileSync(join(folder, two), "utf8")), name: "store" };
    const store = file("store.json", JSON.stringify(renamed));
    const words = ["leftovers", store, ...target, "--definitions", exported, "--json"];
    expect(await redeliver(...words)).toMatchObject({ code: 0 });
    const { code, out } = await redeliver(...words, "--from", four);
    expect([code, out.includes("DELETE /api/queues/%2F/shop.billing")]).toEqual([1, true]);
    expect((await redeliver(...words, "--from", "nowhere.json")).code).toBe(2);
  });

  test.each([
    ["nothing to look in", []],
    ["a broker that is down", ["--url", "http://127.0.0.1:1/%2F"]],
    ["a file that is cut off", ["--definitions", file("cut-export.json", '{"queues": [')]],
    ["another broker's file", ["--sqs", exported]],
  ])("%s ends with 2, and does not mention leftovers", async (_, words) => {
    expect(await redeliver("leftovers", two, ...target, ...words)).toMatchObject({ code: 2, out: "" });
  });
});
