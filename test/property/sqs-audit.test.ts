import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { brokers } from "../../src/brokers/index.ts";
import { checkSystem, compile } from "../../src/index.ts";
import { checked } from "../support/examples.ts";
import { anySqsDeclaration, anySqsTarget } from "../support/sqs-declarations.ts";
import { arnOf, codesIn, findingsIn, listingOf, queue, redriveTo } from "../support/sqs-listing.ts";
import { sqsMutantsOf } from "../support/sqs-mutants.ts";

const { auditor } = brokers.sqs;

// Two ways to one answer: what the compiler makes and the proof accepts, the audit, which knows neither contract nor consumer, must accept too.
/** What the compiler warns of, and what the audit says of the same. */
const warnedOf: Readonly<Record<string, string>> = { RD611: "RD446", RD622: "RD447" };

test("an audit finds nothing in anything that compiles, but for what the compiler warns of too", () => {
  let audited = 0;
  fc.assert(
    fc.property(anySqsDeclaration, anySqsTarget, (input, written) => {
      const system = checkSystem(input);
      if (!system.ok) return;
      const compiled = compile<"sqs">(system.value, written);
      if (!compiled.ok) return;
      audited++;
      const leavesNothing = compiled.warnings.some(({ code, message }) => code === "RD615" && message.includes(" 0s "));
      const warned = new Set(compiled.warnings.flatMap(({ code }) => warnedOf[code] ?? []));
      if (leavesNothing) warned.add("RD448");
      const timeouts = Object.entries(written.lambda ?? {}).map(([consumer, { timeout }]) => [
        consumer,
        seconds(timeout),
      ]);
      const listing = listingOf(compiled.value.topology, Object.fromEntries(timeouts) as Record<string, number>);
      expect(codesIn(listing)).toEqual([...warned].toSorted());
    }),
    { numRuns: 600 },
  );
  expect(audited).toBeGreaterThan(60);
});

function seconds(duration: string): number {
  return Number.parseInt(duration, 10) * (duration.endsWith("m") ? 60 : 1);
}

