import type { Evidence } from "../../broker.ts";

/** Tells if the rules behind a proof were compared with SQS. They are the same in every region. */
export function evidenceOf(): Evidence {
  return Object.freeze({
    testedLive: false,
    rules: "follows AWS's documentation and recordings of its behaviour; not compared with AWS itself",
  });
}
