import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";

import { diagnostic } from "../../src/diagnostics/diagnostic.ts";
import { maskCredentials } from "../../src/diagnostics/mask-credentials.ts";
import { renderPage } from "../../scripts/diagnostics-page.ts";
import { diagnosticCodes } from "../../src/diagnostics/catalogue.ts";
import { runCommand } from "../support/run-command.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const root = resolve(import.meta.dirname, "../..");
const folder = temporaryFolder("mask");
const shop = join(root, "examples/shop.yaml");
const target = ["--target", "rabbitmq@4.3"];

describe("a secret is masked", () => {
  test.for([
    ["amqp://guest:hunter2@host:5672/%2F", "amqp://…@host:5672/%2F"],
    ["no consumer amqp://u:hun@ter2@host is declared", "no consumer amqp://…@host is declared"],
    ["at amqp:/u:hunter2@host: name", "at amqp:/…@host: name"],
    ["http://u:hun/te?r#2@host", "http://…@host"],
    ["http://u:hun ter2@host and more", "http://…@host and more"],
    ['"http://u:12 \\"hunter2@host" at a@b', '"http://…@host" at a@b'],
    ["https://hunter2@host", "https://…@host"],
    ["http:\\\\u:hunter2@host", "http:\\\\…@host"],
    ["guest:hunter2@localhost:5672", "…@localhost:5672"],
    ['"guest:hunter2@rabbit" is no target', '"…@rabbit" is no target'],
    ["//guest:hunter2@rabbit.example.com/", "//…@rabbit.example.com/"],
    ["https://h/queue?token=hunter2&size=3", "https://h/queue?token=…&size=3"],
    ["?X-Amz-Security-Token=hunter2&sig=hunter2", "?X-Amz-Security-Token=…&sig=…"],
    [
      "Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=hunter2=",
      "Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=…",
    ],
    ["AccountName=x;AccountKey=hunter2==;EndpointSuffix=y", "AccountName=x;AccountKey=…;EndpointSuffix=y"],
    ["Server=x;User Id=y;Password=hunter2;", "Server=x;User Id=y;Password=…;"],
    ["SharedAccessSignature sr=x&sig=hunter2%3D&se=1", "SharedAccessSignature sr=x&sig=…&se=1"],
    ['refused: {"password": "hunter2", "user": "x"}', 'refused: {"password": "…", "user": "x"}'],
    ["authorization: Bearer hunter2hunter2", "authorization: Bearer …"],
    ["--password=hunter2", "--password=…"],
  ])("%s", ([text = "", masked]) => {
    expect(maskCredentials(text)).toBe(masked);
    expect(maskCredentials(maskCredentials(text))).toBe(masked);
  });
});

describe("a text without a secret stays unchanged", () => {
  test.for([
    "http://auditor@localhost:15672 or http://user@host",
    "no URL such as amqp://user:password@host:5672/vhost",
    "http://localhost:15672 cannot be read; name the version with rabbitmq@4.3",
    '"http://localhost:15672", or rabbitmq@4.3',
    "https://www.npmjs.com/package/@azure/service-bus",
    "file:///a/node_modules/.pnpm/zod@4.0.0/index.js",
    "shop.yaml:3:7: consumers.a@b",
    "rabbitmq@4.3.1, not sqs@eu-west-1",
    "arn:aws:sqs:eu-west-1:123456789012:orders",
    "no key of retry; the key token is unknown, a password is missing",
    "the key order.placed is listed twice; x=1",
  ])("%s", (text) => {
    expect(maskCredentials(text)).toBe(text);
  });

  test("the pages of the codes stay unchanged", () => {
    for (const code of diagnosticCodes) expect(maskCredentials(renderPage(code))).toBe(renderPage(code));
  });

  test("every output for our examples stays unchanged", () => {
    const made = globSync("{test/golden/**/*,examples/**/*}.{json,diff,md,txt,yaml,html,svg,dot,mmd}", { cwd: root });
    expect(made.length).toBeGreaterThan(50);
    for (const name of made) {
      const text = readFileSync(join(root, name), "utf8");
      for (const line of text.split("\n")) expect(maskCredentials(line), name).toBe(line);
    }
  });
});

const secrets = [
  "amqp://guest:hunter2@host:5672/x",
  "https://hunter2@host",
  "http://guest:hun/@:ter2@host/x.yaml",
  "http://guest:12 hunter2@host/x.json",
  "http://guest:hunter2\n@host",
  "guest:hunter2@localhost",
  "https://host/x?token=hunter2",
  "Endpoint=sb://x/;SharedAccessKeyName=y;SharedAccessKey=hunter2",
];

