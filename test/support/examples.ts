import { type Checked, checkSystem, renderDiagnostics, type System, type SystemInput } from "../../src/index.ts";

/** A system with one consumer; a test replaces its fields. */
export function oneConsumer(
  consumer: Record<string, unknown> = {},
  system: Record<string, unknown> = {},
): SystemInput & Record<string, unknown> {
  return {
    name: "shop",
    sources: { orders: { kind: "topic" } },
    consumers: {
      billing: {
        from: { orders: ["order.placed"] },
        retry: { attempts: 5, backoff: { kind: "exponential", first: "1s", factor: 2, max: "10s" } },
        ...consumer,
      },
    },
    ...system,
  } as SystemInput & Record<string, unknown>;
}

/** A system with these consumers and one source. */
export function shopWith<Consumers extends object>(consumers: Consumers) {
  return { name: "shop", sources: { orders: { kind: "topic" } }, consumers } as const;
}

/**
 * Rows about one place of a declaration: a title, the input, and what is expected of the place.
 *
 * @returns a function whose `key` is a path within the place; it is empty if the value is that of the place itself
 */
export const within =
  <Value>(place: string, declare: (value: Value) => unknown) =>
  <More extends readonly string[]>(what: string, value: Value, code: string, key: string, ...more: More) =>
    [what, declare(value), code, [place, key].filter((each) => each !== "").join("."), ...more] as const;

/** The value of a result, or a failed test with the diagnostics in it. */
export function accepted<Value>(result: Checked<Value>): Value {
  if (!result.ok) throw new Error(renderDiagnostics(result.diagnostics));
  return result.value;
}

/** The checked system, or a failed test with the diagnostics in it. */
export function checked(input: unknown): System {
  return accepted(checkSystem(input));
}
