import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";

import { checkSystem, compile, plan } from "../../src/index.ts";
import shop from "../../stacks/shop.ts";
import { resourcesOf, runProgram } from "../support/pulumi.ts";
import { withoutProgress } from "../support/without-progress.ts";

const root = resolve(import.meta.dirname, "../..");
const read = (file: string): string => readFileSync(resolve(root, file), "utf8");
const readme = read("README.md");

const { FORCE_COLOR: _colour, ...withoutColour } = process.env;

/** The fenced blocks of one language. */
function blocksOf(text: string, language: string): string[] {
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm"))].map(
    (match) => match[1] ?? "",
  );
}

describe("each console block of a page is the output of its command", () => {
  const pages = ["README.md", ...globSync("docs/*.md", { cwd: root })];
  const sessions = pages.flatMap((page) =>
    blocksOf(read(page), "console").map((block) => {
      const [prompt = "", ...lines] = block.split("\n");
      return { page, command: prompt.replace(/^\$ npx redeliver /, ""), printed: lines.join("\n") };
    }),
  );
  test("several pages have console blocks", () => {
    expect(new Set(sessions.map(({ page }) => page)).size).toBeGreaterThanOrEqual(5);
  });
  test.for(sessions)("$page: $command", ({ command, printed }) => {
    const words = command.split(" ");
    const child = spawnSync(process.execPath, ["src/cli/main.ts", ...words], {
      cwd: root,
      encoding: "utf8",
      env: withoutColour,
    });
    expect(`${child.stdout}${withoutProgress(child.stderr)}`.trimEnd()).toBe(printed.trimEnd());
  });
});

test("the declaration on the first page is valid, and equals the one in examples/", async () => {
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

test("docs/project.md has the example of a project file", () => {
  const text = read("examples/project/redeliver.config.yaml");
  expect(blocksOf(read("docs/project.md"), "yaml")).toEqual([text]);
});

test.for(["events.yaml", "direct.yaml", "names.yaml"])(
  "docs/sources.md has examples/%s, which is valid",
  async (name) => {
    const text = readFileSync(resolve(root, "examples", name), "utf8");
    expect(blocksOf(read("docs/sources.md"), "yaml")).toContain(text);
    const { parseText } = await import("../../src/declare/parse.ts");
    const parsed = parseText(text, "yaml");
    expect(parsed.ok && checkSystem(parsed.value)).toMatchObject({ ok: true });
  },
);

const comingFrom = read("docs/coming-from.md").split(/^## /m).slice(1);
test("each section of docs/coming-from.md has a declaration", () => {
  expect(comingFrom.map((section) => blocksOf(section, "yaml").length)).toEqual(comingFrom.map(() => 1));
});

test.for(comingFrom.map((section) => [section.split("\n")[0] ?? "", section] as const))(
  "docs/coming-from.md, %s: the declaration compiles for its broker",
  async ([title, section]) => {
    const { parseText } = await import("../../src/declare/parse.ts");
    const parsed = parseText(blocksOf(section, "yaml")[0] ?? "", "yaml");
    const system = checkSystem(parsed.ok ? parsed.value : null);
    const target = title.includes("AWS")
      ? ({ broker: "sqs", region: "eu-west-1" } as const)
      : ({ broker: "rabbitmq", version: "4.3" } as const);
    expect(system.ok && compile(system.value, target)).toMatchObject({ ok: true });
  },
);

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
    "shop.attempt.2.1s",
    "shop.attempt.3.2s",
    "shop.attempt.4.4s",
    "shop.attempt.5.8s",
    "shop.billing",
    "shop.billing.dead",
    "shop.undeliverable",
  ]);
});

test("the programs of docs/deploying.md deploy the shared part, and refuse a consumer before it", async () => {
  const folder = resolve(root, "out/deploying-test");
  mkdirSync(folder, { recursive: true });
  writeFileSync(resolve(folder, "shop.ts"), blocksOf(readme, "ts")[0] ?? "");
  const [shared, billing] = blocksOf(read("docs/deploying.md"), "ts").map((program, index) => {
    writeFileSync(resolve(folder, `${index}.ts`), program);
    return resolve(folder, `${index}.ts`);
  });
  const run = await runProgram(() => import(/* @vite-ignore */ shared ?? ""), { preview: false });
  expect(run.error).toBeUndefined();
  expect(resourcesOf(run, "Queue").map((each) => each.inputs["name"])).not.toContain("shop.billing");
  expect(run.outputs).toMatchObject({
    shared: expect.arrayContaining([expect.stringContaining("exchange shop.orders")]),
  });
  // Pulumi's mocks know no outputs of another stack.
  const refused = await runProgram(() => import(/* @vite-ignore */ billing ?? ""), { preview: false });
  expect(refused.error?.message).toContain('First deploy the stack with part: "shared"');
});

