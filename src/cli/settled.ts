import { setTimeout } from "node:timers/promises";

import type { Drift } from "../brokers/drift.ts";
import { type Target, brokerOf } from "../brokers/index.ts";
import type { Checked } from "../diagnostics/diagnostic.ts";
import { type AuditSource, readSource } from "./audit-source.ts";

/** The time that the statistics of a broker get to agree with its lists. They lag by up to 10 s. */
const settlesWithinMs = 30_000;
const betweenReadsMs = 1_000;

/**
 * Reads a broker with statistics until two reads in a row agree, and its statistics agree with its lists.
 *
 * @param compare compares what it read
 * @param driftIn the drift in the result
 */
export async function settled<Result>(
  source: AuditSource,
  target: Target,
  compare: (deployment: unknown) => Checked<Result>,
  driftIn: (result: Result) => Drift<unknown>,
): Promise<Checked<{ readonly result: Result; readonly drift: Drift<unknown> }>> {
  const live = source.kind === "live" ? brokerOf(target).differ.live : undefined;
  const read = async (): Promise<Checked<{ readonly result: Result; readonly drift: Drift<unknown> }>> => {
    const found = await readSource(source.kind === "live" && live !== undefined ? { ...source, live } : source);
    const [first] = found.ok ? found.value : [];
    if (!found.ok || first === undefined) return found as Checked<never>;
    const compared = compare(first.deployment);
    if (!compared.ok) return compared;
    const value = { result: compared.value, drift: driftIn(compared.value) };
    return { ok: true, value, warnings: [...first.warnings, ...compared.warnings] };
  };
  let now = await read();
  const untilMs = Date.now() + settlesWithinMs;
  for (;;) {
    if (live?.kind !== "http" || !now.ok) return now;
    const before = now.value.drift;
    await setTimeout(betweenReadsMs);
    now = await read();
    if (!now.ok) return now;
    const { drift, result } = now.value;
    const isSteady = JSON.stringify(before.differences) === JSON.stringify(drift.differences);
    const kept = new Map(before.keptLetters.map(({ queue, letters }) => [queue, letters]));
    // Letters on their way are gone by the next read of the statistics.
    const keptLetters = drift.keptLetters.flatMap(({ queue, letters }) => {
      const least = Math.min(letters, kept.get(queue) ?? 0);
      return least === 0 ? [] : [{ queue, letters: least }];
    });
    const value = { ...drift, keptLetters };
    if (isSteady && value.unread.length === 0) return { ...now, value: { result, drift: value } };
    if (Date.now() < untilMs) continue;
    const moving = isSteady ? [] : ["the broker changes from one read to the next"];
    return { ...now, value: { result, drift: { ...value, unread: [...moving, ...value.unread] } } };
  }
}
