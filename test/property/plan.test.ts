import fc from "fast-check";
import { expect, test } from "vitest";

import { checkSystem, plan } from "../../src/index.ts";
import { formatPath } from "../../src/diagnostics/diagnostic.ts";
import { parseText } from "../../src/declare/parse.ts";
import { stringify } from "yaml";
import { anySystem } from "../support/arbitraries.ts";
import { accepted, checked } from "../support/examples.ts";
import { forAll } from "../support/for-all.ts";

test("a timeline starts at zero, never goes back, and its due times are the sums of its delays", () => {
  forAll(100, [anySystem], (input) => {
    for (const { retry } of plan(checked(input)).consumers) {
      if (retry === null) continue;
      expect(retry.attempts[0]).toMatchObject({ attempt: 1, delayMs: 0, dueMs: 0 });
      let dueMs = 0;
      for (const [index, each] of retry.attempts.entries()) {
        dueMs += each.delayMs;
        expect(each).toMatchObject({ attempt: index + 1, dueMs });
        expect(each.delayLatestMs).toBeGreaterThanOrEqual(each.delayMs);
        expect(each.delayLatestMs * 100).toBeLessThanOrEqual(each.delayMs * (100 + retry.jitterPercent));
        expect(Number.isSafeInteger(each.delayMs)).toBe(true);
      }
      expect(retry.maxDeliveries).toBe(retry.attempts.length * retry.crashDeliveries);
      if (retry.giveUpAfter !== null)
        expect(retry.attempts.at(-1)?.dueLatestMs).toBeLessThanOrEqual(retry.giveUpAfter.afterMs);
    }
  });
});

test("a check warns of exactly those consumers whose plan has fewer attempts than declared", () => {
  forAll(100, [anySystem], (input) => {
    const result = checkSystem(input);
    const warned = (result.ok ? result.warnings : []).filter(({ code }) => code === "RD120");
    const short = plan(checked(input)).consumers.filter(
      ({ retry }) => (retry?.giveUpAfter?.declaredAttempts ?? 0) > (retry?.attempts.length ?? 0),
    );
    expect(warned.map(({ path }) => path)).toEqual(
      short.map(({ consumer }) => formatPath(["consumers", consumer, "retry", "giveUpAfter"])),
    );
  });
});

test("a system survives the round trip through JSON and YAML", () => {
  forAll(60, [anySystem], (input) => {
    const system = checked(input);
    for (const [text, format] of [
      [JSON.stringify(input), "json"],
      [JSON.stringify(system), "json"],
      [stringify(input), "yaml"],
    ] as const) {
      const parsed = accepted(parseText(text, format));
      const again = checkSystem(parsed);
      expect(again.ok && again.value).toEqual(system);
    }
  });
});

test("checking any input gives an answer and never throws", () => {
  forAll(
    100,
    [
      fc.oneof(
        fc.anything(),
        fc.object({ key: fc.constantFrom("name", "sources", "consumers", "from", "retry", "backoff", "kind") }),
      ),
    ],
    (input) => {
      const result = checkSystem(input);
      if (result.ok) return;
      expect(result.diagnostics.length).toBeGreaterThan(0);
      expect(result.diagnostics.every((each) => each.help !== undefined && each.message !== "")).toBe(true);
    },
  );
});

test("parsing any text gives an answer and never throws", () => {
  forAll(100, [fc.oneof(fc.string(), fc.json()), fc.constantFrom("json", "yaml")], (text, format) => {
    expect(typeof parseText(text, format).ok).toBe("boolean");
  });
});
