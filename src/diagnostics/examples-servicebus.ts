import type { DeclarationExample, ExamplePair, TargetFileExample } from "./example.ts";
import type { ExampleLines } from "./example-text.ts";
import { retryText, systemExample, systemText } from "./example-text.ts";

const timeout = "handlerTimeout: 30s";
const constantRetry = retryText("kind: constant, delay: 30s");
const atOnce = retryText("kind: immediate");
/** A returned message costs a delivery on every queue of Service Bus. */
const returned = { also: ["RD713"] } as const;

/** A consumer with a handler timeout, which is refused on a tier. */
function refused(lines: ExampleLines, sku = "standard", strategy?: string): DeclarationExample {
  const rest = { target: `servicebus@${sku}`, ...(strategy === undefined ? {} : { strategy }) };
  return systemExample({ ...lines, more: [timeout, ...(lines.more ?? [])] }, rest);
}

/** The same where it is compiled. */
function compiled(lines: ExampleLines, sku = "standard", strategy?: string): DeclarationExample {
  return { ...refused(lines, sku, strategy), ...returned };
}

/** So many attempts at once, for Microsoft's emulator. */
function exported(attempts: number, also: DeclarationExample["also"] & {}): DeclarationExample {
  const example = refused({ retry: retryText("kind: immediate", attempts) });
  return { ...example, exportAs: "emulator-config", also };
}

/** A target as a file with these lines. */
function target(lines: readonly string[], also?: TargetFileExample["also"]): TargetFileExample {
  const text = ["broker: servicebus", "sku: standard", ...lines, ""].join("\n");
  const declaration = systemText({ more: [timeout] });
  return { kind: "target-file", text, declaration, ...(also === undefined ? {} : { also }) };
}

/** The consumer billing, and another one that differs in its name. */
function twoConsumers(other: string): DeclarationExample {
  const text = [
    "name: shop",
    "sources: { orders: { kind: topic } }",
    "consumers:",
    "  billing: &retried",
    "    from: { orders: [order.placed] }",
    `    retry: ${constantRetry}`,
    `    ${timeout}`,
    `  ${other}: *retried`,
    "",
  ].join("\n");
  return { kind: "declaration", format: "yaml", text, target: "servicebus@standard" };
}

/** One consumer in order, of one source or of two. */
function inOrder(from: string): DeclarationExample {
  const text = [
    "name: shop",
    "sources: { orders: { kind: topic }, payments: { kind: topic } }",
    "consumers:",
    "  billing:",
    `    from: ${from}`,
    `    retry: ${atOnce}`,
    `    ${timeout}`,
    "    order: per-key",
    "",
  ].join("\n");
  return { kind: "declaration", format: "yaml", text, target: "servicebus@standard" };
}

/** RD70x to RD73x: what Azure Service Bus cannot do, or does only at a price. */
export const servicebusExamples = {
  RD701: {
    fires: { kind: "target", target: "servicebus@gold" },
    quiet: { kind: "target", target: "servicebus@standard" },
  },
  RD702: { fires: target(["lock: P5M"]), quiet: target(["lock: 5m"], returned.also) },
  RD703: { fires: target(["duplicates: 10s"]), quiet: target(["duplicates: 10m"], returned.also) },
  RD704: { fires: refused({}, "basic"), quiet: compiled({ from: "{ orders: all }" }, "basic") },
  RD705: {
    fires: refused({}, "standard", "immediate"),
    quiet: compiled({}, "standard", "scheduled"),
  },
  RD706: {
    fires: refused({ retry: constantRetry, more: ["order: per-key"] }),
    quiet: compiled({ retry: atOnce, more: ["order: per-key"] }),
  },
  RD707: { fires: compiled({ consumer: "billing~eu" }), quiet: compiled({ consumer: "billing-eu" }) },
  RD708: { fires: { ...twoConsumers("Billing"), ...returned }, quiet: { ...twoConsumers("refunds"), ...returned } },
  RD709: {
    fires: systemExample({ retry: "", more: ["delivery: every-instance"] }, { target: "servicebus@standard" }),
    quiet: compiled({ more: ["delivery: work-queue"] }),
  },
  RD710: {
    fires: inOrder("{ orders: all, payments: all }"),
    quiet: { ...inOrder("{ orders: all }"), ...returned },
  },
  RD711: {
    fires: refused({ from: '{ orders: ["*.order.#"] }' }),
    quiet: compiled({ from: '{ orders: ["#.order.#"] }' }),
  },
  RD712: {
    fires: systemExample({ more: ["handlerTimeout: 30d"] }, { target: "servicebus@standard" }),
    quiet: systemExample({ more: ["handlerTimeout: 20d"] }, { target: "servicebus@standard", ...returned }),
  },
  RD713: {
    fires: refused({}),
    quiet: systemExample({ more: [timeout] }, { target: "rabbitmq@4.3" }),
  },
  RD714: {
    fires: systemExample({}, { target: "servicebus@standard", ...returned }),
    quiet: compiled({}),
  },
  RD715: {
    fires: { ...refused({}, "standard", "ttl-tier"), ...returned },
    quiet: compiled({}, "standard", "scheduled"),
  },
  RD716: {
    fires: target(["lock: 1m", "duplicates: 20s"], returned.also),
    quiet: target(["lock: 1m", "duplicates: 10m"], returned.also),
  },
  RD717: {
    fires: exported(20, ["RD713", "RD718"]),
    quiet: exported(10, ["RD713", "RD718"]),
  },
  RD718: {
    fires: exported(5, ["RD713"]),
    quiet: compiled({ retry: atOnce }),
  },
} as const satisfies Readonly<Record<string, ExamplePair>>;
