import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { checkSystem, compile, type TargetInput } from "../../src/index.ts";
import type { Contract } from "../../src/report/operations.ts";
import { filesOf, pageOf } from "../support/contract-page.ts";
import { forAll } from "../support/for-all.ts";

/** Text that ends a literal, begins an escape or is replaced in some language. Some signs are only hard to see. */
const signs =
  `" ' \` \\ \\u0022 \\u000a \\n \${a} #{b} \${ #{ $ # { } %s """ * \u00E9 \u652F \u{1F469}\u200D\u{1F680} a\uFE0F x bill 0`
    .split(" ")
    .concat(" CONTRACT = ", " WORK_QUEUE = ");
const name = fc.array(fc.constantFrom(...signs), { minLength: 1, maxLength: 6 }).map((parts) => parts.join(""));

const targets: readonly (readonly [target: TargetInput, more: object])[] = [
  [{ broker: "rabbitmq", version: "4.3", strategy: "staged" }, {}],
  [{ broker: "rabbitmq", version: "4.3", strategy: "waits" }, {}],
  [{ broker: "rabbitmq", version: "3.10" }, {}],
  [{ broker: "rabbitmq", version: "4.3", strategy: "deferred" }, { protocol: "amqp-1.0" }],
];

/** Contracts with the names in every place that takes a name. */
function contractsOf(system: string, consumer: string, error: string): readonly Contract[] {
  return targets.flatMap(([target, more]) => {
    const backoff = { kind: "linear", first: "1s", step: "1s" };
    const declared = {
      name: system,
      sources: { orders: { kind: "topic" } },
      consumers: {
        [consumer]: {
          from: { orders: "all" },
          retry: { attempts: 3, backoff },
          errors: { permanent: [error] },
          ...more,
        },
      },
    };
    const checked = checkSystem(declared);
    const compiled = checked.ok ? compile(checked.value, target) : checked;
    return compiled.ok ? (compiled.value.contracts as readonly Contract[]) : [];
  });
}

const literal = /"(?:[^"\\\n]|\\.)*"/g;

/** The files of a language that hold the contract. */
function holdersIn(page: string, extension: string): readonly string[] {
  return [...filesOf(page, extension).values()].filter((text) => /\bcontract = /i.test(text));
}

/**
 * Reads a Java literal by the language specification. It first replaces Unicode escapes, where a doubled backslash
 * begins none, then the others.
 */
function javaText(written: string): string {
  const unicode = written.replaceAll(/\\(?:\\|u+([0-9a-fA-F]{4}))/g, (all, code?: string) =>
    code === undefined ? all : String.fromCharCode(Number.parseInt(code, 16)),
  );
  expect(unicode).toMatch(/^"(?:[^"\\\n\r]|\\["'\\bfnrt])*"$/u);
  const signs: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };
  return unicode.slice(1, -1).replaceAll(/\\(.)/gu, (_, sign: string) => signs[sign] ?? sign);
}

/** Evaluates an annotation's text like Spring, for texts without properties. */
function springText(text: string): string {
  expect(text).not.toContain("${");
  return text.replaceAll(/#\{'(.)'\}/g, "$1");
}

/** The texts of a contract that its snippet must contain. */
function textsOf(contract: Contract): readonly string[] {
  const published = Object.values(contract.outcomes)
    .flatMap((outcome: unknown) => JSON.stringify(outcome).match(/"(?:exchange|routingKey)":"(?:[^"\\]|\\.)*"/g) ?? [])
    .map((each) => Object.values(JSON.parse(`{${each}}`) as object)[0] as string);
  return [...contract.permanentErrors, ...published];
}

describe("a name in each snippet equals the name in the contract", () => {
  let compiled = 0;
  test("in Java, Spring, C#, Python and JavaScript", () => {
    forAll(300, [name, name, name], (system, consumer, error) => {
      for (const contract of contractsOf(system, consumer, error)) {
        compiled++;
        const page = pageOf(contract);
        const texts = textsOf(contract);
        for (const code of holdersIn(page, ".java")) {
          const statements = code.replaceAll(/^\s*(?:\/\/|\/?\*).*$/gm, "");
          const all = (statements.match(literal) ?? []).map(javaText);
          const listened = /String WORK_QUEUE = ("(?:[^"\\]|\\.)*");/.exec(statements)?.[1];
          expect(statements.includes("@RabbitListener(queues = WORK_QUEUE,")).toBe(listened !== undefined);
          const queue = listened === undefined ? all : [springText(javaText(listened))];
          expect(queue).toContain(contract.workQueue);
          expect(all).toEqual(expect.arrayContaining([...texts]));
          expect(statements.replaceAll(literal, "")).not.toMatch(/["\\]/);
        }
        for (const code of holdersIn(page, ".cs")) {
          // Every escape of JSON means the same in C#.
          const all = (code.match(literal) ?? []).map((each) => JSON.parse(each) as string);
          expect(all).toEqual(expect.arrayContaining([contract.workQueue, ...texts]));
        }
      }
    });
    expect(compiled).toBeGreaterThan(100);
  });

  test("Python reads the contract as it is", () => {
    const python = spawnSync("python3", ["--version"]);
    if (python.status !== 0) return;
    const pages = [`a"""\\`, "\\", `\\u0022"`, "${x}#{y}", "\u{1F469}\u200D\u{1F680}"].flatMap((each) =>
      contractsOf("shop", each, each).map((contract) => ({ contract, page: pageOf(contract) })),
    );
    for (const { contract, page } of pages) {
      const [text] = /^CONTRACT = json\.loads\(r"""\n[^]*?\n"""\)$/m.exec(page) ?? [];
      if (text === undefined) continue;
      const program = `import json\n${text}\nprint(json.dumps(CONTRACT["workQueue"]))`;
      const { stdout } = spawnSync("python3", ["-c", program], { encoding: "utf8" });
      expect(JSON.parse(stdout)).toBe(contract.workQueue);
    }
    expect(pages.length).toBeGreaterThan(10);
  });
});

test("the command line shows the same text as the page", () => {
  const consumer = "\u{1F469}\u200D\u{1F680}";
  for (const contract of contractsOf("shop", consumer, consumer)) {
    for (const code of filesOf(pageOf(contract)).values()) expect(code).not.toContain("\u200D");
  }
});
