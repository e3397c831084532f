import { expect, test } from "vitest";

import { type Deployed, readDeployed } from "../../src/migrate/deployed.ts";
import {
  type Going,
  type Lock,
  askedOf,
  factsOf,
  goingIn,
  lockWith,
  readLock,
  refuseSecond,
  withGoing,
  withoutGoing,
} from "../../src/migrate/lock.ts";

function deployed(attempts: number): Deployed {
  const retry = { attempts, backoff: { kind: "constant", delay: "5s" } };
  const consumers = { billing: { from: { orders: "all" }, retry } };
  const system = { name: "shop", sources: { orders: { kind: "topic" } }, consumers };
  const found = readDeployed(system, { broker: "rabbitmq", version: "4.3", strategy: "staged" });
  if (found === null) throw new Error("it compiles");
  return found;
}

const [old, between, last] = [3, 4, 5].map(deployed) as [Deployed, Deployed, Deployed];
const going: Going = { asked: askedOf(last), phase: 0, since: "2026-11-25T09:00:00.000Z", steps: [between, last] };

function lockText(): string {
  const lock = lockWith(null, "prod", old, "0.1.0");
  if (!lock.ok) throw new Error("it is a lock");
  return JSON.stringify(withGoing(lock.value, "prod", going), null, 2);
}

const lockIn = (text: string): Lock => {
  const lock = readLock(text);
  if (!lock.ok) throw new Error(lock.diagnostics[0]?.message);
  return lock.value;
};

test("a migration comes back from the lock as it was written", () => {
  const read = goingIn(lockIn(lockText()), "prod");
  expect(read).toMatchObject({
    ok: true,
    value: { ...going, steps: [{ system: between.system }, { system: last.system }] },
  });
  expect(goingIn(lockIn(lockText()), "dev")).toMatchObject({ ok: true, value: null });
  const back = JSON.stringify(withGoing(lockIn(lockText()), "prod", { ...going, back: true }));
  expect(goingIn(lockIn(back), "prod")).toMatchObject({ ok: true, value: { back: true } });
  expect(goingIn(lockIn(back.replace('"back":true', '"phase":0')), "prod").ok).toBe(false);
  expect(withoutGoing(lockIn(lockText()), "prod").environments["prod"]).not.toHaveProperty("migration");
});

test.each([
  ["another step", (text: string) => text.replace('"phase": 0', '"phase": 1')],
  ["a step that is not there", (text: string) => text.replace('"phase": 0', '"phase": 2')],
  ["another declaration of a step", (text: string) => text.replace('"attempts": 4', '"attempts": 6')],
  ["another request", (text: string) => text.replace(going.asked, "0123456789abcdef")],
])("a migration with %s is refused", (_, edit) => {
  const read = goingIn(lockIn(edit(lockText())), "prod");
  expect(read.ok ? [] : read.diagnostics.map(({ code }) => code)).toEqual(["RD323"]);
});

test("only the declaration that it began with goes on, or that of its last step", () => {
  expect(refuseSecond(going, last).ok).toBe(true);
  expect(refuseSecond({ ...going, asked: "another" }, last).ok).toBe(true);
  for (const other of [old, null]) {
    const refused = refuseSecond(going, other);
    expect(refused.ok ? [] : refused.diagnostics.map(({ code }) => code)).toEqual(["RD307"]);
  }
});

const targets = [
  ...["native", "staged", "waits"].map((strategy) => ({ broker: "rabbitmq", version: "4.3", strategy })),
  { broker: "sqs", region: "eu-west-1" },
  { broker: "servicebus", sku: "standard" },
];

/** Each value below a part: its place, and the part with another value there. */
function* edited(part: unknown, place = ""): Generator<{ place: string; value: unknown; changed: unknown }> {
  if (typeof part !== "object" || part === null) {
    const changed = typeof part === "string" ? `${part}, in other words` : [part];
    return yield { place, value: part, changed };
  }
  for (const [key, value] of Object.entries(part))
    for (const each of edited(value, `${place}.${key}`)) {
      const own = Array.isArray(part) ? [...(part as unknown[])] : { ...part };
      yield { ...each, changed: Object.assign(own, { [key]: each.changed }) };
    }
}

test.each(targets)("the digest covers each fact and no sentence: $broker $strategy", (target) => {
  const retry = { attempts: 3, backoff: { kind: "constant", delay: "5s" } };
  const consumers = { billing: { from: { orders: ["a.#"] }, retry, handlerTimeout: "30s" } };
  const side = readDeployed({ name: "shop", sources: { orders: { kind: "topic" } }, consumers }, target);
  if (side === null) throw new Error("it compiles");
  const { choices: _, ...compiled } = side.compiled;
  const digest = factsOf(side.compiled);
  const counts = { sentences: 0, facts: 0 };
  for (const { place, value, changed } of edited(compiled)) {
    const isForPeople = /\.(why|statement|calls)\b/.test(place);
    counts[isForPeople ? "sentences" : "facts"] += 1;
    const isSame = factsOf({ ...side.compiled, ...(changed as object) }) === digest;
    expect([place, isSame]).toEqual([place, isForPeople]);
    // A filter in SQL has words as well, and no other fact has.
    if (!isForPeople && !place.endsWith(".expression")) expect(String(value)).not.toMatch(/\S [^ ]+ \S/);
  }
  expect(counts.sentences).toBeGreaterThan(10);
  expect(counts.facts).toBeGreaterThan(100);
  expect(factsOf({ ...side.compiled, choices: [] })).toBe(digest);
});