/** What an audit can find in a broken topology, by what was broken. It knows no declaration, so a sound queue of another size is sound. */
const found: readonly { readonly name: RegExp; readonly code: string }[] = [
  { name: /^without the dead queue$/, code: "RD441" },
  { name: /^without the undelivered queue$/, code: "RD441" },
  { name: /^without the work queue$/, code: "RD461" },
  { name: /^no redrive of/, code: "RD440" },
  { name: /^a dead queue that is not there/, code: "RD441" },
  { name: /^another consumer's dead queue of/, code: "RD452" },
  { name: /^the undelivered queue as dead queue/, code: "RD452" },
  { name: /^itself as dead queue of the work/, code: "RD444" },
  { name: /^itself as dead queue of the dead/, code: "RD444" },
  { name: /^a visibility timeout of 0 of the work/, code: "RD460" },
  { name: /^a retention of 60 s of the work/, code: "RD449" },
  { name: /^a retention of 60 s of the dead/, code: "RD449" },
  { name: /^a retention of 14 days of the work/, code: "RD448" },
  { name: /^nobody allowed/, code: "RD452" },
  { name: /^others allowed/, code: "RD452" },
  { name: /^no senders of the work/, code: "RD457" },
  { name: /^no senders of the undelivered/, code: "RD457" },
  { name: /^a cycle: back from the dead queue/, code: "RD444" },
  { name: /^a redrive back that the work queue denies/, code: "RD452" },
  { name: /^a chain: on from the dead queue/, code: "RD445" },
  { name: /^no place for what is undelivered/, code: "RD441" },
  { name: /^a subscription to a queue that is not there/, code: "RD461" },
  { name: /^another consumer's dead queue, which allows it/, code: "RD452" },
  // What SNS could not hand over went to a queue that nothing names any more.
  { name: /^without the topic orders/, code: "RD440" },
  // No value is left.
  { name: /^a filter without "order.placed"/, code: "RD458" },
  { name: /^a filter on another attribute: shop-returns/, code: "RD458" },
  { name: /^a (second )?subscription,? to another consumer's queue: shop-returns/, code: "RD457" },
];

describe("a compiled topology that somebody broke", () => {
  const consumer = {
    from: { orders: ["order.placed"], returns: "all" },
    retry: { attempts: 4, backoff: { kind: "constant", delay: "20s" } },
    handlerTimeout: "30s",
  };
  const compiled = compile<"sqs">(
    checked({
      name: "shop",
      sources: { orders: { kind: "topic" }, returns: { kind: "fanout" } },
      consumers: { billing: consumer, shipping: { ...consumer, from: { orders: ["order.shipped"] } } },
    }),
    { broker: "sqs", region: "eu-west-1" },
  );
  if (!compiled.ok) throw new Error("it does not compile");
  const mutants = sqsMutantsOf(compiled.value).filter(({ name }) => !name.startsWith("the contract"));

  test.each(found)("$name: $code", ({ name, code }) => {
    const own = mutants.filter((mutant) => name.test(mutant.name));
    expect(own.length).toBeGreaterThan(0);
    for (const mutant of own) expect(codesIn(listingOf(mutant.compiled.topology)), mutant.name).toContain(code);
  });

  test("what is not on the list changes what was declared, and is sound by itself", () => {
    const others = mutants.filter((mutant) => !found.some(({ name }) => name.test(mutant.name)));
    expect(others.length).toBeGreaterThan(10);
    const reported = others.flatMap(({ name, compiled: { topology } }) => {
      const codes = codesIn(listingOf(topology));
      return codes.length === 0 ? [] : [`${name}: ${codes.join()}`];
    });
    expect(reported).toEqual([]);
  });
});

describe("no text breaks a reader, and no topology the audit", () => {
  const value = fc.oneof(fc.constantFrom("", "30", "0", "-1", "many", "untold", null, [], {}), fc.jsonValue());
  const attributes = fc.record(
    Object.fromEntries(
      [
        "VisibilityTimeout",
        "MessageRetentionPeriod",
        "DelaySeconds",
        "RedrivePolicy",
        "RedriveAllowPolicy",
        "Policy",
        "KmsMasterKeyId",
        "SqsManagedSseEnabled",
        "SubscriptionArn",
        "TopicArn",
        "Endpoint",
        "Protocol",
        "FilterPolicy",
      ].map((name) => [name, value]),
    ),
    { requiredKeys: [] },
  );
  const answer = fc.oneof(
    fc.record({ Attributes: attributes }),
    attributes.map((given) => ({ Attributes: { QueueArn: arnOf("orders"), ...given } })),
    fc.record({ Subscriptions: fc.oneof(value, fc.array(attributes)) }),
    fc.record({ EventSourceMappings: fc.oneof(value, fc.array(fc.dictionary(fc.string(), value))) }),
    fc.record({ FunctionArn: value, Timeout: value }),
    fc.jsonValue(),
  );

  test("it is read, or there is one diagnostic", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(answer).map((all) => JSON.stringify(all)),
        ),
        (text) => {
          const read = auditor.file.read(text);
          if (!read.ok) expect(read.diagnostics).toHaveLength(1);
          else auditor.audit(read.value, { broker: "sqs", region: "eu-west-1", strategy: "auto" }, null);
        },
      ),
      { numRuns: 400 },
    );
  });

  const name: fc.Arbitrary<string> = fc.constantFrom("a", "b", "c", "d", "e.fifo", "f.fifo");
  const made = fc.record({
    name,
    target: fc.option(fc.oneof(name, fc.constant("nowhere"))),
    count: fc.integer({ min: 1, max: 1_000 }),
    visibility: fc.constantFrom(0, 1, 30, 43_200),
    retention: fc.constantFrom(60, 345_600, 1_209_600),
    delay: fc.constantFrom(0, 900),
    allow: fc.constantFrom("allowAll", "denyAll", "byQueue"),
  });

  test("redrive policies from anywhere to anywhere: circles are found, and nothing else is called one", () => {
    fc.assert(
      fc.property(fc.uniqueArray(made, { selector: (each) => each.name, minLength: 1 }), (queues) => {
        const codes = codesIn(
          queues.map((each) =>
            queue(each.name, {
              VisibilityTimeout: each.visibility,
              MessageRetentionPeriod: each.retention,
              DelaySeconds: each.delay,
              RedriveAllowPolicy: { redrivePermission: each.allow },
              ...(each.target === null ? {} : redriveTo(each.target, each.count)),
            }),
          ),
        );
        const targets = new Map(queues.map((each) => [each.name, each.target]));
        const isInCircle = (start: string): boolean => {
          let at: string | null | undefined = targets.get(start);
          for (let step = 0; step < queues.length && at !== start; step++) at = targets.get(at ?? "");
          return at === start;
        };
        expect(codes.includes("RD444")).toBe(queues.some((each) => isInCircle(each.name)));
        const isMissing = ({ target }: (typeof queues)[number]): boolean => target !== null && !targets.has(target);
        // An expired message is lost before it has to be moved.
        if (codes.includes("RD441")) expect(queues.some(isMissing)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  test("a chain of a thousand queues is read in no time, and the queues in its middle are named", () => {
    const length = 1_000;
    const chain = Array.from({ length }, (_, index) =>
      queue(`q-${index}`, index === length - 1 ? {} : redriveTo(`q-${index + 1}`)),
    );
    const findings = findingsIn(chain);
    expect(findings.filter(({ code }) => code === "RD445").length).toBe(length - 2);
  });
});
