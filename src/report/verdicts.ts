import type { Evidence } from "../brokers/broker.ts";
import type { Verdict } from "../verify/verify.ts";

/** What was proved of each consumer; what is refuted is never compiled. */
export function renderVerdicts(target: string, verdicts: readonly Verdict[], evidence: Evidence): string {
  if (verdicts.length === 0) return `${target}\nnothing is proved: no consumer has retries that a proof is there for\n`;
  const lines = verdicts.map(
    ({ consumer, states, deliveries }) => `proved   ${consumer}: ${states} states, ${deliveries} deliveries at most`,
  );
  const proves =
    "Each state that one message can reach was visited, whatever its consumer does: success, transient and permanent failure, crash, return, or not being there. Loss and isolation hold even if it breaks its contract: requeues, rejects, or never settles.";
  return `${target}\n${lines.join("\n")}\nmodel    ${evidence.rules}\n${proves}\n`;
}
