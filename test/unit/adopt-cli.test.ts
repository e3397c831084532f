import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { afterAll, expect, test } from "vitest";

import { adoptedTopologies, exportOf } from "../support/adopted-topologies.ts";
import { queue, vhosts } from "../support/known-topologies.ts";
import { armTemplate } from "../support/servicebus/arm-template.ts";
import { queue as sqsQueue, redriveTo } from "../support/sqs-listing.ts";

const folder = mkdtempSync(join(tmpdir(), "redeliver-adopt-"));
const at = (name: string): string => join(folder, name);
afterAll(() => rmSync(folder, { recursive: true }));

const [topology] = Object.values(adoptedTopologies) as [(typeof adoptedTopologies)[string]];
const sound = at("sound.json");
writeFileSync(sound, exportOf(topology));

function redeliver(...words: readonly string[]): { readonly code: number | null; readonly text: string } {
  const main = resolve(import.meta.dirname, "../../src/cli/main.ts");
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...words], { encoding: "utf8" });
  return { code: status, text: stdout + stderr };
}

const adopt = (...words: readonly string[]): ReturnType<typeof redeliver> => redeliver("adopt", ...words);

test("the files that are named are written, and nothing else", () => {
  const [output, importFile] = [at("shop.yaml"), at("import.json")];
  const { code, text } = adopt("--definitions", sound, "--name", "shop", "--output", output, "--import", importFile);
  expect(code).toBe(0);
  expect(text).toContain("orders.q: 5 attempts by staged, then orders.q.parkingLot");
  expect(readFileSync(output, "utf8")).toContain("name: shop\n");
  const { resources } = JSON.parse(readFileSync(importFile, "utf8")) as { resources: readonly object[] };
  expect(resources[0]).toMatchObject({ component: true, logicalName: "shop" });
});

test("a file for Terraform gets import blocks, of a consumer that moves only that of the dead queue that stays", () => {
  const [importFile, none, deployed] = [at("import.tf.json"), at("none.tf.json"), at("deployed.json")];
  const example = resolve(import.meta.dirname, "../../examples/events.yaml");
  redeliver("compile", example, "--target", "rabbitmq@4.3", "--format", "definitions", "--output", deployed);
  // Its export does not have the exchange of another owner.
  expect(adopt("--definitions", deployed, "--import", importFile).code).toBe(3);
  const blocksIn = (file: string): readonly object[] =>
    (JSON.parse(readFileSync(file, "utf8")) as { import: readonly object[] }).import;
  expect(blocksIn(importFile)).toContainEqual({
    to: expect.stringMatching(/^rabbitmq_queue\._shop_billing_[\da-f]{8}$/) as unknown,
    id: "shop.billing@/",
  });
  expect(adopt("--definitions", sound, "--name", "shop", "--import", none).code).toBe(0);
  expect(blocksIn(none)).toMatchObject([{ id: "orders.q.parkingLot@/" }]);
});

test.for([
  [
    "no input",
    [],
    /adopt reads one of --definitions FILE, --sqs FILE, --servicebus FILE, --stack FILE, --terraform-state FILE and/,
  ],
  ["two inputs", ["--definitions", sound, "--url", "http://localhost"], /adopt reads one of/],
  ["a file of another broker", ["--servicebus", sound], /not a template of Azure Resource Manager/],
  ["an output that exists", ["--definitions", sound, "--output", sound], /replace/],
  ["an import file that exists", ["--definitions", sound, "--import", at("sound.json")], /exists, and adopt replaces/],
  ["an output that is no YAML", ["--definitions", sound, "--output", at("x.ts")], /x\.ts needs the ending \.yaml/],
  ["one file for both", ["--definitions", sound, "--output", at("x.yaml"), "--import", at("x.yaml")], /name one file/],
  [
    "a target of another broker",
    ["--definitions", sound, "--target", "sqs@eu-west-1", "--output", at("x.yaml")],
    /another broker/,
  ],
] as const)("%s is wrong usage, and nothing is written", ([, words, message]) => {
  const { code, text } = adopt(...words);
  expect(code).toBe(2);
  expect(text).toMatch(message);
  expect(existsSync(at("x.yaml"))).toBe(false);
});

test.for([
  ["RD331", { vhosts, queues: [queue("orders.dlq")] }, []],
  ["RD331", { vhosts, queues: [queue("orders")] }, ["--queue", "order"]],
  ["RD315", { vhosts: [{ name: "/" }, { name: "b" }], queues: [queue("a"), { ...queue("a"), vhost: "b" }] }, []],
] as const)("%s refuses the input, and nothing is written", ([expected, definitions, words]) => {
  writeFileSync(at("refused.json"), JSON.stringify({ exchanges: [], bindings: [], ...definitions }));
  const { code, text } = adopt("--definitions", at("refused.json"), "--output", at("x.yaml"), "--json", ...words);
  const { diagnostics } = JSON.parse(text) as { diagnostics: readonly { code: string }[] };
  expect([code, diagnostics.map((each) => each.code)]).toEqual([1, [expected]]);
  expect(existsSync(at("x.yaml"))).toBe(false);
});

