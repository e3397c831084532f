import { type DeliveryCount, type Model, isEnd, isMistake } from "./model.ts";

/** The state that the exploration continues from, and the number of deliveries between the given state and this one. */
export interface Skip<State> {
  readonly state: State;
  readonly skipped: number;
}

/** The number of counts visited at the beginning of a series. About as many are visited at its end. */
const visited = 3;
/** A series up to this length is visited as a whole. */
const shortest = 6;

/**
 * Attempts and crashes have separate counters, and all pairs of their values can be a million states. So the
 * exploration leaves out the middle of a long series of crashes on one attempt. This loses nothing:
 *
 * - A broker compares the count with limits, or waits longer for a higher count. So no decision changes back while the
 *   count goes up. If the broker decides alike at both ends of the middle, it decides alike in between.
 * - `alikeFrom` checks this at both ends, for all states that are reached while the count stays the same. A series with
 *   a difference is visited as a whole.
 * - All these states are visited with the count at the beginning. So they show everything that a state in the middle
 *   would show, and each path out of the middle starts there too.
 * - At each attempt the exploration also continues at the end of the middle, because the limit is near there.
 * - If the consumer keeps the contract, the count goes up only on the way back to the same attempt, by one for each
 *   delivery. So a longest path goes through all of the middle, and the exploration adds the deliveries that it left
 *   out.
 *
 * With several limits there is a middle before each of them. In a change a crash may lead to the same attempt in a later
 * phase, so the exploration does not know the deliveries of a longest path. It knows its failures: no move with a higher
 * count leads back to an earlier attempt. A failure with a higher count stands for all that it leaves out.
 *
 * `test/property/series.test.ts` compares the verdicts with those of full explorations, for correct topologies and for
 * every mutant.
 *
 * @param counted the moves that the caller counts on a path: all deliveries, or failures alone
 * @returns a function that gives the state to continue from: the same state, unless it is in the middle of a series
 */
export function skippingSeries<State>(
  model: Model<State>,
  counted: "deliveries" | "failures" = "deliveries",
): (state: State) => Skip<State> {
  const { count } = model;
  const middles = middlesOf(count);
  if (count === undefined || middles.length === 0) return (state) => ({ state, skipped: 0 });
  const known = new Map<string, boolean>();
  return (state) => {
    const number = count.of(state);
    const middle = middles.find(({ low, high }) => number >= low && number < high);
    if (middle === undefined || model.situationOf(state).kind !== "work") return { state, skipped: 0 };
    const { low, high } = middle;
    const key = model.keyOf(count.with(state, low));
    if (number > low)
      return known.get(key) ? { state: count.with(state, high), skipped: high - number } : { state, skipped: 0 };
    if (!known.has(key)) {
      const alike = alikeFrom(model, count, state, { ...middle, counted });
      for (const each of alike ?? [key]) known.set(each, alike !== null);
    }
    return { state, skipped: 0 };
  };
}

interface Middle {
  readonly low: number;
  readonly high: number;
}

/** The counts that may be left out: from each limit, or from the beginning, to the next limit. */
function middlesOf(count: Pick<DeliveryCount<never>, "most" | "lower"> | undefined): readonly Middle[] {
  if (count === undefined) return [];
  const limits = [0, ...(count.lower ?? []), count.most];
  return limits.slice(1).flatMap((limit, index) => {
    const middle = { low: (limits[index] as number) + visited - 1, high: limit - visited };
    return middle.high - middle.low < shortest ? [] : [middle];
  });
}

/** A state with the first count, and the attempt's own state before its next delivery, with a count one higher. */
interface Member<State> {
  readonly state: State;
  readonly next: Keys;
  /** The attempt that this state is a part of. Null after its failure. */
  readonly attempt: number | null;
}

/** The keys of one state with two counts: one near the beginning of the middle and one near its end. */
interface Keys {
  readonly low: string;
  readonly high: string;
}

/**
 * Compares states that are reached while the count stays the same, once for each end of the middle. They must be in the
 * same situation and have the same moves. A move must lead from both of them to one of these:
 *
 * - the same state, or the same end;
 * - two states that are compared in turn;
 * - the same attempt before its next delivery, with a count one higher;
 * - for a mistake: any of the compared states, with a count one higher;
 * - if only failures are counted: one of the same attempt, with a count one higher.
 *
 * @returns the keys of all compared states; null if two differ
 */
