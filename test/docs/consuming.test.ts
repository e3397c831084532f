import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";

const root = resolve(import.meta.dirname, "../..");
const pages = [
  "consuming.md",
  "idempotency.md",
  "monitoring.md",
  "consuming-sqs.md",
  "consuming-servicebus.md",
  "operate.md",
];

/**
 * Other tests type-check the examples, and run them on a live broker, on emulators of SQS and Service Bus, and on live
 * stores.
 */
test.for(pages)("each code block in docs/%s is part of the example that it names, and its links work", (page) => {
  const text = readFileSync(resolve(root, "docs", page), "utf8");
  const [, name = ""] = /From \[`(examples\/[a-z-]+\.ts)`\]/.exec(text) ?? [];
  const example = readFileSync(resolve(root, name), "utf8");
  const blocks = [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map((match) => match[1] ?? "");
  expect(blocks.length).toBeGreaterThan(0);
  for (const block of blocks) expect(example).toContain(block);
  const links = [...text.matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)].map((match) => match[1] ?? "");
  for (const link of links) expect(existsSync(resolve(root, "docs", link)), link).toBe(true);
});
