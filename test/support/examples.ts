import type { System, SystemInput } from "../../src/index.ts";
import { checkSystem, renderDiagnostics } from "../../src/index.ts";

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

/** The checked system, or a failed test with the diagnostics in it. */
export function checked(input: unknown): System {
  const result = checkSystem(input);
  if (!result.ok) throw new Error(renderDiagnostics(result.diagnostics));
  return result.value;
}
