import type { Cause, Model } from "../../src/explore/model.ts";
import { nextArrivalUs } from "../../src/simulate/arrivals.ts";
import { draw, drawBits } from "../../src/simulate/draw.ts";
import type { TimelineStep } from "../../src/simulate/result.ts";
import type { ConsumerScenario, Ending, Scenario } from "../../src/simulate/scenario.ts";

/**
 * A second simulator, written for readers. It uses objects, closures, an array of events, and the model itself instead
 * of a graph. It shares with the real one only the random numbers and the arrivals.
 */
export function referenceSteps<State>(
  models: readonly Model<State>[],
  scenario: Scenario,
): { readonly steps: TimelineStep[]; readonly left: number; readonly lost: number; readonly crashes: number } {
  const events: { readonly atUs: number; readonly order: number; readonly happen: () => void }[] = [];
  const steps: TimelineStep[] = [];
  let nowUs = 0;
  let orders = 0;
  let arriving = 0;
  let lost = 0;
  let crashes = 0;
  const live = new Set<object>();
  const later = (atUs: number, happen: () => void): void => {
    events.push({ atUs, order: orders++, happen });
  };

  const startConsumer = (model: Model<State>, settings: ConsumerScenario, index: number): void => {
    interface Copy {
      readonly message: number;
      readonly fate: Ending | null;
      state: State;
      draws: number;
      deliveries: number;
      isBegun: boolean;
      /** Changes with every timer, so that an earlier timer no longer counts. */
      timer: object | null;
      instance: Instance | null;
    }
    interface Instance {
      readonly held: Copy[];
      isAway: boolean;
    }
    const key = drawBits(scenario.seed, index, 0);
    const instances: Instance[] = Array.from({ length: settings.instances }, () => ({ held: [], isAway: false }));
    const turns = [...instances];
    const returned: Copy[] = [];
    const ready: Copy[] = [];
    let phase = 0;
    let messages = 0;
    let arrivedUs = 0;

    const next = (copy: Copy): number => draw(key, copy.message, copy.draws++);
    const drawnEnding = (shares: ConsumerScenario["outcomes"], share: number): Ending | null => {
      let sum = 0;
      for (const ending of ["transient", "retry-after", "permanent", "crash", "return"] as const) {
        sum += shares[ending];
        if (share < sum) return ending;
      }
      return null;
    };
    const attemptOf = (state: State): number | null => {
      const situation = model.situationOf(state);
      return situation.kind === "handling" ? situation.attempt : null;
    };
    const tell = (
      message: number,
      happened: TimelineStep["happened"],
      state: State | undefined,
      attempt: number | null,
    ): void => {
      const queue = state === undefined ? null : model.placeOf(state);
      steps.push({ message, consumer: model.consumer, atMs: nowUs / 1_000, happened, queue, attempt });
    };
    const offer = (instance: Instance): void => {
      if (!turns.includes(instance) && !instance.isAway && instance.held.length < settings.prefetch)
        turns.push(instance);
    };
    const endingsOf = (
      state: State,
      cause: Cause,
    ): { waitedMs: number; latestMs: number; states: readonly State[] }[] => {
      const all = model
        .movesOf(state)
        .filter((move) => move.cause === cause)
        .flatMap(({ waitedMs, waitedLatestMs, outcomes }) =>
          outcomes.map((states) => ({
            waitedMs,
            latestMs: Number.isFinite(waitedLatestMs) ? waitedLatestMs : waitedMs,
            states,
          })),
        );
      const soonestMs = Math.min(...all.map(({ waitedMs }) => waitedMs));
      return cause === "time" ? all.filter(({ waitedMs }) => waitedMs === soonestMs) : all;
    };
    const oneOf = <Item>(copy: Copy, items: readonly Item[]): Item =>
      (items.length === 1 ? items[0] : items[Math.floor(next(copy) * items.length)]) as Item;

    const go = (
      copy: Copy,
      cause: Exclude<TimelineStep["happened"], "published" | "begun">,
      states: readonly State[],
    ): void => {
      const isLive = (state: State): boolean => model.situationOf(state).kind !== "done";
      const first = states.find(isLive);
      tell(copy.message, cause, first, cause === "delivery" ? null : attemptOf(copy.state));
      if (states.filter(isLive).length > 1) throw new Error("the reference knows no twins");
      if (first === undefined) {
        if (cause !== "success") lost++;
        live.delete(copy);
      } else come(copy, first, cause);
    };
    const come = (copy: Copy, state: State, cause: Cause | null): void => {
      copy.state = state;
      const { kind } = model.situationOf(state);
      if (kind === "work") (cause === "crash" || cause === "return" ? returned : ready).push(copy);
      else if (kind === "waiting") {
        const { waitedMs, latestMs, states } = oneOf(copy, endingsOf(state, "time"));
        const jitterUs = latestMs > waitedMs ? Math.round(next(copy) * (latestMs - waitedMs) * 1_000) : 0;
        later(nowUs + waitedMs * 1_000 + jitterUs, () => {
          go(copy, "time", states);
          dispatch();
        });
      } else if (kind !== "handling") {
        if (kind !== "dead") lost++;
        live.delete(copy);
      }
    };
    const dispatch = (): void => {
      while (settings.phases[phase]?.isStopped !== true && returned.length + ready.length > 0) {
        let instance = turns.shift();
        while (instance?.isAway === true) instance = turns.shift();
        if (instance === undefined) return;
        const copy = (returned.shift() ?? ready.shift()) as Copy;
        copy.deliveries++;
        go(copy, "delivery", oneOf(copy, endingsOf(copy.state, "delivery")).states);
        instance.held.push(copy);
        copy.instance = instance;
        beginSome(instance);
        offer(instance);
      }
    };
    const beginSome = (instance: Instance): void => {
      const free = settings.concurrency - instance.held.filter(({ isBegun }) => isBegun).length;
      const waiting = instance.held.filter(({ isBegun }) => !isBegun);
      for (const copy of waiting.slice(0, free)) begin(copy);
    };
    const begin = (copy: Copy): void => {
      const outage = settings.phases[phase]?.outage ?? null;
      const [time, ending] = [next(copy), next(copy)];
      const { fromMs, toMs } = settings.handlingTime;
      const cause = outage?.outcome ?? copy.fate ?? drawnEnding(settings.outcomes, ending) ?? ("success" as const);
      copy.isBegun = true;
      tell(copy.message, "begun", copy.state, attemptOf(copy.state));
      const timer = {};
      copy.timer = timer;
      later(nowUs + Math.round((outage?.failsAfterMs ?? fromMs + time * (toMs - fromMs)) * 1_000), () => {
        if (copy.timer !== timer) return;
        if (cause === "crash") breakDown(copy.instance as Instance);
        else settle(copy, cause);
        dispatch();
      });
    };
    const leave = (copy: Copy): void => {
      const { held } = copy.instance as Instance;
      held.splice(held.indexOf(copy), 1);
      copy.instance = null;
      copy.timer = null;
      copy.isBegun = false;
    };
    const settle = (copy: Copy, cause: "success" | Ending): void => {
      const instance = copy.instance as Instance;
      leave(copy);
      go(copy, cause, oneOf(copy, endingsOf(copy.state, cause)).states);
      beginSome(instance);
      offer(instance);
    };
    const breakDown = (instance: Instance): void => {
      instance.isAway = true;
      crashes++;
      for (const copy of instance.held.slice()) {
        leave(copy);
        go(copy, "crash", oneOf(copy, endingsOf(copy.state, "crash")).states);
      }
      later(nowUs + settings.restartMs * 1_000, () => {
        instance.isAway = false;
        offer(instance);
        dispatch();
      });
    };
    const changePhase = (): void => {
      phase++;
      nextPhase();
      if (settings.phases[phase]?.isStopped !== true) return dispatch();
      for (const instance of instances) {
        for (const copy of instance.held.filter(({ isBegun }) => !isBegun)) {
          leave(copy);
          go(copy, "return", oneOf(copy, endingsOf(copy.state, "return")).states);
        }
      }
    };
    const nextPhase = (): void => {
      const following = settings.phases[phase + 1];
      if (following !== undefined) later(following.fromMs * 1_000, changePhase);
    };
    const nextArrival = (): void => {
      const message = messages++;
      const gap = settings.arrivals.spacing === "random" ? -Math.log(1 - draw(key, message, 0)) : message === 0 ? 0 : 1;
      arrivedUs = nextArrivalUs(settings, scenario.durationMs * 1_000, arrivedUs, 0, gap);
      if (arrivedUs === Number.POSITIVE_INFINITY) return;
      arriving++;
      later(Math.round(arrivedUs), () => {
        arriving--;
        const { states } = model.starts[
          Math.floor(draw(key, message, 1) * model.starts.length)
        ] as (typeof model.starts)[number];
        const [state] = states;
        if (state === undefined || states.length > 1) throw new Error("the reference knows no twins");
        const fate = drawnEnding(settings.poison, draw(key, message, 2));
        const copy: Copy = {
          message,
          fate,
          state,
          draws: 3,
          deliveries: 0,
          isBegun: false,
          timer: null,
          instance: null,
        };
        live.add(copy);
        tell(message, "published", state, null);
        come(copy, state, null);
        nextArrival();
        dispatch();
      });
    };
    nextPhase();
    nextArrival();
  };

  for (const [index, model] of models.entries()) {
    startConsumer(model, scenario.consumers[index] as ConsumerScenario, index);
  }
  const endUs = (scenario.durationMs + scenario.drainMs) * 1_000;
  while (live.size > 0 || arriving > 0) {
    const [first] = events.toSorted((a, b) => a.atUs - b.atUs || a.order - b.order);
    if (first === undefined || first.atUs > endUs) break;
    events.splice(events.indexOf(first), 1);
    nowUs = first.atUs;
    first.happen();
  }
  return { steps, left: live.size, lost, crashes };
}
