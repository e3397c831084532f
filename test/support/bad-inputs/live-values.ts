import type { Draw } from "./draw.ts";

const ring: unknown[] = [];
ring.push(ring);
const mappingRing: Record<string, unknown> = {};
mappingRing["a"] = mappingRing;
/** Throws a text, because a stranger's code may throw other values than an Error. */
const refuse = (): never => {
  throw Object.create(null) as Error;
};
const everyTrap = Object.fromEntries(
  Reflect.ownKeys(Reflect).flatMap((trap) => (typeof trap === "string" ? [[trap, refuse]] : [])),
);
const revoked = Proxy.revocable({}, {});
revoked.revoke();
class Fields {
  readonly from = { orders: "all" };
}
/** Each getter gives another object with the same getter. */
const endless = (): object => Object.defineProperty({}, "from", { enumerable: true, get: endless });
const deep = (wrap: (inner: unknown) => unknown): unknown => {
  let value: unknown = 1;
  for (let depth = 0; depth < 20_000; depth++) value = wrap(value);
  return value;
};

/** Values that no file can hold, each created on demand. */
const liveValues: readonly (() => unknown)[] = [
  () => 1n,
  () => Symbol("s"),
  () => Symbol.iterator,
  () => undefined,
  () => Number.NaN,
  () => Number.POSITIVE_INFINITY,
  () => () => 1,
  () => Fields,
  () => new Date(Number.NaN),
  () => new Map([["a", 1]]),
  () => new Set([1]),
  () => new Uint8Array(8),
  () => new Error("e"),
  () => new Fields(),
  () => Promise.resolve(1),
  () => /x/,
  () => new String("text"),
  () => Object.create(null) as unknown,
  () => Object.assign(Object.create(null) as object, { orders: "all" }),
  () => ring,
  () => mappingRing,
  () => deep((inner) => [inner]),
  () => deep((inner) => ({ a: inner })),
  () => Array.from({ length: 3 }) as unknown,
  () => Object.assign([], { length: 4_294_967_295 }) as unknown,
  () => Object.assign([], { length: 1_000_000_000 }) as unknown,
  () => Object.assign(["a"], { extra: 1 }),
  () => Object.defineProperty({}, "kind", { enumerable: true, get: refuse }) as unknown,
  () => Object.defineProperty([1], 0, { get: refuse }) as unknown,
  () => ({ toJSON: refuse, toString: refuse, valueOf: refuse, [Symbol.toPrimitive]: refuse }),
  () => ({ toJSON: () => "other" }),
  () => new Proxy({}, everyTrap),
  () => new Proxy([], everyTrap),
  () => new Proxy(() => 1, everyTrap),
  () => revoked.proxy,
  () => new Proxy({}, { ownKeys: () => ["a", "b"], getOwnPropertyDescriptor: () => undefined }),
  () => new Proxy({}, { get: () => 1 }),
  () => new Proxy([], { get: (_, key) => (key === "length" ? 2 ** 32 : "a") }),
  endless,
  () => JSON.parse('{"__proto__":{"a":1}}') as unknown,
  () => ({ ["__proto__"]: 1, constructor: 2 }),
  () => "\ud800",
  () => "x".repeat(10_000_000),
];

export function liveValue(draw: Draw): unknown {
  return draw.of(liveValues)();
}