test("the programs that adopt writes deploy what it found, and consume it when their code is there", async () => {
  const folder = resolve(root, "out/adopting-test");
  rmSync(folder, { recursive: true, force: true });
  expect(read("docs/adopting.md")).toContain("--move --programs --output shop.yaml > steps.txt");
  const words = ["adopt", "--definitions", "examples/masstransit.json", "--name", "shop", "--move", "--programs"];
  const main = ["src/cli/main.ts", ...words, "--output", resolve(folder, "shop.yaml")];
  expect(spawnSync(process.execPath, main, { cwd: root }).status).toBe(0);
  vi.stubEnv("RABBITMQ_URL", "amqp://127.0.0.1:1");
  onTestFinished(() => void vi.unstubAllEnvs());
  const consumer = resolve(folder, "consumers/billing.mjs");
  await expect(import(/* @vite-ignore */ consumer)).rejects.toThrow("write the code of handle first");
  const text = readFileSync(consumer, "utf8");
  const ready = resolve(folder, "consumers/ready.mjs");
  writeFileSync(ready, text.replace("isWritten = false", "isWritten = true"));
  // It has read the declaration, and there is no broker.
  await expect(import(/* @vite-ignore */ ready)).rejects.toThrow("127.0.0.1:1");
  const run = await runProgram(() => import(/* @vite-ignore */ resolve(folder, "index.mjs")), { preview: false });
  expect(run.error).toBeUndefined();
  expect(resourcesOf(run, "Queue").map((each) => each.inputs["name"])).toContain("billing_error");
});

test("the delays in the README's picture, and in its text, are the planned delays", () => {
  const billing = plan(shop).consumers.find((each) => each.consumer === "billing");
  const delays = billing?.retry?.attempts.slice(1).map(({ delayMs }) => `${delayMs / 1_000}s`) ?? [];
  const [, alternative = "", file = ""] = /^!\[(.*)\]\((.*\.svg)\)$/m.exec(readme) ?? [];
  expect(read(file)).toContain(`waits ${delays.join(", ")}<`);
  expect(alternative).toContain(`waits ${delays.slice(0, -1).join(", ")} or ${delays.at(-1)} in`);
});

test("the table of strategies gives the first version of each", () => {
  const constant = { kind: "constant", delay: "1s" };
  const since = {
    native: ["4.3.1", "4.3.0"],
    deferred: ["4.3.0", "4.2"],
    staged: ["3.13", null],
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
    expect(read("docs/strategies.md")).toMatch(
      new RegExp(`\\| \`${strategy}\` \\| RabbitMQ ${first.replace(/\.0$/, "")}`),
    );
  }
});

test("every test that docs/broker-facts.md names exists", () => {
  const text = readFileSync(resolve(root, "docs/broker-facts.md"), "utf8");
  const named = [
    ...text.matchAll(/`((?:integration|differential|unit|property|support|emulators)\/[a-z0-9./-]+\.ts)`/g),
  ].map((match) => match[1] ?? "");
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((file) => !existsSync(resolve(root, "test", file)))).toEqual([]);
  const titled = [...text.matchAll(/"([^"|]+)" in `([a-z0-9./-]+\.ts)`/g)];
  expect(titled.length).toBeGreaterThan(5);
  for (const [, title = "", file = ""] of titled)
    expect(readFileSync(resolve(root, "test", file), "utf8")).toContain(title);
});

test("the commands of the tests are those of package.json, with the times that they print first", () => {
  const { scripts } = JSON.parse(readFileSync(resolve(root, "package.json"), "utf8")) as {
    readonly scripts: Readonly<Record<string, string>>;
  };
  const rows = [
    ...read("CONTRIBUTING.md").matchAll(/^\| `npm (?:run )?(test[:a-z]*)` \|.*\| (?<time>[^|]*\d+ minutes) \|$/gm),
  ];
  expect(rows.map(([, name]) => name)).toEqual(Object.keys(scripts).filter((name) => name.startsWith("test")));
  for (const [, name = "", time = ""] of rows.filter(([, name]) => name !== "test:all")) {
    expect(scripts[`pre${name}`]).toMatch(new RegExp(`^echo .*${time} on two cores.* && node scripts/bootstrap.mjs`));
  }
});
