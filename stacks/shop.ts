import { constant, defineSystem, exponential, linear } from "../src/index.ts";
import type { System } from "../src/index.ts";

const shop: System = defineSystem({
  name: "shop",
  sources: { orders: { kind: "topic" }, payments: { kind: "topic" } },
  consumers: {
    // The common schedule: 1, 2, 4 and 8 s between five attempts.
    billing: {
      from: { orders: ["order.placed", "order.cancelled"] },
      retry: { attempts: 5, backoff: exponential({ first: "1s", factor: 2, max: "10s" }) },
      crash: { deliveries: 3 },
      handlerTimeout: "30s",
      errors: { permanent: ["ValidationError"] },
      deadLetter: { retain: "14d", alarmAbove: 0 },
    },
    // A parcel service that is down for minutes at a time: wait longer each time.
    shipping: {
      from: { orders: ["order.placed"], payments: ["payment.*"] },
      retry: { attempts: 4, backoff: linear({ first: "10s", max: "1m" }) },
      handlerTimeout: "10s",
      errors: { permanent: ["ParcelTooHeavy"] },
      deadLetter: { retain: "14d", alarmAbove: 0 },
    },
    // Mail may be late, so its retries are spread out and stop after an hour.
    mail: {
      from: { orders: ["order.#"] },
      retry: {
        attempts: 6,
        backoff: exponential({ first: "30s", factor: 3, max: "20m", jitter: "20%" }),
        giveUpAfter: "1h",
      },
      crash: { deliveries: 2 },
      errors: { permanent: ["AddressUnknown", "Unsubscribed"] },
      deadLetter: { retain: "7d", alarmAbove: 0 },
    },
    // One quick repeat, then a person looks at it.
    audit: {
      from: { payments: "all" },
      retry: { attempts: 2, backoff: constant("5s") },
      errors: { permanent: ["UnknownAccount"] },
      deadLetter: { retain: "7d", alarmAbove: 0 },
    },
    // Each instance of the shop keeps its own price cache warm.
    prices: { from: { orders: ["price.changed"] }, delivery: "every-instance" },
  },
});

export default shop;
