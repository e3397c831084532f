import type { DeclarationExample, ExamplePair, TargetFileExample } from "../example.ts";
import type { ExampleLines } from "../example-text.ts";
import { retryText, systemExample, systemText } from "../example-text.ts";

const timeout = "handlerTimeout: 30s";
const atOnce = retryText("kind: immediate");
/** A returned message may cost a delivery on every queue of Service Bus without sessions. */
const returned = { also: ["RD207"] } as const;

/** A consumer with a handler timeout, for examples that the compiler refuses. */
function refused(lines: ExampleLines, sku = "standard", strategy?: string): DeclarationExample {
  const rest = { target: `servicebus@${sku}`, ...(strategy === undefined ? {} : { strategy }) };
  return systemExample({ ...lines, more: [timeout, ...(lines.more ?? [])] }, rest);
}

/** The same for examples that compile, with the warning about returns. */
function compiled(lines: ExampleLines, sku = "standard", strategy?: string): DeclarationExample {
  return { ...refused(lines, sku, strategy), ...returned };
}

/** A number of attempts, all at once, for Microsoft's emulator. */
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

/** A consumer in order, and a target with this setting. */
function ordered(setting: string): TargetFileExample {
  const text = `broker: servicebus\nsku: standard\n${setting}\n`;
  const declaration = systemText({ retry: atOnce, more: [timeout, "order: per-key"] });
  return { kind: "target-file", text, declaration };
}

/** RD2xx and RD70x to RD73x: declarations that Azure Service Bus cannot keep, or keeps only at a price. */
export const compileExamples = {
  RD217: {
    fires: systemExample({}, { target: "servicebus@standard", ...returned }),
    quiet: compiled({}),
  },
  RD218: {
    fires: systemExample({ more: ["handlerTimeout: 30d"] }, { target: "servicebus@standard" }),
    quiet: systemExample({ more: ["handlerTimeout: 20d"] }, { target: "servicebus@standard", ...returned }),
  },
  RD704: { fires: refused({}, "basic"), quiet: compiled({ from: "{ orders: all }" }, "basic") },
  RD710: {
    fires: inOrder("{ orders: all, payments: all }"),
    quiet: inOrder("{ orders: all }"),
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
    fires: exported(20, ["RD207", "RD718"]),
    quiet: exported(10, ["RD207", "RD718"]),
  },
  RD718: {
    fires: exported(5, ["RD207"]),
    quiet: compiled({ retry: atOnce }),
  },
  RD723: {
    fires: ordered("deadQueue: shared"),
    quiet: ordered("deadQueue: own"),
  },
  RD724: {
    fires: ordered("duplicates: { billing: 10m }"),
    quiet: target(["duplicates: { billing: 10m }"], returned.also),
  },
} as const satisfies Readonly<Record<string, ExamplePair>>;
