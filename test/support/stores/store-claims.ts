import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";

import type { IdempotencyStore } from "../../../src/consume/idempotency/store.ts";
import { until } from "../deployed-system.ts";

const longMs = 600_000;

/** The duties of every store; `open` gives one that all callers share. */
export function storeClaims(open: () => IdempotencyStore): void {
  const some = (): { readonly key: string; readonly token: string } => ({
    key: `billing:${randomUUID()}`,
    token: randomUUID(),
  });

  test("of many runs that begin at once, one gets the claim", async () => {
    for (let round = 0; round < 20; round++) {
      const { key } = some();
      const claims = await Promise.all(Array.from({ length: 20 }, () => open().begin(key, randomUUID(), longMs)));
      expect(claims.toSorted()).toEqual(["begun", ...Array.from({ length: 19 }, () => "running")]);
    }
  });

  test("a finished run is done for everyone, until it is forgotten", async () => {
    const { key, token } = some();
    expect(await open().begin(key, token, longMs)).toBe("begun");
    await open().finish(key, longMs);
    expect(await open().begin(key, randomUUID(), longMs)).toBe("done");
    await open().release(key, token);
    expect(await open().begin(key, token, longMs), "a release after the end").toBe("done");
    await open().finish(key, 1);
    await until(30_000, async () => (await open().begin(key, token, longMs)) === "begun");
  });

  test("a release frees the key at once, and only the owner of the claim can release it", async () => {
    const { key, token } = some();
    await open().begin(key, token, longMs);
    await open().release(key, randomUUID());
    expect(await open().begin(key, randomUUID(), longMs)).toBe("running");
    await open().release(key, token);
    expect(await open().begin(key, randomUUID(), longMs)).toBe("begun");
    await open().release(some().key, token);
  });

  test("a claim of a crashed run ends by itself, and not before its time", async () => {
    const { key, token } = some();
    const beganAtMs = performance.now();
    await open().begin(key, token, 1_000);
    await until(30_000, async () => (await open().begin(key, randomUUID(), longMs)) === "begun");
    // The store's clock and ours count in different steps.
    expect(performance.now() - beganAtMs).toBeGreaterThan(990);
    await open().release(key, token);
    expect(await open().begin(key, randomUUID(), longMs), "it is another's by now").toBe("running");
  });

  test("a run that outlives its claim still counts as done", async () => {
    const { key, token } = some();
    await open().begin(key, token, 1);
    const other = randomUUID();
    await until(30_000, async () => (await open().begin(key, other, longMs)) === "begun");
    await open().finish(key, longMs);
    await open().release(key, other);
    expect(await open().begin(key, token, longMs)).toBe("done");
  });

  test("keys are independent, with any characters in them", async () => {
    const keys = [
      "billing:1",
      "billing:2",
      "mail:1",
      "billing:'; --",
      "billing:ü\n\u{1F600}",
      `billing:${"x".repeat(900)}`,
    ];
    const fresh = keys.map((key) => `${randomUUID()}${key}`);
    const claims = await Promise.all(fresh.map((key) => open().begin(key, randomUUID(), longMs)));
    expect(new Set(claims)).toEqual(new Set(["begun"]));
  });
}
