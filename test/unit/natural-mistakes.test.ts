import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";

import * as pulumi from "@pulumi/pulumi";
import { afterAll, describe, expect, test } from "vitest";

import { checkTarget } from "../../src/brokers/index.ts";
import { loadDeclaration } from "../../src/cli/load-declaration.ts";
import { readProject } from "../../src/cli/project.ts";
import { parsePath } from "../../src/declare/locate.ts";
import { parseText } from "../../src/declare/parse.ts";
import type { Diagnostic } from "../../src/index.ts";
import {
  checkSystem,
  compile,
  constant,
  defineSystem,
  exponential,
  linear,
  parseTarget,
  plan,
} from "../../src/index.ts";
import { RefusedError, steps } from "../../src/index.ts";
import { acceptOrRefuse } from "../../src/deploy/accept.ts";
import { prepare } from "../../src/consume/consume.ts";
import { checked, oneConsumer } from "../support/examples.ts";
import { naturalMistakes } from "../support/natural-mistakes.ts";

type Data = { [key: string]: unknown };

/** Applies a fix as a person would. Null if its sentence leaves the choice to them. */
function mended(input: unknown, diagnostic: Diagnostic): unknown {
  const { path, help: advice = "" } = diagnostic;
  const help = advice.replace(/, or with the unit you mean.*$|, the most$/, "");
  if (path === "") return null;
  const whole = structuredClone(input) as Data;
  const segments = parsePath(path);
  const holderOf = (place: readonly (string | number)[]): Data =>
    place.slice(0, -1).reduce((data, key) => (data[key] ??= {}) as Data, whole);
  const holder = holderOf(segments);
  const key = String(segments.at(-1));
  // oxlint-disable-next-line no-implied-eval -- the text is ours
  const read = (code: string): unknown => new Function(`return (${code})`)();
  const [, value] = /^write (?:it as )?(\[.*\]|\{.*\}|"[^"]*"|\d+)(?:[,;] .*)?$/.exec(help) ?? [];
  const [, name, named, instead = "type"] =
    /^(?:write|add)(?: for example)? (\w+): (.+?)(?: instead of ([\w, ]+))?$/.exec(help) ?? [];
  const places = /^move (?:it|its keys) (?:into|to) (the top|environments|\S+ and \S+|consumers\.\w+)(?=,| i|$)/;
  const [, into] = places.exec(help) ?? [];
  const [, given, around] = /(?:, and add (.+?))?(?: instead of ([\w, ]+))?$/.exec(help) ?? [];
  const [, raised, bound] = /(\w+) to (\w+) or more\b/.exec(help) ?? [];
  const [, renamed] = /^(?:did you mean|rename it to) ([\w-]+)(?:\?| if it is yours, or remove it)$/.exec(help) ?? [];
  const [, moved] = /^move it to (.+)$/.exec(help) ?? [];
  const old = holder[key];
  if (into !== undefined) {
    delete holder[key];
    const isOne = help.startsWith("move it ");
    for (const place of into === "the top" ? [[]] : into.split(" and ").map((each) => parsePath(each)))
      Object.assign(holderOf([...place, ""]), isOne ? { [key]: old } : old);
    for (const each of around?.split(/, | and /) ?? []) delete whole[each];
    if (given !== undefined) Object.assign(whole, read(`{ ${given} }`));
  } else if (help.startsWith("write it as")) holder[key] = read(value ?? "");
  else if (value !== undefined) holder[key] = read(value);
  else if (name !== undefined) {
    for (const each of [key, ...instead.split(/, | and /)]) delete holder[each];
    holder[name] = read(named ?? "");
  } else if (renamed !== undefined || moved !== undefined) {
    delete holder[key];
    const place = moved === undefined ? [...segments.slice(0, -1), renamed ?? ""] : parsePath(moved);
    holderOf(place)[String(place.at(-1))] = old;
  } else if (raised !== undefined) holder[raised] = bound;
  else if (help.startsWith("remove it")) delete holder[key];
  else if (help.startsWith("remove errors:")) delete holderOf(segments.slice(0, -1))["errors"];
  else return null;
  return whole;
}

