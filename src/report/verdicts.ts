import type { Evidence, Keeper, KeptPromise } from "../brokers/broker.ts";
import type { Verdict } from "../verify/verify.ts";

const keepers: readonly Keeper[] = ["broker", "consumer", "nobody"];

/** What was proved of each consumer, and who keeps which of its promises; what is refuted is never compiled. */
export function renderVerdicts(
  target: string,
  verdicts: readonly Verdict[],
  promises: readonly KeptPromise[],
  evidence: Evidence,
): string {
  if (verdicts.length === 0) return `${target}\nnothing is proved: no consumer has retries that a proof is there for\n`;
  const lines = verdicts.flatMap(({ consumer, states, deliveries }) => [
    `proved   ${consumer}: ${states} states, ${deliveries} deliveries at most`,
    ...keepers.flatMap((keeper) => keptBy(keeper, consumer, promises)),
  ]);
  const proves =
    "Each state that one message can reach was visited, whatever its consumer does: success, transient and permanent failure, crash, return, or not being there. Loss and isolation hold even if it breaks its contract: requeues, rejects, or never settles.";
  return `${target}\n${lines.join("\n")}\nmodel    ${evidence.rules}\n${proves}\n`;
}

function keptBy(keeper: Keeper, consumer: string, promises: readonly KeptPromise[]): string[] {
  const names = promises
    .filter((each) => each.consumer === consumer && each.keeper === keeper)
    .map((each) => each.promise);
  return names.length === 0
    ? []
    : [`         kept by ${keeper === "nobody" ? keeper : `the ${keeper}`}: ${names.join(", ")}`];
}
