import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";

import { inFolderOfItsOwn, runCommand, type Said } from "../support/run-command.ts";

const folder = inFolderOfItsOwn("check-change");

async function check(...words: readonly string[]): Promise<Said> {
  return runCommand(["check", "new.yaml", "--target", "rabbitmq@4.3", ...words]);
}

function write(name: string, attempts: number): void {
  const lines = [
    "name: shop",
    "sources: { orders: { kind: topic } }",
    "consumers:",
    "  billing:",
    "    from: { orders: [order.placed] }",
    `    retry: { attempts: ${attempts}, backoff: { kind: constant, delay: 10s } }`,
  ];
  writeFileSync(join(folder, name), `${lines.join("\n")}\n`);
}
write("new.yaml", 3);
write("five.yaml", 5);
write("twelve.yaml", 12);
writeFileSync(join(folder, "broken.yaml"), "name: shop\n");
const staged = ["--strategy", "staged"];

test("a change that keeps every promise", async () => {
  const { code, out, error } = await check(...staged, "--from", "five.yaml");
  expect([code, error]).toEqual([0, ""]);
  expect(out).toMatch(/^change from five\.yaml\nproved {3}billing: \d+ states during the change, 5 attempts at most$/m);
  expect(out).toMatch(/^stays {4}queue shop\.attempt\.4\.10s: no attempt .+ came in\. Alike: shop\.attempt\.5\.10s$/m);
});

test("a consumer that goes needs a migration, or its old name", async () => {
  const invoices = readFileSync(join(folder, "new.yaml"), "utf8").replace("  billing:", "  invoices:");
  writeFileSync(join(folder, "renamed.yaml"), invoices);
  const words = ["check", "renamed.yaml", "--target", "rabbitmq@4.3", "--from", "new.yaml"];
  const says =
    "billing goes, and nothing takes its messages from shop.billing any more: redeliver migrate has steps that empty it first. If the consumer has a new name, write formerly: billing there";
  const [text, github] = [await runCommand(words), await runCommand([...words, "--format", "github"])];
  expect([text.code, github.code, ...[text, github].map(({ out }) => out.includes(says))]).toEqual([0, 0, true, true]);
  const { change } = JSON.parse((await runCommand([...words, "--json"])).out) as { readonly change: object };
  expect(change).toMatchObject({ gone: [{ consumer: "billing", queue: "shop.billing" }] });
  writeFileSync(join(folder, "renamed.yaml"), invoices.replace("invoices:", "invoices:\n    formerly: billing"));
  expect((await runCommand(words)).out).not.toContain("migrate  ");
});

/** The state of a stack with components, as an engine writes it: their outputs have another target. */
function state(...inputs: readonly object[]): string {
  const type = "redeliver:index:RetryTopology";
  const resources = inputs.map((each, index) => ({
    type,
    urn: `urn:pulumi:dev::shop::${type}::${index}`,
    inputs: each,
    outputs: { target: "rabbitmq@4.3" },
  }));
  return JSON.stringify({ version: 3, deployment: { resources } });
}

async function expectRefused(text: string, message: string): Promise<void> {
  writeFileSync(join(folder, "odd.json"), text);
  const refused = await check(...staged, "--from", "odd.json");
  expect([refused.code, refused.out]).toEqual([2, ""]);
  expect(refused.error).toMatch(/^error\[RD401\]: .*\n {2}at {3}odd\.json/);
  expect(refused.error).toContain(message);
}

test("the state of a stack has the deployed declaration and its target", async () => {
  const declaration = parse(readFileSync(join(folder, "five.yaml"), "utf8")) as object;
  const target = { broker: "rabbitmq", version: "4.3", strategy: "staged" };
  writeFileSync(join(folder, "state.json"), state({ declaration, target }));
  const inFile = await check(...staged, "--from", "five.yaml");
  const { code, out, error } = await check(...staged, "--from", "state.json");
  expect([code, error, out]).toEqual([0, "", inFile.out.replace("change from five.yaml", "change from state.json")]);
  const renamed = { ...declaration, name: "store", formerly: "shop" };
  writeFileSync(join(folder, "state.json"), state({ declaration: renamed, target }));
  expect(await check(...staged, "--from", "state.json")).toMatchObject({ code: 0, error: "" });
  writeFileSync(join(folder, "marked.JSON"), `\uFEFF${state({ declaration, target })}`);
  expect((await check(...staged, "--from", "marked.JSON")).out).toContain("change from marked.JSON\n");
  const refusals = [
    [state(), "this stack deploys no system, and not shop"],
    [state({ declaration: { ...declaration, name: "store" }, target }), "this stack deploys store, and not shop"],
    [state({ declaration, target }, { declaration, target }), "this stack deploys shop 2 times"],
    [state({ declaration: { secret: 1 }, target }), "this stack deploys no system, and not shop"],
    [state({ declaration, target: "rabbitmq@4.3" }), "this version of Redeliver cannot read the deployed declaration"],
    ['{ "deployment": { "resources": 1 } }', "the resources of this state are no list"],
  ] as const;
  for (const [text, message] of refusals) await expectRefused(text, message);
  const twoTargets = await check(...staged, "--from", "state.json", "--from-target", "rabbitmq@4.3");
  expect(twoTargets.error).toContain("leave out --from-target");
});