function refusalOf(call: () => unknown): RefusedError | null {
  try {
    call();
  } catch (cause) {
    if (cause instanceof RefusedError) return cause;
  }
  return null;
}

describe("a natural mistake gets one answer, which mends it as it is written", () => {
  test("there are more than 150", () => expect(naturalMistakes.length).toBeGreaterThan(150));

  test.each(naturalMistakes)("%s", (_mistake, input, code, path, fix) => {
    const result = checkSystem(input);
    const diagnostics = result.ok ? result.warnings : result.diagnostics;
    expect(diagnostics.map((each) => [each.code, each.path, each.help])).toEqual([[code, path, fix]]);
    const better = mended(input, diagnostics[0] as Diagnostic);
    if (better === null) expect(fix).toMatch(/^choose|^add max, such as|^start with|^use fewer attempts/);
    const again = checkSystem(better ?? oneConsumer());
    expect(again.ok ? again.warnings.filter((each) => each.code === code) : again.diagnostics).toEqual([]);
  });

  test.each(["*", "Validation*", "/Validation.*/i"])("no error has a pattern as its name: %s", (pattern) => {
    const result = checkSystem(oneConsumer({ errors: { permanent: ["A", pattern] } }));
    expect(result.ok ? [] : result.diagnostics.map(({ code, path }) => [code, path])).toEqual([
      ["RD111", "consumers.billing.errors.permanent[1]"],
    ]);
  });

  test("the class of an error gets its name", () => {
    const result = checkSystem(oneConsumer({ errors: { permanent: [TypeError] } }));
    expect(result.ok ? [] : result.diagnostics).toMatchObject([{ code: "RD005", help: 'write its name, "TypeError"' }]);
  });

  test("a dead queue gets its name, and the work queue keeps its own", () => {
    const named = (system: unknown): string[] => {
      const compiled = compile(checked(system), { broker: "rabbitmq", version: "4.3" });
      return compiled.ok ? compiled.value.topology.queues.map(({ role, name }) => `${role} ${name}`) : [];
    };
    const mistake = oneConsumer({ deadLetter: "dlq" });
    const result = checkSystem(mistake);
    const better = result.ok ? null : mended(mistake, result.diagnostics[0] as Diagnostic);
    expect(named(better)).toEqual(named(oneConsumer()).map((each) => (each.startsWith("dead ") ? "dead dlq" : each)));
  });

  test("attempts that are left out are named with the first of them, and fewer attempts plan the same", () => {
    const retry = { attempts: 5, backoff: { kind: "constant", delay: "10s", jitter: "50%" }, giveUpAfter: "40s" };
    const result = checkSystem(oneConsumer({ retry }));
    expect(result.ok && result.warnings).toMatchObject([
      { code: "RD120", notes: ["attempt 4 would start up to 45s after the first"] },
    ]);
    const fewer = { ...retry, attempts: 3 };
    const attemptsOf = (fields: object): unknown =>
      plan(checked(oneConsumer({ retry: fields }))).consumers[0]?.retry?.attempts;
    expect(attemptsOf(fewer)).toEqual(attemptsOf(retry));
  });
});

