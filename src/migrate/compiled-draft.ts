import { type DraftDeclaration, declareFound } from "../adopt/declare-found.ts";
import { deadOfOthers } from "../adopt/owned-elsewhere.ts";
import type { FoundConsumer, FoundSystem, Unsaid } from "../adopt/found.ts";
import { type Target, checkTarget } from "../brokers/index.ts";
import { type Proved, compileAndProve } from "../compile/compile.ts";
import { checkSystem } from "../declare/check.ts";
import type { Checked } from "../diagnostics/diagnostic.ts";

/** A draft that compiles, with the consumers that it leaves out. */
export interface Made {
  readonly draft: DraftDeclaration;
  readonly proved: Proved;
  readonly refused: readonly Unsaid[];
}

/** Compiles a draft. Leaves out limits and names that the compiler refuses, and consumers that it refuses without them. */
export function compiledDraft(
  found: FoundSystem,
  target: Target,
  name: string,
  separator: string,
  refused: readonly Unsaid[] = [],
): Checked<Made> {
  const draft = declareFound(found, name, separator);
  const proved = proveDraft(draft, target);
  if (proved.ok) return { ...proved, value: { draft, proved: proved.value, refused: [...refused, ...draft.refused] } };
  // A template gives several queues their names, so the place of a diagnostic does not tell the consumer.
  const proveOne = (each: FoundConsumer): Checked<Proved> => {
    const { deadQueue, ...options } = found.options ?? {};
    // A consumer in order has no part in a dead queue that others share.
    const shared = deadQueue === undefined || each.order !== undefined ? {} : { deadQueue };
    const alone = { ...found, options: { ...options, ...shared }, consumers: [each] };
    return proveDraft(declareFound(alone, name, separator), target);
  };
  const judged = found.consumers.map((whole) => {
    const one = proveOne(whole);
    if (one.ok) return { consumer: whole, one, unsaid: [] };
    for (const form of formsOf(whole, one.diagnostics[0]?.message ?? "")) {
      const less = proveOne(form.consumer);
      if (less.ok) return { ...form, one: less };
    }
    return { consumer: whole, one, unsaid: [] };
  });
  const out = judged.flatMap(({ consumer: { queue }, one }): readonly Unsaid[] =>
    one.ok ? [] : [{ place: queue, fact: `it is left out: ${one.diagnostics[0]?.message}` }],
  );
  const left = judged.filter(({ one }) => one.ok);
  const unsaid = left.flatMap((each) => each.unsaid);
  if ((out.length === 0 && unsaid.length === 0) || left.length === 0) return proved;
  // The letters of a consumer that is left out stay in its dead queue, unless all of a system share one.
  const theirs = new Set(judged.flatMap(({ consumer, one }) => (one.ok ? [] : [consumer.dead?.value])));
  const isShared = found.options?.["deadQueue"] === "shared";
  const apart: Unsaid[] = [];
  const consumers = left.map(({ consumer }) => {
    const { dead } = consumer;
    if (isShared || dead === undefined || !theirs.has(dead.value)) return consumer;
    apart.push(deadOfOthers(dead.value, consumer.queue));
    return { ...consumer, dead: undefined, deadQueueSettings: undefined };
  });
  const rest = { ...found, consumers, unsaid: [...found.unsaid, ...unsaid, ...apart] };
  return compiledDraft(rest, target, name, separator, [...refused, ...out]);
}

/**
 * A consumer without the parts that a compiler may refuse, each with the facts in their place.
 *
 * @param reason the compiler's reason against the whole of it
 */
function formsOf(
  { lengthLimits, dead, deadQueueSettings, ...own }: FoundConsumer,
  reason: string,
): readonly { readonly consumer: FoundConsumer; readonly unsaid: readonly Unsaid[] }[] {
  const limits = lengthLimits?.unsaid ?? [];
  // Without its own limits the queue cannot stay, and another one has its settings as arguments.
  const unlimited = lengthLimits === undefined ? own : { ...own, queueSettings: undefined };
  const kept = dead === undefined ? [] : [{ place: dead.value, fact: `it is not the declared dead queue: ${reason}` }];
  return [
    { consumer: { ...unlimited, dead, deadQueueSettings }, unsaid: limits },
    { consumer: { ...own, lengthLimits }, unsaid: kept },
    { consumer: unlimited, unsaid: [...limits, ...kept] },
  ];
}

export function proveDraft({ system, options }: DraftDeclaration, target: Target): Checked<Proved> {
  const checked = checkSystem(system);
  if (!checked.ok) return checked;
  const own = checkTarget({ ...target, ...options });
  return own.ok ? compileAndProve(checked.value, own.value) : own;
}
