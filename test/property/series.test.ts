import { expect, test } from "vitest";

import { explore } from "../../src/explore/explore.ts";
import type { Cause, Model, Move, Subject } from "../../src/explore/model.ts";
import { brokerOf, compile, parseTarget, type Target, type Verdict } from "../../src/index.ts";
import { type ChangeVerdict, verifyChange } from "../../src/verify/verify-change.ts";
import { verify } from "../../src/verify/verify.ts";
import { contractMutantsOf } from "../support/contract-mutants.ts";
import { accepted, checked } from "../support/examples.ts";
import { mutantsOf } from "../support/mutants.ts";
import { servicebusMutantsOf } from "../support/servicebus-mutants.ts";

// The proof leaves out the middle of a long series of crashes, and `explore/series.ts` says why that loses nothing.
// Here the full proof checks it, on compiled systems and on every mutant of them.

type Compiled = Parameters<ReturnType<typeof brokerOf>["subjectsOf"]>[0];

const cases = [
  ["rabbitmq@4.3", "staged"],
  ["rabbitmq@4.3", "waits"],
  ["rabbitmq@4.3", "native"],
  ["rabbitmq@4.3", "deferred"],
  ["rabbitmq@4.0", "staged"],
  ["rabbitmq@4.0", "waits"],
  ["rabbitmq@3.13", "staged"],
  ["rabbitmq@3.10", "waits"],
  ["servicebus@standard", "scheduled"],
  ["servicebus@standard", "ttl-tier"],
] as const;

function compiled([on, strategy]: readonly [string, string], attempts: number, crashes: number): [Compiled, Target] {
  const isOneCount = strategy === "native" || strategy === "deferred";
  const consumer = {
    from: { orders: ["order.placed"] },
    protocol: strategy === "deferred" ? "amqp-1.0" : "amqp-0-9-1",
    handlerTimeout: "30s",
    retry: { attempts: isOneCount ? crashes : attempts, backoff: { kind: "constant", delay: "5s" } },
    ...(isOneCount ? {} : { crash: { deliveries: crashes } }),
  };
  const target = accepted(parseTarget(on, strategy));
  const sources = { orders: { kind: "topic" }, events: { kind: "topic" } };
  const consumers = { billing: consumer, shipping: { ...consumer, from: { events: ["order.shipped"] } } };
  const result = accepted(compile(checked({ name: "shop", sources, consumers }), target));
  return [result as Compiled, target];
}

function mutants(value: Compiled): readonly { readonly name: string; readonly compiled: Compiled }[] {
  if (value.target.startsWith("servicebus")) return servicebusMutantsOf(value as never) as never;
  const { topology, contracts } = value as never as { topology: never; contracts: readonly never[] };
  return [
    ...mutantsOf(topology).map((each) => ({ name: each.name, compiled: { ...value, topology: each.topology } })),
    ...contractMutantsOf(contracts[0] as never).map(({ name, contract }) => ({
      name,
      compiled: { ...value, contracts: contracts.with(0, contract as never) },
    })),
  ] as never;
}

/** A verdict without its number of states and its traces. */
function said({ deliveries, violations }: Verdict): unknown {
  return { deliveries, violations: violations.map(({ property, message }) => [property, message]) };
}

/** The model of the consumer billing, which every mutant changes. */
function billing(value: Compiled, target: Target): Subject<unknown>["model"] {
  const [subject] = brokerOf(target).subjectsOf(value, target) as readonly Subject<unknown>[];
  if (subject === undefined) throw new Error("there is a consumer");
  return subject.model;
}

test.each(cases)("%s %s: the compiled system and every mutant get the verdict of a full exploration", (...which) => {
  const [value, target] = compiled(which, 3, 12);
  const all = [{ name: "what is compiled", compiled: value }, ...mutants(value)];
  let refuted = 0;
  let shortened = 0;
  for (const { name, compiled: each } of all) {
    const model = billing(each, target);
    const [verdict, full] = [verify(model()), verify(model(), explore)];
    expect(said(verdict), name).toEqual(said(full));
    if (verdict.violations.length > 0) refuted++;
    if (verdict.states < full.states) shortened++;
  }
  expect(refuted).toBeGreaterThan(10);
  if (which[1] === "native" || which[1] === "deferred") expect(shortened).toBe(0);
  else expect(shortened).toBeGreaterThan(all.length / 2);
});