describe("no output shows a secret from the command line", () => {
  const places: readonly ((secret: string) => readonly string[])[] = [
    (secret) => [secret],
    (secret) => ["plan", secret],
    (secret) => ["plan", `--${secret}`],
    (secret) => ["plan", shop, secret],
    (secret) => ["compile", shop, "--target", secret],
    (secret) => ["compile", shop, ...target, "--strategy", secret],
    (secret) => ["compile", shop, ...target, "--format", secret],
    (secret) => ["compile", shop, ...target, "--output", `/dev/null/${secret}`],
    (secret) => ["check", secret, ...target],
    (secret) => ["check", shop, "--target", secret],
    (secret) => ["contract", shop, secret, ...target],
    (secret) => ["contract", secret, "billing", ...target],
    (secret) => ["graph", secret, ...target],
    (secret) => ["simulate", shop, ...target, "--scenario", secret],
    (secret) => ["simulate", shop, ...target, "--seed", secret],
    (secret) => ["report", secret, ...target, "--output", folder],
    (secret) => ["explain", secret],
    (secret) => ["audit", "--definitions", secret],
    (secret) => ["audit", "--stack", secret],
    (secret) => ["audit", "--stack", shop, "--target", secret],
    (secret) => ["audit", "--stack", shop, "--as-version", secret],
    (secret) => ["audit", "--url", `ftp://${secret}`],
    (secret) => ["audit", "--url", "sqs:eu-west-1", "--endpoint", secret],
    (secret) => ["audit", "--url", `sqs:${secret}`],
    (secret) => ["diff", secret, ...target, "--definitions", shop],
    (secret) => ["diff", shop, secret, ...target],
    (secret) => ["diff", shop, ...target, "--url", secret],
    (secret) => ["leftovers", secret, ...target, "--definitions", shop],
    (secret) => ["leftovers", shop, ...target, "--definitions", secret],
    (secret) => ["leftovers", shop, ...target, "--definitions", shop, "--also", secret],
    (secret) => ["policy", "--preview", secret],
    (secret) => ["policy", "--preview", shop, "--config", secret],
    (secret) => ["policy", "--preview", shop, "--project", secret],
    (secret) => ["policy", "--preview", shop, "--stack-tag", secret],
  ];
  test.for(places.map((wordsOf) => [wordsOf("SECRET"), wordsOf] as const))("%j", async ([, wordsOf]) => {
    for (const secret of secrets) {
      const words = wordsOf(secret);
      const hasFormats = ["check", "audit", "policy"].includes(words[0] ?? "");
      const formats = hasFormats
        ? ["text", "json", "sarif", "github"].map((each) => ["--format", each])
        : [[], ["--json"]];
      for (const format of formats) {
        const { out, error } = await runCommand([...words, ...format]);
        expect(`${out}${error}`, JSON.stringify([words, format])).not.toMatch(/hunter2|ter2/i);
        if (out.startsWith("{")) JSON.parse(out);
      }
    }
  });
});

// In the middle of a message, a number and a blank are a port and the text after it.
const plain = secrets.filter((secret) => !secret.includes(":12 "));
test.for(plain)("no output shows a secret from a file or a broker: %j", async (secret) => {
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const files = [
    write(`throws-${secrets.indexOf(secret)}.mjs`, `throw new Error(${JSON.stringify(`cannot reach ${secret}`)});`),
    write("named.json", JSON.stringify({ name: secret, [secret]: secret, sources: { [secret]: { kind: secret } } })),
    write("cut.json", `{ "a": ${secret}`),
    write("cut.yaml", `a: *"${secret}"`),
    write("target.json", JSON.stringify({ broker: secret, version: secret, password: "hunter2" })),
  ];
  for (const each of files) {
    for (const format of ["text", "json", "sarif", "github"]) {
      for (const words of [
        ["check", each, ...target],
        ["check", shop, "--target", each],
        ["audit", "--definitions", each],
        ["policy", "--preview", each],
      ]) {
        const { out, error } = await runCommand([...words, "--format", format]);
        expect(`${out}${error}`, JSON.stringify([words, format])).not.toMatch(/hunter2|ter2/i);
      }
    }
  }
});

test("a diagnostic never has a password, whichever code made it", () => {
  const url = "http://key:hunter2@localhost:4566";
  const each = diagnostic("RD804", {
    message: `${url} does not answer`,
    path: ["queues", url],
    value: { url, list: [url, 1], password: "hunter2", nothing: null },
    notes: [url],
    help: url,
  });
  expect(JSON.stringify(each)).not.toContain("hunter2");
  expect(each.value).toEqual({
    url: "http://…@localhost:4566",
    list: ["http://…@localhost:4566", 1],
    password: "…",
    nothing: null,
  });
  const value = { a: ["b"] };
  expect(diagnostic("RD104", { message: "a", path: "", value }).value).toBe(value);
});

test("a deployment with a password in it is refused, and not masked", async () => {
  const place = join(folder, "tags.json");
  const portable = join(root, "examples/portable.yaml");
  const tagged = (url: string): void =>
    writeFileSync(
      place,
      JSON.stringify({ broker: "sqs", region: "eu-west-1", tags: { url, owner: "team@example.com" } }),
    );
  tagged("http://guest:hunter2@host");
  for (const command of ["compile", "check", "graph"]) {
    const { code, out, error } = await runCommand([command, portable, "--target", place]);
    expect([code, out, error]).toEqual([
      2,
      "",
      expect.stringMatching(/^error: the target seems to contain a password/),
    ]);
  }
  tagged("http://host");
  expect((await runCommand(["compile", portable, "--target", place])).code).toBe(0);
  const vhost = ["--vhost", "http://guest:hunter2@host", "--format", "definitions"];
  expect(await runCommand(["compile", shop, ...target, ...vhost])).toMatchObject({ code: 2, out: "" });
});
