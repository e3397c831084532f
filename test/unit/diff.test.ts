import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { expect, test } from "vitest";

import { closedPort } from "../support/fake-broker.ts";
import { runCommand } from "../support/run-command.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const root = resolve(import.meta.dirname, "../..");
const folder = temporaryFolder("diff");

const events = join(root, "examples/events.yaml");
const next = join(root, "examples/events-next.yaml");
const drifted = join(root, "examples/drifted.json");
const target = ["--target", "rabbitmq@4.3"];

interface Export {
  readonly bindings: object[];
  readonly vhosts: { name: string }[];
  readonly exchanges: { name: string; type: string }[];
  readonly queues: { name: string; vhost: string; arguments: Record<string, unknown>; durable: boolean }[];
  readonly policies: Record<string, unknown>[];
  rabbitmq_version: string;
}

/** An export of a broker that has drifted, with one more change. */
function exported(change: (content: Export) => void): string {
  const content = JSON.parse(readFileSync(drifted, "utf8")) as Export;
  change(content);
  const file = join(mkdtempSync(join(folder, "export-")), "export.json");
  writeFileSync(file, JSON.stringify(content));
  return file;
}

function written(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

function intoTwoHosts({ vhosts, queues }: Export): void {
  vhosts.push({ name: "tests" });
  queues.push({ name: "other", vhost: "tests", arguments: {}, durable: true });
}

/** The code is that of wrong usage, unless a case has another. */
const unusable: Readonly<Record<string, { words: () => Promise<readonly string[]>; code?: number; says: RegExp }>> = {
  "nothing to compare with": { words: async () => [], says: /^error: diff takes one of --url URL/ },
  "a broker and a second declaration": {
    words: async () => [next, "--definitions", drifted],
    says: /^error: diff takes one of --url URL/,
  },
  "a target of another broker": {
    words: async () => ["--url", "sqs:eu-west-1", "--target", "servicebus@standard"],
    says: /^error: the target is one of Azure Service Bus, but the input is of another broker/,
  },
  "a URL of another broker": {
    words: async () => ["--url", "sqs:eu-west-1"],
    says: /^error: the target is one of RabbitMQ, but the input is of another broker/,
  },
  "a URL without a broker": {
    words: async () => ["--url", `http://localhost:${await closedPort()}/%2F`],
    says: /^error\[RD407\]/,
  },
  "a URL that is none": { words: async () => ["--url", "localhost"], says: /^error\[RD407\]/ },
  "no export": { words: async () => ["--definitions", written("notes.txt", "a note")], says: /^error\[RD002\]/ },
  "a declaration as an export": { words: async () => ["--definitions", events], says: /^error\[RD401\]/ },
  "an export of several virtual hosts": {
    words: async () => ["--definitions", exported(intoTwoHosts)],
    says: /^error\[RD315\][^]*--part "\/"/,
  },
  "a virtual host that the export does not have": {
    words: async () => ["--definitions", exported(intoTwoHosts), "--part", "nowhere"],
    says: /^error\[RD315\]/,
  },
  "a second declaration that is refused": {
    words: async () => [written("key.yaml", readFileSync(next, "utf8").replace("kind: topic", "kind: queue"))],
    code: 1,
    says: /^error\[RD101\]/,
  },
};

test.for(Object.entries(unusable))("%s: one diagnostic, and nothing on the standard output", async ([, asked]) => {
  const { words, code = 2, says } = asked;
  const given = await words();
  const result = await runCommand(["diff", events, ...(given.includes("--target") ? [] : target), ...given]);
  expect(result.error).toMatch(says);
  expect(result.error.match(/^error/gm)).toHaveLength(1);
  expect([result.code, result.out]).toEqual([code, ""]);
});

test("a declaration that does not compile is one diagnostic", async () => {
  const file = written(
    "bad.yaml",
    "name: shop\nsources: {}\nconsumers: { a: { from: { nowhere: all }, retry: { attempts: 3, backoff: { kind: immediate } } } }\n",
  );
  const result = await runCommand(["diff", file, ...target, "--definitions", drifted]);
  expect(result.error.match(/^error\[RD\d+\]/gm)).toHaveLength(1);
  expect([result.code, result.out]).toEqual([1, ""]);
});

interface Answer {
  readonly ok: boolean;
  readonly differences: readonly { readonly effect: string; readonly kind: string; readonly name: string }[];
  readonly diagnostics: readonly { readonly code: string; readonly message: string; readonly help?: string }[];
}

async function compared(change: (content: Export) => void, ...more: string[]): Promise<Answer & { code: number }> {
  const words = ["diff", events, ...target, "--definitions", exported(change), "--json", ...more];
  const { code, out } = await runCommand(words);
  return { code, ...(JSON.parse(out) as Answer) };
}

const effectsOf = ({ differences }: Answer): readonly unknown[] =>
  differences.map(({ effect, kind, name }) => [effect, kind, name.split(" ")[0]]);

const asDrifted = [
  ["loss", "policy in force on the queue", "shop.billing.dead"],
  ["otherwise", "policy in force on the queue", "shop.billing"],
  ["otherwise", "binding", "amq.topic"],
];

test("one virtual host of several is compared: the named one, or the only one with queues", async () => {
  expect(effectsOf(await compared(intoTwoHosts, "--part", "/"))).toEqual(asDrifted);
  expect(effectsOf(await compared(({ vhosts }) => vhosts.push({ name: "tests" })))).toEqual(asDrifted);
});

test("a pattern that cannot be read leaves the comparison incomplete, and the rest is compared", async () => {
  const answer = await compared(({ policies }) =>
    policies.push({ ...policies[0], name: "odd", pattern: "(?<!x)shop" }),
  );
  expect(effectsOf(answer)).toEqual(asDrifted);
  expect([answer.code, answer.diagnostics.at(-1)?.code]).toEqual([3, "RD314"]);
});

test("a foreign queue on the exchange of dead letters is a difference", async () => {
  const answer = await compared(addTap);
  expect(effectsOf(answer).map((each) => (each as readonly string[]).slice(1))).toContainEqual([
    "binding",
    "shop.dead",
  ]);
});

const otherwise: Readonly<Record<string, readonly [change: (content: Export) => void, fix: RegExp]>> = {
  "shop.dead": [({ exchanges }) => retyped(exchanges, "shop.dead"), /^stop the consumers, delete the exchange/],
  "events.orders": [
    ({ exchanges }) => retyped(exchanges, "events.orders"),
    /^it belongs to somebody else: declare the kind/,
  ],
  "shop.billing": [
    ({ queues }) => retuned(queues, "shop.billing"),
    /^stop the publishers, and let the consumers empty/,
  ],
  "shop.billing.dead": [({ queues }) => retuned(queues, "shop.billing.dead"), /^stop the consumers, and handle/],
  "amq.topic to the queue shop.billing": [
    () => undefined,
    /^find out who publishes to amq\.topic.* declare them in from/,
  ],
  // Letters that somebody copies have no place in a declaration.
  "shop.dead to the queue tap": [addTap, /^deploy the system again; remove by hand/],
};

function addTap({ bindings, queues }: Export): void {
  const tap = { ...(queues[0] as Export["queues"][number]), name: "tap" };
  queues.push(tap);
  const { vhost } = tap as unknown as { readonly vhost: string };
  const key = { routing_key: "shop.billing", arguments: {}, vhost };
  bindings.push({ source: "shop.dead", destination: "tap", destination_type: "queue", ...key });
}

function retyped(exchanges: Export["exchanges"], name: string): void {
  for (const each of exchanges) if (each.name === name) each.type = "headers";
}

function retuned(queues: Export["queues"], name: string): void {
  for (const each of queues) if (each.name === name) each.arguments["x-max-length"] = 5;
}

test.for(Object.entries(otherwise))("%s made otherwise: the fix is the way out", async ([name, of]) => {
  const { diagnostics } = await compared(of[0]);
  const found = diagnostics.find(({ message }) =>
    new RegExp(`^the (queue|exchange|binding) ${name} (differs|with the key)`).test(message),
  );
  expect(found?.help).toMatch(of[1]);
});

test("an exchange of another owner that a restart deletes can lose messages", async () => {
  const answer = await compared(({ exchanges }) => {
    for (const each of exchanges) if (each.name === "events.orders") Object.assign(each, { durable: false });
  });
  expect(effectsOf(answer)).toContainEqual(["loss", "exchange", "events.orders"]);
  expect(answer.diagnostics.find(({ message }) => message.includes("events.orders differs"))?.help).toMatch(/durable/);
});

test.for([
  ["a source", "events.orders", "", [], "loss"],
  ["a source of another owner", "events.orders", ", owner: other", [], "loss"],
  ["a source of another owner that others lead into", "events.orders", ", owner: other", ["amq.topic"], null],
  ["an exchange that consumers publish to", "shop.wait.10000ms", "", [], "loss"],
  ["an exchange that only dead-lettering uses", "shop.again", "", [], "harmless"],
] as const)("the broker refuses publishes to %s if it is internal", async ([, name, owner, feeds, effect]) => {
  const text = readFileSync(join(root, "examples/events-jitter.yaml"), "utf8").replace(", owner: other", owner);
  const file = written("internal.yaml", text);
  const on = [...target, "--strategy", "waits"];
  const content = JSON.parse((await runCommand(["compile", file, ...on, "--format", "definitions"])).out) as Export;
  if (owner !== "") content.exchanges.push({ name, type: "topic" });
  for (const source of feeds)
    content.bindings.push({ source, destination: name, destination_type: "exchange", routing_key: "#", arguments: {} });
  for (const each of content.exchanges) Object.assign(each, { vhost: "/", internal: each.name === name });
  for (const each of content.bindings) Object.assign(each, { vhost: "/" });
  const all = written("internal.json", JSON.stringify(content));
  const answer = JSON.parse((await runCommand(["diff", file, ...on, "--definitions", all, "--json"])).out) as Answer;
  expect(effectsOf(answer)).toEqual(effect === null ? [] : [[effect, "exchange", name]]);
});

test.for([
  ["shop.billing", true],
  ["another queue", false],
] as const)("an undeclared queue dead-letters into %s through the default exchange", async ([key, isFound]) => {
  const given = { "x-queue-type": "quorum", "x-dead-letter-exchange": "", "x-dead-letter-routing-key": key };
  const answer = await compared(({ queues }) => {
    queues.push({ ...(queues[0] as Export["queues"][number]), name: "theirs", arguments: given });
  });
  const entry = ["otherwise", "dead-lettering", "from"];
  expect(effectsOf(answer)).toEqual(isFound ? [...asDrifted, entry] : asDrifted);
  const text = "the dead-lettering from theirs into the queue shop.billing is not declared: messages behave otherwise";
  expect(answer.diagnostics.some(({ message }) => message === text)).toBe(isFound);
});

test("Markdown says what could not be read", async () => {
  const file = exported(({ policies }) => policies.push({ ...policies[0], name: "odd", pattern: "(?<!x)shop" }));
  const { out } = await runCommand(["diff", events, ...target, "--definitions", file, "--format", "markdown"]);
  expect(out).toMatch(/^\*\*RD314:\*\* .*policy odd/m);
});

test("an export that lacks the exchange of another owner leaves its kind unknown", async () => {
  const answer = await compared(({ exchanges }) => exchanges.shift());
  expect(answer.code).toBe(3);
  expect(answer.diagnostics.some(({ code, message }) => code === "RD314" && message.includes("events.orders"))).toBe(
    true,
  );
});

test("a broker of another version is a difference if it handles messages otherwise", async () => {
  const older = await compared((content) => {
    content.rabbitmq_version = "4.0.5";
  });
  expect(effectsOf(older)).toContainEqual(["otherwise", "version", "rabbitmq@4.0.5"]);
  const patched = await compared((content) => {
    content.rabbitmq_version = "4.3.4";
  });
  expect(effectsOf(patched)).toEqual(asDrifted);
});

test("a queue that a restart deletes is judged as if it were gone", async () => {
  const answer = await compared(({ queues }) => {
    (queues[1] as Export["queues"][number]).durable = false;
  });
  expect(effectsOf(answer)).toContainEqual(["loss", "queue", "shop.billing"]);
});

test("policies of one priority: the broker may take either, so each counts", async () => {
  const answer = await compared(({ policies }) => {
    (policies[2] as Record<string, unknown>)["priority"] = 1_000;
  });
  expect(effectsOf(answer)).toEqual(asDrifted);
});

test("two differences that are harmless alone can lose messages together", async () => {
  const answer = await compared(({ queues, policies }) => {
    policies.splice(2, 1);
    // The broker needs the setting once, in the argument or in the policy.
    const { arguments: given } = queues[1] as Export["queues"][number];
    delete given["x-overflow"];
    delete (policies[1] as { definition: Record<string, unknown> }).definition["overflow"];
  });
  expect(effectsOf(answer).slice(0, 1)).toEqual([["loss", "system", "as"]]);
  expect(effectsOf(answer)).toContainEqual(["harmless", "queue", "shop.billing"]);
});

test("a pattern is missed although another binding takes its example", async () => {
  const text = (keys: string): string => readFileSync(next, "utf8").replace(/orders: \[.*?\]/, `orders: ["${keys}"]`);
  const both = written("both.yaml", text('order.#", "order.*'));
  const lost = async (keys: string): Promise<unknown> => {
    const { out } = await runCommand(["diff", both, written("one.yaml", text(keys)), ...target, "--json"]);
    return effectsOf(JSON.parse(out) as Answer);
  };
  expect(await lost("order.*")).toEqual([["loss", "binding", "events.orders"]]);
  expect(await lost("order.#")).toEqual([["harmless", "binding", "events.orders"]]);
});

test("instances that receive one at a time, or all together, behave otherwise", async () => {
  const text = readFileSync(events, "utf8");
  const limited = `${text.trimEnd()}\n    queueArguments: { singleActiveConsumer: true }\n`;
  const answer = await runCommand(["diff", events, written("active.yaml", limited), ...target, "--json"]);
  expect(effectsOf(JSON.parse(answer.out) as Answer)).toEqual([["otherwise", "queue", expect.any(String)]]);
});

test("queues that a deployment leaves are no difference between two declarations", async () => {
  const text = readFileSync(next, "utf8");
  const attempts = (number: number): string =>
    written(`${number}.yaml`, text.replace(/attempts: \d+/, `attempts: ${number}`));
  const words = ["diff", attempts(6), attempts(3), "--target", "rabbitmq@4.3", "--strategy", "waits", "--json"];
  const answer = JSON.parse((await runCommand(words)).out) as Answer;
  expect(effectsOf(answer)).toEqual([["otherwise", "policy in force on the queue", "shop.billing"]]);
});

test("one policy over many queues is one entry to read, and one for each queue to programs", async () => {
  const consumerOf = (name: string, delay: string): string =>
    `  ${name}: { from: { orders: [${name}] }, retry: { attempts: 3, backoff: { kind: constant, delay: ${delay} } } }`;
  const names = Array.from({ length: 12 }, (_, index) => `c${index + 1}`);
  const consumers = [...names.map((name) => consumerOf(name, "10s")), consumerOf("slow", "30s")];
  const file = written(
    "many.yaml",
    `name: shop\nsources: { orders: { kind: topic } }\nconsumers:\n${consumers.join("\n")}\n`,
  );
  const compiled = await runCommand(["compile", file, ...target, "--format", "definitions"]);
  const content = JSON.parse(compiled.out) as Export;
  const ours = { name: "limits", pattern: "^shop[.][a-z0-9]+$", "apply-to": "queues", priority: 2_000 };
  content.policies.push({ ...content.policies[0], ...ours, definition: { "max-length": 10 } });
  const words = ["diff", file, ...target, "--definitions", written("many.json", JSON.stringify(content)), "--format"];
  const { out: text } = await runCommand([...words, "text"]);
  const { out: markdown } = await runCommand([...words, "markdown"]);
  const others = names.slice(1, 11).map((name) => `shop.${name}`);
  for (const out of [text, markdown]) {
    expect(out.match(/^(\w+\[RD\d+\]: |\| )the policy in force on the queue .*? differs/gm)).toHaveLength(2);
    expect(out).toContain("the policy in force on the queue shop.c1 differs, like 11 more");
    expect(out).toContain(`the same for ${others.join(", ")} and 1 more`);
    // Its setting has another declared value.
    expect(out).toMatch(/the policy in force on the queue shop\.slow differs(:| \|)/);
    expect(out).toContain("13 differences");
  }
  const answer = JSON.parse((await runCommand([...words, "json"])).out) as Answer;
  const queues = [...names, "slow"].map((name) => `shop.${name}`);
  expect(answer.differences.map(({ name }) => name)).toEqual(queues);
  expect(answer.diagnostics).toHaveLength(13);
  const sarif = JSON.parse((await runCommand([...words, "sarif"])).out) as { readonly runs: { results: object[] }[] };
  expect(sarif.runs[0]?.results).toHaveLength(13);
});

test.for(["sarif", "github", "markdown"])("--format %s has every difference", async (format) => {
  const { code, out } = await runCommand(["diff", events, ...target, "--definitions", drifted, "--format", format]);
  expect(code).toBe(1);
  const all = ["shop.billing.dead", "shop.billing", "amq.topic"];
  expect(all.filter((name) => !out.includes(name))).toEqual([]);
  if (format === "sarif") expect(JSON.parse(out)).toMatchObject({ runs: [{ results: [{}, {}, {}] }] });
  if (format === "github") expect(out.match(/^::(error|warning) /gm)).toHaveLength(3);
  if (format === "markdown") expect(out.match(/^\| the /gm)).toHaveLength(3);
});

test("a key that an exchange ignores changes nothing, and neither does an exchange before one of another owner", async () => {
  const sources =
    "  news: { kind: fanout, name: events.news, owner: other }\n  docs: { kind: headers, name: docs, owner: other }";
  const from = "{ news: all, docs: { match: any, headers: { type: label } } }";
  const retry = "{ attempts: 3, backoff: { kind: constant, delay: 10s } }";
  const file = written(
    "news.yaml",
    `name: shop\nsources:\n${sources}\nconsumers:\n  billing:\n    from: ${from}\n    retry: ${retry}\n`,
  );
  const compiled = await runCommand(["compile", file, ...target, "--format", "definitions"]);
  const own = JSON.parse(compiled.out) as Omit<Export, "bindings"> & {
    readonly bindings: readonly { source: string }[];
  };
  const vhost = "/";
  const made = { vhost, durable: true, auto_delete: false, internal: false, arguments: {} };
  const foreign = ["events.news", "docs", "up"].map((name) => ({
    ...made,
    name,
    type: name === "docs" ? "headers" : "fanout",
  }));
  const up = { vhost, source: "up", destination: "docs", destination_type: "exchange", routing_key: "", arguments: {} };
  const isForeign = ({ source }: { readonly source: string }): boolean => source === "events.news" || source === "docs";
  const keyless = own.bindings.filter(isForeign).map((each) => ({ ...each, routing_key: "" }));
  const differenceTo = async (name: string, bindings: readonly object[]): Promise<readonly unknown[]> => {
    const content = { ...own, exchanges: [...own.exchanges, ...foreign], bindings: [...bindings, up] };
    const { code, out, error } = await runCommand([
      "diff",
      file,
      ...target,
      "--definitions",
      written(name, JSON.stringify(content)),
    ]);
    return [code, (out + error).trim().split("\n").at(-1)];
  };
  expect(keyless).toHaveLength(2);
  expect(await differenceTo("both.json", [...own.bindings, ...keyless])).toEqual([
    0,
    "shop on rabbitmq@4.3: no difference",
  ]);
  const without = own.bindings.filter((each) => !isForeign(each));
  expect(await differenceTo("keyless.json", [...without, ...keyless])).toEqual([
    1,
    "shop on rabbitmq@4.3: 2 differences: 0 can lose messages, 0 change the behaviour, 2 harmless",
  ]);
  expect(await differenceTo("unbound.json", without)).toEqual([
    1,
    "shop on rabbitmq@4.3: 2 differences: 2 can lose messages, 0 change the behaviour, 0 harmless",
  ]);
});
