import { readFileSync } from "node:fs";
import { resolve } from "node:path";

import { expect, test } from "vitest";

import { constantDelay, onServiceBus, onSqs, systemOf, withJitter } from "../../scripts/costs-page.ts";
import { isEntry } from "../../src/foreign/entries.ts";
import { compile } from "../../src/index.ts";
import { accepted } from "../support/examples.ts";

const page = readFileSync(resolve(import.meta.dirname, "../../docs/contract.md"), "utf8");
const told = new Set([...page.matchAll(/`([\w.-]+)`/g)].flatMap(([, words = ""]) => words.split(".")));

/** The keys whose own keys are names that users or SDKs choose, not fields. */
const open = new Set(["headers", "messageAnnotations", "attributes", "applicationProperties", "calls", "why"]);

function fieldsOf(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(fieldsOf);
  if (!isEntry(value)) return [];
  return Object.entries(value).flatMap(([key, own]) => [key, ...(open.has(key) ? [] : fieldsOf(own))]);
}

const all = [...constantDelay, ...withJitter, ...onSqs, ...onServiceBus];
test.each(all)("docs/contract.md has every field and operation of $target.strategy", (priced) => {
  const { contracts } = accepted(compile(systemOf(priced, ["billing"]).system, priced.target));
  expect(contracts).toHaveLength(1);
  const operations = JSON.stringify(contracts).matchAll(/"operation":"([^"]+)"/g);
  const names = [...fieldsOf(contracts), ...[...operations].flatMap(([, name = ""]) => name.split("."))];
  expect(names.filter((name) => !told.has(name))).toEqual([]);
});
