import type { IdempotencyStore } from "./store.ts";

interface Entry {
  /** Null after a successful run. */
  readonly token: string | null;
  readonly expiresAtMs: number;
}

/** A store for tests: it is gone with the process, and no other instance sees it. */
export function createMemoryStore(nowMs: () => number = Date.now): IdempotencyStore {
  const entries = new Map<string, Entry>();
  const present = (key: string): Entry | undefined => {
    const entry = entries.get(key);
    if (entry === undefined || entry.expiresAtMs > nowMs()) return entry;
    entries.delete(key);
    return undefined;
  };
  return {
    begin: async (key, token, expiresAfterMs) => {
      const entry = present(key);
      if (entry !== undefined) return entry.token === null ? "done" : "running";
      entries.set(key, { token, expiresAtMs: nowMs() + expiresAfterMs });
      return "begun";
    },
    finish: async (key, keepForMs) => void entries.set(key, { token: null, expiresAtMs: nowMs() + keepForMs }),
    release: async (key, token) => {
      if (present(key)?.token === token) entries.delete(key);
    },
  };
}