const folder = mkdtempSync(join(tmpdir(), "redeliver-mistakes-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("a mistake in the text of a file gets one answer, which mends it as it is written", () => {
  const json = JSON.stringify(oneConsumer({}, { $schema: "https://example.com" }), null, 1);
  test.each([
    ["a line", json.replace("{", "{ // shop"), /\/\/ shop/, "# shop"],
    ["a comment in it", json.replace("{", "{ /* shop */"), /\/\* shop \*\//, "# shop\n"],
    ["a number sign", `# shop\n${json}`, /# shop/, "# shop"],
    ["a last comma", json.replace(/\}$/, ",}"), /,(?=\}$)/, ","],
  ])("%s", (_mistake, text, extra, inYaml) => {
    const result = parseText(text, "json");
    const help = "remove them, or rename the file to .yaml and begin each comment with #";
    expect(result.ok ? [] : result.diagnostics).toMatchObject([{ code: "RD002", help }]);
    const [asJson, asYaml] = [text.replace(extra, ""), text.replace(extra, inYaml)];
    for (const better of [parseText(asJson, "json"), parseText(asYaml, "yaml")])
      expect(better.ok && checkSystem(better.value)).toMatchObject({ ok: true });
  });

  test.each([
    ["a comment, and a text that is cut off", `// shop\n${json.slice(0, -1)}`, "json", "correct the text there"],
    ["two documents", `${json}\n---\n${json}`, "yaml", "move it to a file of its own"],
  ] as const)("%s", (_mistake, text, format, help) => {
    const result = parseText(text, format);
    expect(result.ok ? [] : result.diagnostics).toMatchObject([{ code: "RD002", help }]);
  });

  test("another form of JSON", async () => {
    writeFileSync(join(folder, "shop.jsonc"), json);
    const result = await loadDeclaration(join(folder, "shop.jsonc"));
    const help = "rename it to .json without comments, or to .yaml and begin each comment with #";
    expect(result.ok ? [] : result.diagnostics).toMatchObject([{ code: "RD001", help }]);
  });
});

describe("a mistake in a project file gets one answer, which mends it as it is written", () => {
  const project = { declaration: "shop.yaml", environments: { prod: { target: "rabbitmq@4.3" } } };
  const environments = (prod: unknown): object => ({ ...project, environments: { prod } });
  const broker = { broker: "rabbitmq", version: "4.3" };
  const target = 'target: { broker: "rabbitmq", version: "4.3" }';
  const only = '{ dev: { target: "rabbitmq@4.3" } }';
  test.each([
    ["a target as its environment", environments("sqs@eu-west-1"), 'write it as { target: "sqs@eu-west-1" }'],
    ["an empty environment", environments(null), 'write prod: { target: "rabbitmq@4.3" }'],
    ["no target", environments({ url: "amqp://x" }), 'add target: "rabbitmq@4.3"'],
    ["a target's keys", environments({ ...broker, url: "amqp://x" }), `write ${target} instead of broker and version`],
    ["environments as a list", { ...project, environments: ["dev"] }, `write environments: ${only}`],
    ["no environments", { declaration: "shop.yaml" }, `add environments: ${only}`],
    ["a target at the top", { declaration: "shop.yaml", target: "rabbitmq@4.3" }, `write environments: ${only}`],
    ["an environment at the top", { declaration: "shop.yaml", prod: { target: broker } }, "move it into environments"],
    ["another word for them", { declaration: "shop.yaml", envs: project.environments }, "did you mean environments?"],
    [
      "a strategy beside its target",
      environments({ target: "rabbitmq@4.3", strategy: "Staged" }),
      'write target: { broker: "rabbitmq", version: "4.3", strategy: "staged" } instead of strategy',
    ],
    [
      "a URL without its scheme",
      environments({ target: "rabbitmq@4.3", managementUrl: "localhost:15672/%2F" }),
      'write "http://localhost:15672/%2F"',
    ],
    [
      "a waiver that is a code",
      { ...project, waivers: ["RD207"] },
      'write it as { code: "RD207", reason: "why", until: "2027-06-30" }',
    ],
    [
      "two codes to suppress",
      { ...project, suppressions: ["RD207", "RD217", "x"] },
      'write waivers: [{ code: "RD207", reason: "why", until: "2027-06-30" }, { code: "RD217", reason: "why", until: "2027-06-30" }]',
    ],
    [
      "nothing to ignore",
      { ...project, ignore: true },
      'write waivers: [{ code: "RD207", reason: "why", until: "2027-06-30" }]',
    ],
    [
      "a list of codes to ignore",
      { ...project, ignore: ["RD207"] },
      'write waivers: [{ code: "RD207", reason: "why", until: "2027-06-30" }]',
    ],
    ["no declaration", { environments: project.environments }, 'add declaration: "shop.yaml"'],
    [
      "a declaration in its place",
      oneConsumer(),
      `move name, sources and consumers to shop.yaml, and write declaration: "shop.yaml" and environments: ${only} here`,
    ],
  ])("%s", (_mistake, input, fix) => {
    const diagnosticsOf = (data: unknown): readonly Diagnostic[] => {
      const file = join(folder, "redeliver.config.json");
      writeFileSync(file, JSON.stringify(data));
      const result = readProject(file);
      return result.ok ? [] : result.diagnostics;
    };
    const diagnostics = diagnosticsOf(input);
    expect(diagnostics.map(({ code, help }) => [code, help])).toEqual([["RD321", fix]]);
    const better = mended(input, diagnostics[0] as Diagnostic);
    if (better !== null) expect(diagnosticsOf(better)).toEqual([]);
  });
});

