import { defineSystem } from "redeliver";

export default defineSystem({
  name: "shop",
  sources: { events: { kind: "topic" } },
  consumers: {
    billing: {
      from: { events: ["billing.#"] },
      retry: { attempts: 5, backoff: { kind: "exponential", first: "1s", factor: 2, max: "1m" } },
      handlerTimeout: "30s",
      deadLetter: { retain: "7d" },
    },
  },
});
