import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { nameClashes } from "../../src/contract/shared-problems.ts";
import { checkSystem, compile, parseTarget } from "../../src/index.ts";
import { checked } from "../support/examples.ts";
import { forAll } from "../support/for-all.ts";

const retry = { attempts: 2, backoff: { kind: "constant", delay: "1s" } };
const consumer = { from: { orders: "all" }, retry };
const fine = { name: "shop", sources: { orders: { kind: "topic" } }, consumers: { billing: consumer } };

/** A declaration with names in one of its places, and the path of the last name. */
const places: Readonly<Record<string, (names: readonly string[]) => { declared: unknown; path: RegExp }>> = {
  "the system": (names) => ({ declared: { ...fine, name: names.at(-1) }, path: /^name$/ }),
  sources: (names) => ({
    declared: {
      ...fine,
      sources: Object.fromEntries(
        [["orders"], ...names.map((each) => [each])].map(([key]) => [key, { kind: "topic" }]),
      ),
    },
    path: /^sources\b/,
  }),
  consumers: (names) => ({
    declared: { ...fine, consumers: Object.fromEntries(names.map((each) => [each, consumer])) },
    path: /^consumers\b/,
  }),
  "routing keys": (names) => ({
    declared: { ...fine, consumers: { billing: { from: { orders: [...names] }, retry } } },
    path: /^consumers\.billing\.from\.orders\[\d\]$/,
  }),
  "permanent errors": (names) => ({
    declared: { ...fine, consumers: { billing: { ...consumer, errors: { permanent: [...names] } } } },
    path: /^consumers\.billing\.errors\.permanent\[\d\]$/,
  }),
};

function expectRefused(declared: unknown, path: RegExp): void {
  const checked = checkSystem(declared);
  expect(checked.ok ? [] : checked.diagnostics.map(({ code }) => code), JSON.stringify(declared)).toEqual(["RD113"]);
  if (!checked.ok) expect(checked.diagnostics[0]?.path).toMatch(path);
}

describe.for(Object.entries(places))("%s", ([place, declaredWith]) => {
  test.for([
    ["half a character", "a\uD800b"],
    ["the other half", "\uDC00"],
    ["a control character", "a\u001Bb"],
    ["a line", "a\nb"],
    ["the second set of control characters", "a\u009Bb"],
    ["an override", "a\u202Eb"],
    ["an isolate", "a\u2066b"],
    ["a mark of direction", "a\u200Fb"],
    ["a blank without width", "a\u200Bb"],
    ["a byte order mark", "\uFEFFa"],
    ["a tag", "a\u{E0041}"],
    ["a line separator", "a\u2028b"],
    ["a soft hyphen", "a\u00ADb"],
    ["a filler", "\u3164"],
    ["nothing that can be seen", "\u200D"],
    ["a password", "amqp://guest:hunter2@host"],
  ] as const)("%s is refused", ([, name]) => {
    const { declared, path } = declaredWith([name]);
    expectRefused(declared, path);
  });

  test.runIf(place !== "the system").for([
    ["caf\u00E9", "cafe\u0301"],
    ["billing", "bill\u200Ding"],
    ["\u212B", "\u00C5"],
    ["a", "a\uFE0F"],
  ])("%j and %j look the same", (names) => {
    const { declared, path } = declaredWith(names);
    expectRefused(declared, path);
  });

  test("names of any language are accepted", () => {
    const names = [
      "Zahlung",
      "\u652F\u6255\u3044",
      "\u067E\u0631\u062F\u0627\u062E\u062A\u200C\u0647\u0627",
      "\u{1F469}\u200D\u{1F680}",
      "\uFB01n",
    ];
    expect(checkSystem(declaredWith(names).declared)).toMatchObject({ ok: true });
  });
});

test("a source that only looks like a declared one gives one diagnostic", () => {
  const sources = { "caf\u00E9": { kind: "topic" } };
  expectRefused(
    { ...fine, sources, consumers: { billing: { from: { "cafe\u0301": "all" }, retry } } },
    /^consumers\.billing\.from\b/,
  );
});

test("a mistake beside a name is reported, too", () => {
  const checked = checkSystem({ ...fine, name: "a\u200Bb", consumers: { billing: { ...consumer, order: "any" } } });
  expect(checked.ok ? [] : checked.diagnostics.map(({ code }) => code)).toEqual(["RD113", "RD101"]);
});

test("any two accepted names look different, and stay as they were written", () => {
  const text = fc.string({
    unit: fc.constantFrom("a", "\u00E9", "e", "\u0301", "\u200D", "\uFE0F", "\u212B", "\u00C5"),
    minLength: 1,
    maxLength: 4,
  });
  forAll(100, [fc.uniqueArray(text, { minLength: 2, maxLength: 4 })], (names) => {
    const consumers = Object.fromEntries(names.map((name) => [name, consumer]));
    const checked = checkSystem({ ...fine, consumers });
    const seen = names.map((name) =>
      name
        .normalize("NFC")
        .replaceAll(/\u200D|\uFE0F/g, "")
        .normalize("NFC"),
    );
    expect(checked.ok).toBe(new Set(seen).size === names.length && !seen.includes(""));
    if (checked.ok) expect(Object.keys(checked.value.consumers)).toEqual(names);
  });
});

test("checking the names of any declaration causes no internal error", () => {
  forAll(100, [fc.anything()], (input) => void checkSystem(input));
  forAll(100, [fc.dictionary(fc.constantFrom("name", "sources", "consumers"), fc.anything())], (input) => {
    const checked = checkSystem(input);
    // None of these values is a consumer. A system without any is accepted, with a warning.
    if (!checked.ok) return;
    expect(checked.value.consumers).toEqual({});
    expect(checked.warnings.map(({ code }) => code)).toContain("RD114");
  });
});

test("a name is looked up in the declaration only if it clashes", () => {
  let lookups = 0;
  const pathOf = (): readonly string[] => {
    lookups += 1;
    return ["consumers", "billing"];
  };
  const named = ["a", "b", "c"].map((name) => ({ name, what: "a queue", pathOf }));
  expect(nameClashes({}, named)).toEqual([]);
  expect(lookups).toBe(0);
  expect(nameClashes({}, [...named, { name: "b", what: "another queue", pathOf }])).toHaveLength(1);
  expect(lookups).toBe(2);
});

test.each(["rabbitmq@4.3", "sqs@eu-west-1", "servicebus@standard"])(
  "a first name of the system that %s refuses is shown at its place",
  (text) => {
    const target = parseTarget(text);
    if (!target.ok) throw new Error("no target");
    const billing = { handlerTimeout: "10s", retry: { attempts: 3, backoff: { kind: "constant", delay: "10s" } } };
    const pathsOf = (own: object): readonly string[] => {
      const result = compile(checked({ ...own, consumers: { billing } }), target.value);
      const refused = result.ok ? [] : result.diagnostics.filter(({ code }) => code === "RD204");
      return refused.map(({ path }) => path).filter((path) => !path.startsWith("consumers."));
    };
    expect(pathsOf({ name: "shop", formerly: "st ore/@" })).toEqual(["formerly"]);
    expect(pathsOf({ name: "st ore/@" })).toEqual(["name"]);
  },
);
