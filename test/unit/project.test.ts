import { spawnSync } from "node:child_process";
import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { runCommand, type Said } from "../support/run-command.ts";
import { beforeEach, describe, expect, test } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";

const main = resolve(import.meta.dirname, "../../src/cli/main.ts");
const folder = temporaryFolder("project");

const declaration = `
name: shop
sources: { orders: { kind: topic } }
consumers:
  billing: { from: { orders: all }, retry: { attempts: 4, backoff: { kind: constant, delay: 5s } } }
  billing-eu: { from: { orders: all }, retry: { attempts: 4, backoff: { kind: constant, delay: 5s } } }
`;
const environments = `declaration: shop.yaml
environments:
  dev: { target: rabbitmq@4.3, managementUrl: "http://guest@127.0.0.1:9/%2F", url: "amqp://127.0.0.1:9" }
  prod: { target: { broker: rabbitmq, version: "4.0", strategy: waits } }
`;

function save(text: string, name = "redeliver.config.yaml"): void {
  writeFileSync(join(folder, name), text);
}

const { FORCE_COLOR: _colour, ...env } = process.env;

const file = join(folder, "redeliver.config.yaml");
const shop = join(folder, "shop.yaml");

async function redeliver(...words: readonly string[]): Promise<Said> {
  return runCommand([...words, "--project", file]);
}

/** Runs the executable in the folder. It takes longer. */
function executed(...words: readonly string[]): Said {
  const child = spawnSync(process.execPath, [main, ...words], { cwd: folder, encoding: "utf8", env });
  return { code: child.status ?? -1, out: child.stdout, error: child.stderr };
}

beforeEach(() => {
  rmSync(join(folder, "redeliver.lock.json"), { force: true });
  for (const ending of ["yaml", "json", "ts", "cts"])
    rmSync(join(folder, `redeliver.config.${ending}`), { force: true });
  save(declaration, "shop.yaml");
  save(environments);
});

const strategyOf = (out: string): string => (JSON.parse(out) as { strategy: string }).strategy;

describe("the words of a command", () => {
  test("have the declaration and the target of the chosen environment", async () => {
    const said = await redeliver("contract", "billing", "--env", "prod", "--json");
    expect(strategyOf(said.out)).toBe("waits");
    expect((await redeliver("check", "--env=dev")).out).toMatch(/^rabbitmq@4\.3$/m);
  });

  test("win over the project file", async () => {
    save(declaration.replace("name: shop", "name: other"), "other.yaml");
    const compiled = (await redeliver("compile", join(folder, "other.yaml"), "--env", "prod", "-s", "staged")).out;
    expect(JSON.parse(compiled)).toMatchObject({ target: "rabbitmq@4.0", topology: { system: "other" } });
    expect(strategyOf((await redeliver("contract", "-tsqs@eu-west-1", "billing", "--json")).out)).not.toBe("waits");
    const target = await redeliver("contract", shop, "billing", "--json", "--target", `${file}#prod`);
    expect(strategyOf(target.out)).toBe("waits");
  });

  test("have no target where none has to be, and several environments are there", async () => {
    expect(await redeliver("plan")).toMatchObject({ code: 0, error: "" });
    expect((await redeliver("plan")).out).not.toContain("rabbitmq");
    expect((await redeliver("plan", "--env", "prod")).out).toContain("redeliver.config.yaml#prod");
  });

  test.for([
    ["ts", 'import type { ProjectFile } from "redeliver";\nexport default', " satisfies ProjectFile"],
    ["cts", "module.exports =", ""],
  ] as const)("have the environment of a module that ends in .%s", ([ending, begin, end]) => {
    rmSync(file);
    const project = '{ declaration: "shop.yaml", environments: { prod: { target: `rabbitmq@4.${0}` } } }';
    save(`${begin} ${project}${end};\n`, `redeliver.config.${ending}`);
    expect(executed("check").out).toMatch(/^rabbitmq@4\.0$/m);
    expect(executed("check", "-t", `redeliver.config.${ending}#prod`).out).toMatch(/^rabbitmq@4\.0$/m);
  });

  test("have the only environment without a choice, from a project file in JSON too", async () => {
    rmSync(join(folder, "redeliver.config.yaml"));
    const environments = { prod: { target: "rabbitmq@4.0" } };
    save(JSON.stringify({ declaration: "shop.yaml", environments }), "redeliver.config.json");
    expect(executed("check").out).toMatch(/^rabbitmq@4\.0$/m);
  });

  test("have the management API for diff, and the connection of a client for dead", async () => {
    expect((await redeliver("diff", "--env", "dev")).error).toContain("http://127.0.0.1:9/%2F cannot be read");
    expect((await redeliver("dead", "list", "--consumer", "billing", "--env", "dev")).error).toContain("RD804");
    expect((await redeliver("dead", "list", "--queue", "q", "--env", "dev")).error).toContain("RD804");
    save(declaration.replaceAll("5s", "6s"), "newer.yaml");
    expect((await redeliver("diff", shop, join(folder, "newer.yaml"), "--env", "dev")).out).toContain("RD312");
  });

  test("have the management API and the target for audit and adopt, and no declaration", async () => {
    for (const command of ["audit", "adopt"]) {
      expect((await redeliver(command, "--env", "dev")).error).toContain("http://127.0.0.1:9/%2F cannot be read");
      expect((await redeliver(command, "--env", "prod")).error).toContain("--definitions FILE");
      expect((await redeliver(command, "--env", "prd")).error).toContain("did you mean prod?");
      expect((await redeliver(command, "--env", "dev", "--url", "http://127.0.0.1:19")).error).toContain(":19");
    }
    const compiled = await redeliver("compile", "--env", "prod", "--format", "definitions", "--vhost", "/");
    save(compiled.out, "definitions.json");
    const definitions = ["--definitions", join(folder, "definitions.json")];
    expect((await redeliver("audit", ...definitions, "--env", "prod")).out).toContain("by the rules of rabbitmq@4.0");
    save(environments.replace(/ {2}dev.*\n/, ""));
    expect((await redeliver("audit", ...definitions)).error).toContain("the version of the broker is missing");
    expect((await redeliver("adopt", ...definitions, "--env", "prod")).error).toContain("shop on rabbitmq@4.0");
  });

  test.for([[["check", "--help"]], [["explain", "RD101"]]] as const)(
    "%j needs no project file, even a wrong one",
    async ([words]) => {
      save("environments: []");
      expect(executed(...words)).toMatchObject({ code: 0, error: "" });
    },
  );
});

