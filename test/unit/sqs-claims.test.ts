import { expect, test } from "vitest";

import type { ClaimName as RuleName } from "../../src/brokers/sqs/semantics.ts";
import { claims as rules, proofOf as proofOfRule } from "../../src/brokers/sqs/semantics.ts";
import { claimNames, claims, proofOf } from "../support/sqs/known-gaps.ts";

// The semantics says of each rule how far it is known, and the live tests find it out: both have to say the same.

const names = Object.keys(rules) as readonly RuleName[];
const asked = names.filter((name): name is RuleName & (typeof claimNames)[number] => name in claims);

test("a rule is proved where the emulators are known to do what AWS does, and nowhere else", () => {
  expect(asked.length).toBeGreaterThan(20);
  expect(asked.map((name) => [name, proofOfRule(name)])).toEqual(asked.map((name) => [name, proofOf(name)]));
});

test("a rule that no emulator is asked about is static only", () => {
  const untried = names.filter((name) => !(name in claims));
  expect(untried.length).toBeGreaterThan(5);
  expect(untried.filter((name) => proofOfRule(name) !== "static only")).toEqual([]);
});

test("two claims with one name are about the same thing", () => {
  // The first words are the subject; the live tests add what is seen, and the semantics what is assumed.
  const subject = (text: string): string => text.split(" ").slice(0, 4).join(" ");
  expect(asked.map((name) => subject(rules[name].says))).toEqual(asked.map((name) => subject(claims[name].says)));
});
