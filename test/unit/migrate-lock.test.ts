import { expect, test } from "vitest";

import { type Deployed, readDeployed } from "../../src/migrate/deployed.ts";
import {
  type Going,
  type Lock,
  askedOf,
  goingIn,
  lockWith,
  readLock,
  refuseSecond,
  withGoing,
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
