import type { Evidence } from "../../broker.ts";

/** Tells if the rules behind a proof were compared with Service Bus. They are the same in every tier. */
export function evidenceOf(): Evidence {
  return Object.freeze({
    testedLive: false,
    rules: "follows Microsoft's documentation and reports of its users; not compared with Service Bus itself",
  });
}
