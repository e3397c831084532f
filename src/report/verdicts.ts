import type { Evidence } from "../brokers/broker.ts";
import type { ChangedCounts } from "../compile/budget.ts";
import { count } from "../contract/in-words.ts";
import type { Keeper, KeptPromise } from "../contract/promise.ts";
import { visible } from "../diagnostics/visible.ts";
import type { LeftBehind } from "../migrate/left-behind.ts";
import type { ChangeVerdict } from "../verify/verify-change.ts";
import type { Verdict } from "../verify/verdict.ts";

const keepers: readonly Keeper[] = ["broker", "consumer", "nobody"];

/** The proved properties of each consumer, and the keepers of its promises. A refuted system is never compiled. */
export function renderVerdicts(
  target: string,
  verdicts: readonly Verdict[],
  promises: readonly KeptPromise[],
  evidence: Evidence,
): string {
  if (verdicts.length === 0) return `${target}\nnothing is proved: no consumer has retries to prove\n`;
  const lines = verdicts.flatMap(({ consumer, states, deliveries }) => [
    `proved   ${visible(consumer)}: ${count(states, "state")}, ${count(deliveries, "delivery", "deliveries")} at most`,
    ...keepers.flatMap((keeper) => keptBy(keeper, consumer, promises)),
  ]);
  const proves =
    "The proof visited each state that one message can reach. The consumer may succeed, fail transiently or permanently, crash, return, or be away. If one attempt has more than ten crashes, it visited only the first and the last of them, because those between cannot differ. No loss and isolation hold even if the consumer breaks its contract: it requeues, rejects, or never settles.";
  return `${target}\n${lines.join("\n")}\nmodel    ${evidence.rules}\n${proves}\n`;
}

/** A proved change, as it is shown. */
export interface ShownChange {
  /** The file with the deployed declaration. */
  readonly from: string;
  /** True if the declaration is deployed already. */
  readonly isDeployed: boolean;
  readonly verdicts: readonly ChangeVerdict[];
  readonly left: readonly LeftBehind[];
  /** The consumers that go, each with its queue. */
  readonly gone: readonly { readonly consumer: string; readonly queue: string }[];
  readonly counts: ChangedCounts;
}

/** The proof of a change for each consumer, and the queues that stay on the broker. */
export function renderChange({ from, isDeployed, verdicts, left, gone, counts }: ShownChange): string {
  const heading = `change from ${visible(from)}`;
  if (isDeployed) return `\n${heading}\nnone: this is deployed\n`;
  const lines = [
    ...renderProofs(verdicts, left),
    ...gone.map((each) => `migrate  ${goneInWords(each)}`),
    `counts   ${countsInWords(counts)}`,
  ];
  if (verdicts.length === 0)
    return `\n${heading}\n${["nothing is proved: no consumer keeps a queue", ...lines].join("\n")}\n`;
  const proves =
    "The proof put a message into every place before, during and after the change, with consumers by the old and the new contract at work. It covers messages of these two declarations: let those of earlier ones run out first.";
  return `\n${heading}\n${lines.join("\n")}\n${proves}\n`;
}

/** A queue without a consumer is not refused: a person may have emptied it. */
export function goneInWords({ consumer, queue }: ShownChange["gone"][number]): string {
  const [gone, place] = [visible(consumer), visible(queue)];
  return `${gone} goes, and nothing takes its messages from ${place} any more: redeliver migrate has steps that empty it first. If the consumer has a new name, write formerly: ${gone} there`;
}

/** The number of resources of each kind before and after a change: `exchanges 2 → 11, queues 2`. */
export function countsInWords(counts: ChangedCounts): string {
  const words = Object.entries(counts).map(([kind, { from, to }]) => `${kind} ${from === to ? to : `${from} → ${to}`}`);
  return words.join(", ");
}

/** One line for each consumer whose change is proved, and for the queues that stay on the broker for one reason. */
export function renderProofs(verdicts: readonly ChangeVerdict[], left: readonly LeftBehind[]): readonly string[] {
  const proved = verdicts.map(
    ({ consumer, states, attempts }) =>
      `proved   ${visible(consumer)}: ${count(states, "state")} during the change, ${count(attempts, "attempt")} at most`,
  );
  const alike = Map.groupBy(left, ({ kind, why }) => JSON.stringify([kind, why]));
  const stays = [...alike.values()].map(([first, ...others]) => {
    const { kind, name, why, until } = first as LeftBehind;
    const each = others.every((other) => other.until === until) ? "" : ", each until its own messages are due";
    const more = others.length === 0 ? "" : `. Alike${each}: ${others.map((other) => visible(other.name)).join(", ")}`;
    return `stays    ${kind} ${visible(name)}: ${why}. It is needed until ${until}${more}`;
  });
  return [...proved, ...stays];
}

function keptBy(keeper: Keeper, consumer: string, promises: readonly KeptPromise[]): string[] {
  const names = promises
    .filter((each) => each.consumer === consumer && each.keeper === keeper)
    .map((each) => each.promise);
  return names.length === 0
    ? []
    : [`         kept by ${keeper === "nobody" ? keeper : `the ${keeper}`}: ${names.join(", ")}`];
}
