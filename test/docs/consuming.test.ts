import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";

const root = resolve(import.meta.dirname, "../..");
const pages = ["consuming.md", "idempotency.md", "monitoring.md", "consuming-sqs.md", "consuming-servicebus.md"];

/** The examples are type-checked, and run on a live broker, on the emulators of SQS and of Service Bus and on live stores. */
test.for(pages)(
  "each block of code in docs/%s stands in the example that it names, and its links lead somewhere",
  (page) => {
    const text = readFileSync(resolve(root, "docs", page), "utf8");
    const [, name = ""] = /From \[`(examples\/[a-z-]+\.ts)`\]/.exec(text) ?? [];
    const example = readFileSync(resolve(root, name), "utf8");
    const blocks = [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map((match) => match[1] ?? "");
    expect(blocks.length).toBeGreaterThan(0);
    for (const block of blocks) expect(example).toContain(block);
    const links = [...text.matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)].map((match) => match[1] ?? "");
    for (const link of links) expect(existsSync(resolve(root, "docs", link)), link).toBe(true);
  },
);