const managed = {
  "x-queue-type": "quorum",
  "x-dead-letter-exchange": "mail.dead",
  "x-dead-letter-routing-key": "mail.letters",
  "x-dead-letter-strategy": "at-least-once",
};
const policy = {
  name: "mail.letters",
  vhost: "/",
  pattern: "^mail\\.letters$",
  "apply-to": "queues",
  priority: 1,
  definition: { overflow: "reject-publish" },
};
const dying = { "x-queue-type": "quorum", "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "orders.dlq" };
const both = [queue("orders", dying), queue("orders.dlq", { "x-queue-type": "quorum" })];
const otherSystem = { vhosts, queues: [queue("orders"), queue("mail.letters", managed)], policies: [policy] };
const onBroker = (more: object): string => JSON.stringify({ exchanges: [], bindings: [], vhosts, ...more });
const onSqs = JSON.stringify([sqsQueue("orders", redriveTo("orders-dlq")), sqsQueue("orders-dlq")]);
const oddQueue = armTemplate([["queues", "a~b"]]);

test.for([
  ["another system's queues", "definitions", onBroker(otherSystem), [], "RD332", /belong to 2 systems/],
  [
    "a queue of two consumers",
    "definitions",
    onBroker({ queues: both }),
    ["orders", "orders.dlq"],
    "RD331",
    /orders\.dlq is no work queue/,
  ],
  ["a queue of two consumers on SQS", "sqs", onSqs, ["orders", "orders-dlq"], "RD205", /orders-dlq/],
  ["a name that breaks the provider's ids", "definitions", onBroker({ queues: [queue("a/b")] }), [], "RD204", /\//],
  ["a name that no entity may have", "servicebus", oddQueue, [], "RD204", /a~b/],
] as const)("%s is refused, and nothing is written", ([, option, text, chosen, code, message]) => {
  writeFileSync(at("bad.json"), text);
  const words = chosen.flatMap((name) => ["--queue", name]);
  const files = ["--output", at("x.yaml"), "--import", at("y")];
  const answer = adopt(`--${option}`, at("bad.json"), "--json", ...files, ...words);
  const { diagnostics } = JSON.parse(answer.text) as {
    diagnostics: readonly { code: string; message: string; value?: unknown }[];
  };
  expect([answer.code, diagnostics.map((each) => each.code)]).toEqual([1, expect.arrayContaining([code])]);
  expect(JSON.stringify(diagnostics)).toMatch(message);
  expect([existsSync(at("x.yaml")), existsSync(at("y"))]).toEqual([false, false]);
});

test("arguments that cannot change get their effect, and a dead queue that deletes letters its loss", () => {
  const file = at("limited.json");
  const dead = { "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "work.dead" };
  const limits = { "x-queue-type": "quorum", "x-message-ttl": 86_400_000, "x-max-length": 1_000 };
  const queues = [queue("work", { "x-queue-type": "quorum", ...dead }), queue("work.dead", limits)];
  writeFileSync(file, JSON.stringify({ rabbit_version: "4.3.6", vhosts, queues }));
  const { code, text } = adopt("--definitions", file);
  expect(code).toBe(0);
  expect(text).toContain("These lose messages today:\n  work.dead: message-ttl is 86400000: the broker deletes older");
  expect(text).toContain("  work.dead: max-length is 1000: a full queue drops letters today");
  expect(text).toMatch(/ {2}queue work\.dead: .*\n {4}work with the old arguments: a message is lost: /);
  const { left } = JSON.parse(adopt("--definitions", file, "--json").text) as { left: readonly object[] };
  const effect = {
    effect: "loss",
    consumers: ["work"],
    trace: expect.arrayContaining([expect.any(String)]) as unknown,
  };
  expect(left).toContainEqual(expect.objectContaining({ place: "queue work.dead", ...effect }));
  // A full queue that refuses letters loses none in itself.
  writeFileSync(
    file,
    readFileSync(file, "utf8").replace('"x-max-length"', '"x-overflow":"reject-publish","x-max-length"'),
  );
  expect(adopt("--definitions", file).text).not.toContain("a full queue drops letters");
});

test("--move declares the new queues, and the steps begin with the deployment", () => {
  const file = at("moving.json");
  const queues = [queue("work", { "x-queue-type": "quorum" }), queue("work.dead", { "x-message-ttl": 1_000 })];
  writeFileSync(file, JSON.stringify({ rabbit_version: "4.3.6", vhosts, queues }));
  const { code, text } = adopt("--definitions", file, "--move", "--output", at("moving.yaml"));
  expect(code).toBe(0);
  expect(text).toContain(
    "  work.2: 1 attempt by staged, then work.2.dead; it takes the place of work, by the steps at",
  );
  expect(text).toContain("work.2 takes the place of work, as in");
  expect(text).toContain("  1. deploy work.2\n");
  const declared = readFileSync(at("moving.yaml"), "utf8");
  expect(declared).toContain("    # it takes the place of work, whose arguments cannot change\n    queue: work.2\n");
  expect(redeliver("check", at("moving.yaml"), "--target", "rabbitmq@4.3").code).toBe(0);
});

test("a queue that no declaration can name is left out with the reason, and the exit code says so", () => {
  const queues = [queue("orders", { "x-queue-type": "quorum" }), queue("a/b", { "x-queue-type": "quorum" })];
  writeFileSync(at("odd.json"), JSON.stringify({ vhosts, exchanges: [], bindings: [], queues }));
  const { code, text } = adopt("--definitions", at("odd.json"), "--json");
  const answer = JSON.parse(text) as { declaration: { consumers: object }; refused: readonly object[] };
  expect(code).toBe(3);
  expect(Object.keys(answer.declaration.consumers)).toEqual(["orders"]);
  expect(answer.refused).toMatchObject([{ place: "a/b", fact: expect.stringMatching(/left out: .*\//) as unknown }]);
});