test.each(cases.filter(([, strategy]) => strategy !== "native" && strategy !== "deferred"))(
  "%s %s: the number of states grows with the attempts, and not with the crashes",
  (...which) => {
    const statesOf = (attempts: number, crashes: number): number => {
      const [value, target] = compiled(which, attempts, crashes);
      return verify(billing(value, target)()).states;
    };
    const [ten, twenty, forty] = [10, 20, 40].map((attempts) => statesOf(attempts, 100)) as [number, number, number];
    expect(forty - twenty).toBe(2 * (twenty - ten));
    expect(statesOf(10, 1_000)).toBe(ten);
  },
);

/** A model of one attempt with a limit of 30 crashes. From a certain count on, it misbehaves. */
function modelWhere(from: number, what: "loses" | "dies" | "keeps its count" | "is another attempt"): Model<State> {
  return {
    consumer: "billing",
    starts: [{ key: "order.placed", states: [{ place: "work", count: 0 }] }],
    keyOf: ({ place, count }) => `${place} ${count}`,
    count: { of: ({ count }) => count, with: (state, count) => ({ ...state, count }), most: 30 },
    placeOf: ({ place }) => place,
    situationOf: ({ place, count }) => {
      if (place === "lost") return { kind: "lost", why: "it is lost" };
      if (place !== "work" && place !== "handling") return { kind: place };
      return { kind: place, attempt: what === "is another attempt" && count >= from ? 2 : 1 };
    },
    movesOf: ({ place, count }) => {
      const move = (cause: Cause, to: State): Move<State> => ({
        cause,
        label: cause,
        waitedMs: 0,
        waitedLatestMs: 0,
        outcomes: [[to]],
      });
      const back: State = { place: "work", count: what === "keeps its count" && count >= from ? count : count + 1 };
      const isOver = back.count >= 30 || (what === "dies" && count >= from);
      const crashed: State = isOver ? { place: "dead", count: 30 } : back;
      if (place === "work") return [move("delivery", { place: "handling", count })];
      if (place !== "handling") return [];
      return [
        move("success", { place: "done", count: 0 }),
        move("transient", { place: "dead", count: 0 }),
        move("permanent", { place: what === "loses" && count >= from ? "lost" : "dead", count: 0 }),
        move("return", { place: "work", count }),
        move("crash", crashed),
      ];
    },
    describe: ({ place, count }) => `${place} ${count}`,
    wanted: {
      attempts: [{ attempt: 1, delayMs: 0 }],
      crashDeliveries: 30,
      maxDeliveries: 30,
      returnsCost: false,
      waitGrainMs: 1,
    },
  };
}

interface State {
  readonly place: "work" | "handling" | "done" | "dead" | "lost";
  readonly count: number;
}

test("an end that needs any number of crashes is found", () => {
  const sound = verify(modelWhere(Number.POSITIVE_INFINITY, "loses"));
  expect(sound).toMatchObject({ deliveries: 30, violations: [] });
  expect(sound.states).toBeLessThan(20);
  const found = {
    loses: "no-loss",
    dies: "crash",
    "keeps its count": "no-loop",
    // Only a question about a single attempt shows its number. So this case is compared, and has no violation.
    "is another attempt": null,
  } as const;
  for (const [what, property] of Object.entries(found)) {
    for (let from = 0; from < 29; from++) {
      const model = modelWhere(from, what as keyof typeof found);
      const verdict = verify(model);
      expect(said(verdict), `${what} from ${from}`).toEqual(said(verify(model, explore)));
      if (property !== null) expect(verdict.violations[0]?.property).toBe(property);
    }
  }
});

test.each(cases)("%s %s: a change gets the verdict of a full exploration", (...which) => {
  const pairs = [
    [3, 14, 3, 14],
    [2, 16, 4, 30],
    [11, 14, 2, 24],
  ] as const;
  for (const [attempts, crashes, laterAttempts, laterCrashes] of pairs) {
    const [before, target] = compiled(which, attempts, crashes);
    const [after] = compiled(which, laterAttempts, laterCrashes);
    const { changesOf } = brokerOf(target);
    const subjects = changesOf({ compiled: before, target }, { compiled: after, target }) as Subject<unknown>[];
    expect(subjects).toHaveLength(2);
    const model = (subjects[0] as Subject<unknown>).model();
    const { count, ...uncounted } = model;
    const [short, full] = [verifyChange(model), verifyChange(uncounted)];
    const saidOf = ({ unsafe, weaker, attempts: most }: ChangeVerdict): unknown => [
      most,
      [...unsafe, ...weaker].map(({ property, message }) => [property, message]),
    ];
    expect(saidOf(short)).toEqual(saidOf(full));
    if (which[1] === "native" || which[1] === "deferred") expect(short.states).toBe(full.states);
    else expect(short.states).toBeLessThan(full.states);
    expect(count).toBeDefined();
  }
});