describe("the names of an environment", () => {
  const named = (names: string): string =>
    environments.replace("strategy: waits }", `strategy: waits }, names: ${names}`);
  const queuesIn = (out: string): readonly string[] =>
    (JSON.parse(out) as { topology: { queues: { name: string }[] } }).topology.queues.map(({ name }) => name);

  test("replace those of the declaration, template by template", async () => {
    save(`${declaration}names: { queue: "q.{consumer}", dead: "dlq.{queue}" }\n`, "shop.yaml");
    save(named('{ queue: "prod.{consumer}" }'));
    const names = queuesIn((await redeliver("compile", "--env", "prod")).out);
    expect(names).toEqual(expect.arrayContaining(["prod.billing", "dlq.prod.billing", "prod.billing-eu"]));
    expect(queuesIn((await redeliver("compile", "--env", "dev")).out)).toContain("q.billing");
    const plain = await redeliver("compile", shop, "--target", "rabbitmq@4.0");
    expect(queuesIn(plain.out)).toContain("q.billing");
  });

  test("are those of each target in a report, and of a deployed declaration", async () => {
    save(named('{ queue: "prod.{consumer}" }'));
    const targets = ["--target", `${file}#dev`, "--target", `${file}#prod`];
    await redeliver("report", shop, ...targets, "--output", join(folder, "out"));
    const files = readdirSync(join(folder, "out"), { recursive: true, encoding: "utf8" });
    const compiled = files.filter((each) => each.endsWith("compiled.json"));
    const names = compiled.flatMap((each) => queuesIn(readFileSync(join(folder, "out", each), "utf8")));
    expect(names).toEqual(expect.arrayContaining(["shop.billing", "prod.billing"]));
    const change = ["--from", shop, "--from-target", `${file}#prod`];
    const same = await redeliver("check", shop, "--env", "prod", ...change);
    expect(same.out).toContain("none: this is deployed");
    // The deployed target alone differs, and not the names.
    const other = await redeliver("check", shop, "--env", "prod", "--from", shop, "--from-target", "rabbitmq@4.0");
    expect([other.code, other.error]).toEqual([
      1,
      expect.stringContaining("the strategy was staged and would be waits"),
    ]);
    expect(other.error).not.toContain("cannot be renamed");
    const renamed = await redeliver("check", shop, "--target", "rabbitmq@4.0", "--strategy", "waits", ...change);
    expect(renamed.error).toContain("the queue prod.billing of billing cannot be renamed in place to shop.billing");
  });

  test("are those of another environment, whose queues are no leftovers of this one", async () => {
    save(named('{ queue: "prod.{consumer}", source: "prod.{source}" }').replace("strategy: waits, ", ""));
    const exported = await redeliver("compile", "--env", "prod", "--format", "definitions");
    save(exported.out, "prod.json");
    const there = ["--definitions", join(folder, "prod.json")];
    expect(await redeliver("leftovers", "--env", "dev", ...there)).toMatchObject({ code: 0, error: "" });
    const alone = await redeliver("leftovers", shop, "--target", "rabbitmq@4.3", ...there);
    expect([alone.code, alone.out]).toEqual([1, expect.stringContaining("queue prod.billing in /")]);
  });

  test("are in the lock, and migrate moves to them", async () => {
    save(named('{ queue: "prod.{consumer}" }'));
    expect((await redeliver("lock", "--env", "prod")).code).toBe(0);
    expect((await redeliver("check", "--env", "prod")).out).toContain("none: this is deployed");
    save(named('{ queue: "p.{consumer}" }'));
    for (const command of ["check", "lock"]) {
      const { error } = await redeliver(command, "--env", "prod");
      expect(error).toContain("cannot be renamed in place to p.billing");
      expect(error).toContain("redeliver.config.yaml:4:");
      expect(error).toContain("environments.prod.names.queue");
    }
    const { out } = await redeliver("check", "--env", "prod", "--format", "github");
    expect(out).toMatch(/^::error file=\S*redeliver\.config\.yaml,line=4,.*RD302/);
    const migration = await redeliver("migrate", "--env", "prod");
    expect([migration.code, migration.out.includes("p.billing")]).toEqual([0, true]);
  });

  test.for([
    ["amq.{consumer}", "RD204", "names that start with amq."],
    ["{system}", "RD205", "would be the work queue of billing and"],
    ["a\u200b{consumer}", "RD113", "an invisible character"],
    ["{billing}", "RD321", "is not a template with {system} and {consumer} as its only placeholders"],
  ] as const)("are refused at their place: %s", async ([template, code, reason]) => {
    save(named(JSON.stringify({ queue: template })));
    const said = await redeliver("check", "--env", "prod");
    expect([said.code, said.out]).toEqual([2, ""]);
    expect(said.error).toContain(`[${code}]`);
    expect(said.error).toContain(reason);
    expect(said.error).toContain("environments.prod.names.queue");
    expect(said.error).toContain("redeliver.config.yaml:4:");
  });
});