describe("a backoff called in another way gets one answer, which is a call", () => {
  const calls = { constant, exponential, linear, steps } as Readonly<Record<string, (...given: unknown[]) => unknown>>;
  test.each([
    ["exponential", ["1s", 2], 'write exponential({ first: "1s", factor: 2 })'],
    ["linear", ["10s"], 'write linear({ first: "10s" })'],
    ["linear", [["10s", "20s"]], 'write linear({ first: "1s" })'],
    ["steps", ["5s", "10s"], 'write steps(["5s", "10s", "1m"]), with all delays in the list'],
    ["constant", ["30s", "20%"], 'write constant("30s", { jitter: "20%" })'],
  ] as const)("%s(%j)", (name, given, fix) => {
    const refusal = refusalOf(() => calls[name]?.(...given));
    expect(refusal?.diagnostics.map((each) => [each.code, each.path, each.help])).toEqual([["RD101", name, fix]]);
    const [, code = ""] = /^write (.+\))/.exec(fix) ?? [];
    // oxlint-disable-next-line no-implied-eval -- the text is ours
    const backoff: unknown = new Function(...Object.keys(calls), `return ${code}`)(...Object.values(calls));
    expect(checkSystem(oneConsumer({ retry: { attempts: 4, backoff } }))).toMatchObject({ ok: true });
  });
});

describe("a mistaken target gets one answer", () => {
  test.each([
    ["4.3", "rabbitmq@4.3"],
    ["RabbitMQ@4.3", "rabbitmq@4.3"],
    ["rabbitmq:4.3", "rabbitmq@4.3"],
    ["rabbitmq=4.3", "rabbitmq@4.3"],
    ["rabbitmq-4.3", "rabbitmq@4.3"],
    ["aws@eu-west-1", "sqs@eu-west-1"],
    ["azure@Premium", "servicebus@premium"],
  ])("%s", (text, right) => {
    const result = parseTarget(text);
    const diagnostics = result.ok ? [] : result.diagnostics;
    expect(diagnostics.map(({ code, path, help }) => [code, path, help])).toEqual([
      ["RD201", "target", `write ${right}`],
    ]);
    expect(parseTarget(right)).toMatchObject({ ok: true });
  });

  const inCode = [
    ["rabbitmq@4.3", "target", 'write target: { broker: "rabbitmq", version: "4.3" }'],
    ["sqs@eu-west-1", "target", 'write target: { broker: "sqs", region: "eu-west-1" }'],
    ["servicebus@standard", "target", 'write target: { broker: "servicebus", sku: "standard" }'],
    [{ broker: "rabbitmq", version: 4.3 }, "target.version", 'write it in quotes: version: "4.3"'],
    // YAML reads 3.10 and 4.0 as these numbers.
    [{ broker: "rabbitmq", version: 3.1 }, "target.version", 'write it in quotes: version: "3.10"'],
    [{ broker: "rabbitmq", version: 4 }, "target.version", 'write it in quotes: version: "4.0"'],
    [{ broker: "rabbitmq", version: 3 }, "target.version", 'write it in quotes: version: "3.13"'],
    [{ broker: "rabbitmq", version: 3.9 }, "target.version", 'write it in quotes: version: "4.3"'],
    [{ broker: "rabbitMQ", version: "4.3" }, "target.broker", 'write broker: "rabbitmq"'],
    [{ version: "4.3" }, "target.broker", 'write broker: "rabbitmq" or "sqs" or "servicebus"'],
  ] as const;
  test.each(inCode)("%o", (target, path, fix) => {
    const result = checkTarget(target as never);
    const diagnostics = result.ok ? [] : result.diagnostics;
    expect(diagnostics.map((each) => [each.code, each.path, each.help])).toEqual([["RD201", path, fix]]);
    const [, version] = /version: "(.+?)"/.exec(fix) ?? [];
    if (version !== undefined) expect(checkTarget({ broker: "rabbitmq", version })).toMatchObject({ ok: true });
  });

  test("a component refuses a text with the mapping in its place", () => {
    const deploy = (): unknown =>
      acceptOrRefuse("rabbitmq", "shop", { system: oneConsumer(), target: "rabbitmq@4.3" as never });
    expect(deploy).toThrow('fix  write target: { broker: "rabbitmq", version: "4.3" }');
    const words = { rabbitmq: "rabbitmq@4.3", "4.0": "rabbitmq@4.0", sqs: "sqs@eu-west-1" };
    for (const [text, right] of Object.entries(words)) {
      const result = checkTarget(text as never);
      const said = checkTarget(right as never);
      expect(result.ok ? [] : result.diagnostics.map(({ help }) => help)).toEqual(
        said.ok ? [] : said.diagnostics.map(({ help }) => help),
      );
    }
  });

  test("a misspelt strategy", () => {
    const result = parseTarget("rabbitmq@4.3", "stage");
    expect(result.ok ? [] : result.diagnostics.map(({ code, help }) => [code, help])).toEqual([
      ["RD201", "did you mean staged? The strategies are auto, native, deferred, staged, waits"],
    ]);
  });

  test("a broker alone lists its versions", () => {
    const result = parseTarget("rabbitmq");
    expect(result.ok ? [] : result.diagnostics).toMatchObject([
      { code: "RD201", notes: [expect.stringContaining("3.13, 4.0, 4.1, 4.2, 4.3")] },
    ]);
  });
});

