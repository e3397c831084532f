import type { Evidence } from "../broker.ts";

/** How far the rules that a proof rests on were compared with SQS. They are the same in every region. */
export function evidenceOf(): Evidence {
  return Object.freeze({
    testedLive: false,
    rules: "follows AWS's documentation and recordings of its behaviour; not compared with AWS itself",
  });
}
