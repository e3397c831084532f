import { expect, test } from "vitest";

import { brokers } from "../../src/brokers/index.ts";

const { read } = brokers.servicebus.auditor.file;

const queue = (name: string): object => ({ type: "Microsoft.ServiceBus/namespaces/queues", name, properties: {} });

/** Reads a template with two queues: one has a plain name, and the other has this expression as its name. */
function readWith(variables: Readonly<Record<string, unknown>>, name: string): ReturnType<typeof read> {
  const resources = [queue("shop/plain"), queue(name)];
  return read(JSON.stringify({ variables, parameters: { ring: { defaultValue: "[parameters('ring')]" } }, resources }));
}

const chain = Object.fromEntries(
  Array.from({ length: 5_000 }, (_, index) => [`v${index}`, `[variables('v${index + 1}')]`]),
);
const double = (next: string): string => `[concat(variables('${next}'), variables('${next}'))]`;
const doubling = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`v${at}`, double(`v${at + 1}`)]));

test.for<readonly [what: string, variables: Readonly<Record<string, unknown>>, name: string]>([
  ["a parameter that is made of itself", {}, "[parameters('ring')]"],
  ["variables in a ring", { a: "[variables('b')]", b: "[variables('a')]" }, "[variables('a')]"],
  ["5,000 variables in a chain", chain, "[variables('v0')]"],
  ["variables that double each time", { ...doubling, v60: "x" }, "[variables('v0')]"],
  ["20,000 functions in each other", {}, `[${"concat(".repeat(20_000)}'a'${")".repeat(20_000)}]`],
  ["a property of every object", {}, "[variables('constructor')]"],
])("%s is an unknown name", ([, variables, name]) => {
  const result = readWith(variables, name);
  expect(result).toMatchObject({ ok: true, warnings: [{ code: "RD409" }] });
});

test("short chains of variables are followed, each variable once", () => {
  const variables = { a: "[concat(variables('b'), variables('b'))]", b: "[variables('c')]", c: "x" };
  expect(readWith(variables, "[concat('shop/', variables('a'))]")).toMatchObject({ ok: true, warnings: [] });
});

test("20,000 nested resources are refused", () => {
  const text = `{"resources":${'[{"resources":'.repeat(20_000)}1${"}]".repeat(20_000)}}`;
  expect(read(text)).toMatchObject({ ok: false, diagnostics: [{ code: "RD005" }] });
});