describe("a wrong project file or choice is refused with its fix, and nothing runs", () => {
  test.for([
    ["environments is missing", "declaration: shop.yaml\n", ["check"]],
    ["there is no environment", "declaration: shop.yaml\nenvironments: {}\n", ["check"]],
    ["target is missing", environments.replace("target: rabbitmq@4.3, ", ""), ["check", "--env", "prod"]],
    ["RD002", `${environments}  prod: { target: rabbitmq@4.3 }\n`, ["check", "--env", "prod"]],
    ["the URL has a password", environments.replace("amqp://", "amqp://me:hunter2@"), ["check", "--env", "prod"]],
    ["this is not a URL", environments.replace("amqp://127.0.0.1:9", "here"), ["check", "--env", "prod"]],
    ["RD321", environments.replace("dev:", "a#b:"), ["check", "--env", "prod"]],
    ["waivers", `${environments}waiver: []\n`, ["check", "--env", "prod"]],
    ["RD004", "", ["check"]],
    ["environments.prod.target.version", environments.replace('"4.0"', '"9.9"'), ["check", "--env", "prod"]],
    ["here as a mapping", environments.replace("target: rabbitmq@4.3", "target: a.yaml"), ["check", "--env", "dev"]],
    ["redeliver.config.yaml with --env: dev, prod", environments, ["check"]],
    ["did you mean prod?", environments, ["check", "--env", "prd"]],
    ["there is no such file", environments, ["check", "-t", `${file.replace("config", "none")}#prod`]],
    ["has no environment test; it has dev, prod", environments, ["check", "-t", `${file}#test`]],
  ] as const)("%s", async ([reason, text, words]) => {
    save(text);
    const said = await redeliver(...words);
    expect(said).toMatchObject({ code: 2, out: "" });
    expect(said.error).toContain(reason);
    expect(said.error).not.toContain("hunter2");
  });

  test.for([
    ["throws", 'throw new Error("no licence");', "RD003", "no licence"],
    ["awaits", "export default await Promise.resolve({});", "RD003", "cannot await"],
    ["exports nothing", "export const declaration = 1;", "RD003", "no default export"],
    ["exports a function", "export default () => ({});", "RD005", "function"],
    ["has a mistake", 'export default { declaration: "shop.yaml", enviroments: {} };', "RD321", "environments"],
  ] as const)("a module that %s", async ([what, text, code, reason]) => {
    // Node keeps a module that it has imported.
    const name = `${what.replaceAll(" ", "-")}.ts`;
    save(text, name);
    const said = await runCommand(["check", "--project", join(folder, name)]);
    expect([said.code, said.out]).toEqual([2, ""]);
    expect(said.error).toContain(`[${code}]`);
    expect(said.error).toContain(reason);
    expect(said.error).toContain(`${name}:1:1`);
  });

  test("a second project file", () => {
    save("{}", "redeliver.config.json");
    const said = executed("check", "shop.yaml", "--env", "prod");
    expect([said.code, said.error]).toEqual([
      2,
      "error: redeliver.config.yaml and redeliver.config.json are both here: remove one, or name one with --project\n",
    ]);
  });

  test("a choice without a project file", async () => {
    rmSync(join(folder, "redeliver.config.yaml"));
    const said = executed("check", "shop.yaml", "--env", "prod", "--json");
    expect([said.code, JSON.parse(said.out)]).toEqual([
      2,
      { ok: false, usage: "there is no redeliver.config.yaml here, and --env names an environment in it" },
    ]);
  });
});