test("a declaration that no strategy keeps gets the values that one would keep", () => {
  const crash = oneConsumer({ crash: { deliveries: 3 }, handlerTimeout: "30s" });
  const target = { broker: "sqs", region: "eu-west-1" } as const;
  const result = compile(checked(crash), target);
  expect(result.ok ? [] : result.diagnostics).toMatchObject([
    {
      code: "RD203",
      help: "set crash.deliveries to 5, or leave crash out, for strategy visibility, which comes closest",
    },
  ]);
  expect(compile(checked(oneConsumer({ crash: { deliveries: 5 }, handlerTimeout: "30s" })), target)).toMatchObject({
    ok: true,
  });
});

describe("a mistaken call of consume gets one answer", () => {
  const target = { broker: "rabbitmq", version: "4.3" };
  const connection = { url: "amqp://localhost" };
  test.each([
    ["a misspelled consumer", "biling", { target, connection }, "RD801", { help: "did you mean billing?" }],
    ["no connection", "billing", { target }, "RD802", { notes: ["connection is missing"] }],
    ["a target as a text", "billing", { target: "rabbitmq@4.3", connection }, "RD201", { path: "target" }],
    [
      "a host",
      "billing",
      { target, connection: { ...connection, host: "localhost" } },
      "RD802",
      { notes: ['"host" is no key of options.connection'] },
    ],
  ])("%s", (_mistake, consumer, options, code, parts) => {
    const result = prepare(checked(oneConsumer()), consumer, options);
    expect(result.ok ? [] : result.diagnostics).toMatchObject([{ code, ...parts }]);
  });
});

test("a refused declaration is shown as its message alone, by Node and by Pulumi", () => {
  const declare = (): unknown => defineSystem(oneConsumer({ crash: 3 }));
  expect(declare).toThrow(RefusedError);
  try {
    declare();
  } catch (cause) {
    expect(inspect(cause)).toContain("fix  write it as { deliveries: 3 }");
    expect(inspect(cause)).not.toContain("severity");
    expect(pulumi.RunError.isInstance(cause)).toBe(true);
  }
});
