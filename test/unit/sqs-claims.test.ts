import { expect, test } from "vitest";

import { claimNames, claims } from "../support/sqs/known-gaps.ts";
import { rules } from "../support/sqs/rules.ts";

test("two claims with one name are about the same fact", () => {
  // The first words are the subject. The live tests add the observation, and the semantics adds the assumption.
  const subject = (text: string): string => text.split(" ").slice(0, 4).join(" ");
  const asked = Object.entries(rules).filter(([name]) => name in claims);
  const tried = new Map<string, string>(claimNames.map((name) => [name, claims[name].says]));
  expect(asked.length).toBeGreaterThan(20);
  expect(asked.map(([, { says }]) => subject(says))).toEqual(asked.map(([name]) => subject(tried.get(name) ?? "")));
});