function alikeFrom<State>(
  model: Model<State>,
  count: DeliveryCount<State>,
  start: State,
  { low, high, counted }: Middle & { readonly counted: "deliveries" | "failures" },
): Iterable<string> | null {
  const keysOf = (state: State, more: number): Keys => ({
    low: model.keyOf(count.with(state, low + more)),
    high: model.keyOf(count.with(state, high + more)),
  });
  const first = { state: start, next: keysOf(start, 1), attempt: attemptOf(model, start) };
  const members = new Map<string, Member<State>>([[model.keyOf(start), first]]);
  const raised: Keys[] = [];
  const isFree = counted === "failures";
  for (const { state, next, attempt } of members.values()) {
    const pairs = targetPairs(model, state, count.with(state, high));
    if (pairs === null) return null;
    for (const { target, other, byMistake, isFailure } of pairs) {
      const keys = { low: model.keyOf(target), high: model.keyOf(other) };
      if (keys.low === keys.high || isSameEnd(model, target, other) || isSame(keys, next)) continue;
      const number = count.of(target);
      const to = attemptOf(model, target);
      const isRaised = byMistake || (isFree && attempt !== null && to === attempt);
      if (number === low + 1 && isRaised) raised.push(keys);
      else if (number !== low || !isSame(keys, keysOf(target, 0))) return null;
      else if (model.situationOf(target).kind === "work") {
        if (!members.has(keys.low)) members.set(keys.low, { state: target, next: keysOf(target, 1), attempt: to });
      } else {
        const known = members.get(keys.low);
        // A state that two attempts lead to must not lead back to one of them.
        const of = to ?? (isFailure ? null : attempt);
        if (known !== undefined && (isFree ? known.attempt !== of : known.next !== next)) return null;
        if (known === undefined) members.set(keys.low, { state: target, next, attempt: of });
      }
    }
  }
  if (raised.length === 0) return members.keys();
  const higher = new Map([...members.values()].map(({ state }) => [keysOf(state, 1).low, keysOf(state, 1).high]));
  return raised.every((keys) => higher.get(keys.low) === keys.high) ? members.keys() : null;
}

/** The attempt of a message in the work queue or with its handler. Null elsewhere. */
function attemptOf<State>({ situationOf }: Model<State>, state: State): number | null {
  const situation = situationOf(state);
  return situation.kind === "work" || situation.kind === "handling" ? situation.attempt : null;
}

function isSame(one: Keys, other: Keys): boolean {
  return one.low === other.low && one.high === other.high;
}

interface Pair<State> {
  readonly target: State;
  readonly other: State;
  readonly byMistake: boolean;
  readonly isFailure: boolean;
}

/** The targets of the moves of two states, in pairs; null if the situations or the moves themselves differ. */
function targetPairs<State>(model: Model<State>, one: State, other: State): readonly Pair<State>[] | null {
  const shapeOf = (state: State): string =>
    JSON.stringify([
      model.situationOf(state),
      model.movesOf(state).map(({ outcomes, ...move }) => [move, outcomes.map(({ length }) => length)]),
    ]);
  if (shapeOf(one) !== shapeOf(other)) return null;
  const others = model.movesOf(other).flatMap(({ outcomes }) => outcomes.flat());
  return model
    .movesOf(one)
    .flatMap(({ cause, outcomes }) => {
      const of = { byMistake: isMistake(cause), isFailure: cause === "transient" || cause === "retry-after" };
      return outcomes.flat().map((target) => ({ target, ...of }));
    })
    .map((pair, index) => ({ ...pair, other: others[index] as State }));
}

/** After the end of a message its count does not matter. */
function isSameEnd<State>(model: Model<State>, one: State, other: State): boolean {
  const situation = model.situationOf(one);
  return (
    isEnd(situation) &&
    JSON.stringify(situation) === JSON.stringify(model.situationOf(other)) &&
    model.placeOf(one) === model.placeOf(other)
  );
}