describe("a waiver", () => {
  const waived = (line: string): void => save(`${environments}waivers:\n  - { ${line} }\n`);
  const check = (...words: string[]): Promise<Said> => redeliver("check", "--env", "prod", ...words);
  const shown = (out: string): unknown =>
    (JSON.parse(out) as { warnings: { code: string; path: string; waived?: string }[] }).warnings
      .filter(({ code }) => code === "RD207")
      .map(({ path, waived: by }) => [path, by]);

  test("marks the warning of its consumer in every form, and no other one", async () => {
    waived("code: RD207, consumer: billing, reason: few restarts, until: 2999-01-31");
    const by = "until 2999-01-31: few restarts";
    expect(shown((await check("--json")).out)).toEqual([
      ["consumers.billing", by],
      ["consumers.billing-eu", undefined],
    ]);
    expect((await check()).error).toContain(`note waived ${by}`);
    expect((await check()).error.match(/^(waived|warning)\[RD207\]/gm)).toEqual(["waived[RD207]", "warning[RD207]"]);
    const annotations = (await check("--format", "github")).out.match(/^::\w+ .*RD207/gm) ?? [];
    expect(annotations.map((line) => line.split(" ")[0])).toEqual(["::notice", "::warning"]);
    const log = JSON.parse((await check("--format", "sarif")).out) as {
      runs: { results: { ruleId: string; suppressions?: unknown }[] }[];
    };
    const results = log.runs.flatMap((run) => run.results).filter(({ ruleId }) => ruleId === "RD207");
    expect(results.map(({ suppressions }) => suppressions)).toEqual([
      [{ kind: "external", justification: by }],
      undefined,
    ]);
  });

  test("without a consumer is for all", async () => {
    waived("code: RD207, reason: few restarts, until: 2999-01-31");
    expect(shown((await check("--json")).out)).toHaveLength(2);
    expect((await check()).error).not.toContain("warning[RD207]");
  });

  test("that has ended makes check fail, and no other command", async () => {
    waived("code: RD207, reason: few restarts, until: 2020-01-31");
    const said = await check();
    expect([said.code, said.out]).toEqual([1, ""]);
    expect(said.error).toContain("error[RD322]: the waiver of RD207 ended on 2020-01-31");
    expect(said.error).toContain("redeliver.config.yaml:6:5");
    expect((await redeliver("contract", "billing", "--env", "prod")).error).toContain("warning[RD207]");
  });

  test.for([
    ["code: RD101, reason: r, until: 2999-01-31", "RD101 is an error, and only a warning can be waived"],
    ["code: RD999, reason: r, until: 2999-01-31", "there is no RD999"],
    ["code: RD207, until: 2999-01-31", "reason is missing"],
    ['code: RD207, reason: "", until: 2999-01-31', "reason"],
    ['code: RD207, reason: "  ", until: 2999-01-31', "reason"],
    ["code: RD207, reason: r", "until is missing"],
    ["code: RD207, reason: r, until: 2999-02-30", "a day such as 2027-01-31"],
    ["code: RD207, reason: r, until: tomorrow", "a day such as 2027-01-31"],
  ] as const)("with %s is refused", async ([line, reason]) => {
    waived(line);
    const said = await check();
    expect([said.code, said.out]).toEqual([2, ""]);
    expect(said.error).toContain(reason);
    expect(said.error).toContain("RD321");
  });
});
