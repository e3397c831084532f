import type { Verdict } from "../verify/verify.ts";

/** What was proved of each consumer, or the shortest way that refutes it. */
export function renderVerdicts(target: string, verdicts: readonly Verdict[]): string {
  const lines = verdicts.flatMap((verdict) => {
    if (verdict.violations.length === 0) {
      return [`proved   ${verdict.consumer}: ${verdict.states} states, ${verdict.deliveries} deliveries at most`];
    }
    return verdict.violations.flatMap((violation) => [
      `REFUTED  ${verdict.consumer}: ${violation.property}: ${violation.message}`,
      ...violation.trace.map((step, index) => `         ${index + 1}. ${step}`),
    ]);
  });
  const proves =
    "Each state that one message can reach was visited, under every behaviour of its consumer: success, transient and permanent failure, crash, return.";
  return `${target}\n${lines.join("\n")}\n${proves}\n`;
}