test("a compiled file has the deployed declaration and its target, if it is JSON of Redeliver's own", async () => {
  const compile = async (format: string, file: string): Promise<Record<string, unknown>> => {
    const to = join(folder, file);
    await runCommand(["compile", "five.yaml", "--target", "rabbitmq@4.3", ...staged, "--format", format, "-o", to]);
    return JSON.parse(readFileSync(to, "utf8")) as Record<string, unknown>;
  };
  const compiled = await compile("json", "compiled.json");
  const { out } = await check(...staged, "--from", "five.yaml");
  expect(await check(...staged, "--from", "compiled.json")).toEqual({
    code: 0,
    error: "",
    out: out.replace("change from five.yaml", "change from compiled.json"),
  });
  const { input, ...without } = compiled as { readonly input: { readonly declaration: object } };
  const withName = (name: string) => ({ ...input, declaration: { ...input.declaration, name } });
  const refusals = [
    [without, "does not say which declaration and target it is for"],
    [await compile("definitions", "definitions.json"), "write it with compile --format json"],
    [await compile("terraform", "terraform.tf.json"), "write it with compile --format json"],
    [{ ...compiled, input: withName("store") }, "this compiled file is of store, and not shop"],
    [{ ...compiled, input: {} }, "cannot read the declaration or the target in the compiled file"],
    [{ ...compiled, topology: {} }, "compiles the declaration in the file otherwise, or somebody edited the file"],
  ] as const;
  for (const [data, message] of refusals) await expectRefused(JSON.stringify(data), message);
  const twoTargets = await check(...staged, "--from", "compiled.json", "--from-target", "rabbitmq@4.3");
  expect(twoTargets.error).toContain("leave out --from-target");
});

test("a change that weakens a promise is a warning, at its place in the file", async () => {
  const { code, out, error } = await check(...staged, "--from", "twelve.yaml");
  expect(code).toBe(0);
  expect(error).toContain(
    "warning[RD304]: a message that waits during the change can have 14 attempts; 12 are declared",
  );
  expect(error).toContain("new.yaml:6:12: consumers.billing.retry");
  expect(out).toContain("14 attempts at most");
  const json = await check(...staged, "--from", "twelve.yaml", "--json");
  expect(JSON.parse(json.out)).toMatchObject({
    change: { verdicts: [{ consumer: "billing", attempts: 14, unsafe: [] }], left: expect.any(Array) },
    warnings: expect.arrayContaining([expect.objectContaining({ code: "RD304" })]),
  });
  const github = await check(...staged, "--from", "twelve.yaml", "--format", "github");
  expect([github.code, github.out]).toEqual([0, expect.stringMatching(/^::warning file=new\.yaml,line=6.*RD304/)]);
});

test("the number of resources before and after a change", async () => {
  const words = "exchanges 12 → 10, policies 8 → 6, queues 7 → 5, bindings 19 → 17";
  const from = [...staged, "--from", "five.yaml"];
  expect((await check(...from)).out).toContain(`\ncounts   ${words}\n`);
  const { change } = JSON.parse((await check(...from, "--json")).out) as {
    readonly change: { readonly counts: object };
  };
  expect(change.counts).toMatchObject({ queues: { from: 7, to: 5 } });
  const notices = async (...more: readonly string[]): Promise<readonly string[]> =>
    (await check(...more, "--format", "github")).out.split("\n").filter((line) => line.startsWith("::notice"));
  expect(await notices(...from)).toEqual([
    `::notice file=new.yaml,line=1,title=resources%2C change from five.yaml::${words}`,
  ]);
  expect(await notices(...staged, "--from", "new.yaml")).toEqual([]);
  expect(await notices(...staged)).toEqual([]);
  const sarif = await check(...from, "--format", "sarif");
  expect(JSON.parse(sarif.out)).toMatchObject({ version: "2.1.0" });
});

test("a change that a deployment would refuse", async () => {
  const refused = await check("--from", "five.yaml", "--from-target", "rabbitmq@3.10");
  expect([refused.code, refused.out]).toEqual([1, ""]);
  expect(refused.error).toContain("error[RD302]");
  const github = await check("--from", "five.yaml", "--from-target", "rabbitmq@3.10", "--format", "github");
  expect([github.code, github.out]).toEqual([1, expect.stringMatching(/^::error file=new\.yaml.*RD302/)]);
});

test("the strategy of the new target is not that of a deployed target", async () => {
  writeFileSync(join(folder, "staged.yaml"), '{ broker: rabbitmq, version: "4.3", strategy: staged }');
  const deployed = ["--from", "five.yaml", "--from-target", "staged.yaml"];
  for (const format of ["text", "github"]) {
    const { code, out, error } = await check("--strategy", "waits", ...deployed, "--format", format);
    expect([code, out + error]).toEqual([1, expect.stringContaining("RD302")]);
  }
  const word = await check("--strategy", "waits", "--from", "five.yaml", "--from-target", "rabbitmq@4.3");
  expect([word.code, word.error]).toEqual([1, expect.stringContaining("error[RD302]")]);
  expect((await check("--strategy", "staged", ...deployed)).code).toBe(0);
});

test("a deployed target without its declaration is wrong usage", async () => {
  const { code, out, error } = await check("--from-target", "rabbitmq@3.10");
  expect([code, out, error]).toEqual([2, "", expect.stringContaining("name that declaration with --from")]);
});

test.for([
  ["broken.yaml", 1, "broken.yaml"],
  ["missing.yaml", 2, "RD001"],
] as const)("a deployed declaration that cannot be used: %s", async ([from, exitCode, words]) => {
  const { code, out, error } = await check("--from", from);
  expect([code, out]).toEqual([exitCode, ""]);
  expect(error).toContain(words);
});
