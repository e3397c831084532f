import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";

import { checkSystem, compile, plan } from "../../src/index.ts";
import shop from "../../stacks/shop.ts";
import { resourcesOf, runProgram } from "../support/pulumi.ts";

const root = resolve(import.meta.dirname, "../..");
const documents = [
  "README.md",
  "ARCHITECTURE.md",
  "docs/changing.md",
  "docs/broker-facts.md",
  "docs/simulating.md",
  "docs/auditing.md",
  "docs/policy-in-ci.md",
  "docs/sqs.md",
  "docs/servicebus.md",
  "docs/sqs-claims.md",
  "docs/servicebus-claims.md",
];
const readme = readFileSync(resolve(root, "README.md"), "utf8");

const { FORCE_COLOR: _colour, ...withoutColour } = process.env;

/** The fenced blocks of one language. */
function blocksOf(text: string, language: string): string[] {
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm"))].map(
    (match) => match[1] ?? "",
  );
}

describe("each console block of the README and of the page on auditing shows what its command prints", () => {
  const auditing = readFileSync(resolve(root, "docs/auditing.md"), "utf8");
  const sessions = blocksOf(`${readme}\n${auditing}`, "console").map((block) => {
    const [prompt = "", ...lines] = block.split("\n");
    return { command: prompt.replace(/^\$ /, ""), printed: lines.join("\n") };
  });
  test("there are such blocks", () => expect(sessions.length).toBeGreaterThanOrEqual(3));
  test.for(sessions)("$command", ({ command, printed }) => {
    const words = command.replace("npm run -s redeliver -- ", "").split(" ");
    const child = spawnSync(process.execPath, ["src/cli/main.ts", ...words], {
      cwd: root,
      encoding: "utf8",
      env: withoutColour,
    });
    expect(`${child.stdout}${child.stderr}`.trimEnd()).toBe(printed.trimEnd());
  });
});

test("the declaration on the first page is valid, and is the one in examples/", async () => {
  const [block = ""] = blocksOf(readme, "ts");
  const code = block
    .replace(/^import .*$/gm, "")
    .replace("export default defineSystem(", "return (")
    .replace(/\);\s*$/, ");");
  const { exponential } = await import("../../src/index.ts");
  // oxlint-disable-next-line no-implied-eval -- the snippet is ours, from this repository
  const declared = new Function("exponential", code)(exponential) as unknown;
  const checked = checkSystem(declared);
  const { parseText } = await import("../../src/declare/parse.ts");
  const example = parseText(readFileSync(resolve(root, "examples/shop.yaml"), "utf8"), "yaml");
  expect(checked.ok && checked.value).toEqual(example.ok && (checkSystem(example.value) as { value: unknown }).value);
});

test("the Pulumi program of the README registers the topology of its declaration", async () => {
  const [declaration = "", program = ""] = blocksOf(readme, "ts");
  const folder = resolve(root, "out/readme-test");
  mkdirSync(folder, { recursive: true });
  writeFileSync(resolve(folder, "shop.ts"), declaration);
  writeFileSync(resolve(folder, "index.ts"), program);
  const run = await runProgram(() => import(/* @vite-ignore */ resolve(folder, "index.ts")), { preview: false });
  expect(run.error).toBeUndefined();
  const queues = resourcesOf(run, "Queue").map((each) => each.inputs["name"]);
  expect(queues.toSorted()).toEqual([
    "shop.billing",
    ...[2, 3, 4, 5].map((attempt) => `shop.billing.attempt.${attempt}`),
    "shop.billing.dead",
  ]);
});

test("the schedule that the README draws is the schedule that is planned", () => {
  const billing = plan(shop).consumers.find((each) => each.consumer === "billing");
  expect(
    billing?.retry?.attempts
      .slice(1)
      .map((each) => `${each.delayMs / 1_000}s`)
      .join(", "),
  ).toBe("1s, 2s, 4s, 8s");
  expect(readme).toContain("one tier per attempt: 1s, 2s, 4s, 8s");
});

test("the table of strategies says from which version each is there", () => {
  const constant = { kind: "constant", delay: "1s" };
  const since = {
    native: ["4.3.1", "4.3.0"],
    deferred: ["4.3.0", "4.2"],
    staged: ["3.10", null],
    waits: ["3.10", null],
  } as const;
  for (const [strategy, [first, before]] of Object.entries(since)) {
    const consumer = {
      from: { orders: "all" },
      retry: { attempts: 3, backoff: constant },
      protocol: strategy === "deferred" ? "amqp-1.0" : "amqp-0-9-1",
    };
    const checked = checkSystem({
      name: "shop",
      sources: { orders: { kind: "topic" } },
      consumers: { billing: consumer },
    });
    if (!checked.ok) throw new Error("refused");
    const isKept = (version: string): boolean =>
      compile(checked.value, { broker: "rabbitmq", version, strategy: strategy as "native" }).ok;
    expect(isKept(first), `${strategy} on ${first}`).toBe(true);
    if (before !== null) expect(isKept(before), `${strategy} on ${before}`).toBe(false);
    expect(readme).toMatch(new RegExp(`\\| \`${strategy}\` \\| RabbitMQ ${first.replace(/\.0$/, "")}`));
  }
});

test.for(documents)("every file that %s points at is there", (document) => {
  const text = readFileSync(resolve(root, document), "utf8");
  const links = [...text.matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)]
    .map((match) => match[1] ?? "")
    .filter((link) => !link.startsWith("http"));
  const folder = resolve(root, document, "..");
  // out/ is made by the commands that the text is about.
  expect(links.filter((link) => !link.startsWith("out/") && !existsSync(resolve(folder, link)))).toEqual([]);
});

test("every test that docs/broker-facts.md names is there", () => {
  const text = readFileSync(resolve(root, "docs/broker-facts.md"), "utf8");
  const named = [...text.matchAll(/`((?:integration|differential|unit|property|support)\/[a-z0-9./-]+\.ts)`/g)].map(
    (match) => match[1] ?? "",
  );
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((file) => !existsSync(resolve(root, "test", file)))).toEqual([]);
});
