import { exportEmulatorConfig } from "../../../src/brokers/servicebus/export.ts";
import { checked } from "../examples.ts";
import { compileServicebus } from "./register.ts";

const at = (key: string): object => ({ from: { orders: [key] }, handlerTimeout: "10s" });
const atOnce = { attempts: 3, backoff: { kind: "immediate" } };
const growing = { attempts: 3, backoff: { kind: "exponential", first: "1s", factor: 2 } };

export const portableTarget = { broker: "servicebus", sku: "standard" } as const;

/** A system that Microsoft's emulator takes as well: each test has a consumer of its own, and a routing key that leads to it. */
export const portableSystem = checked({
  name: "shop",
  sources: { orders: { kind: "topic" }, keyed: { kind: "topic" } },
  consumers: {
    immediate: { ...at("immediate"), retry: atOnce },
    scheduled: { ...at("scheduled"), retry: growing },
    permanent: { ...at("permanent"), retry: growing },
    failing: { ...at("both"), retry: growing },
    succeeding: { ...at("both"), retry: growing },
    ordered: { from: { keyed: "all" }, handlerTimeout: "10s", retry: atOnce, order: "per-key" },
  },
});

export const portableCompiled = compileServicebus(portableSystem, portableTarget);

/** What Microsoft's emulator starts with. */
export const emulatorConfig = exportEmulatorConfig(portableCompiled.topology);
