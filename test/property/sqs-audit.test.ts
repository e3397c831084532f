import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { brokers, checkSystem, compile } from "../../src/index.ts";
import { checked } from "../support/examples.ts";
import { forAll } from "../support/for-all.ts";
import { anySqsDeclaration, anySqsTarget } from "../support/sqs-declarations.ts";
import { arnOf, codesIn, findingsIn, listingOf, queue, redriveTo } from "../support/sqs-listing.ts";
import { sqsMutantsOf } from "../support/sqs-mutants.ts";

const { auditor } = brokers.sqs;

// Reaches one answer in two ways. The audit knows neither contract nor consumer. It must accept every topology that the
// compiler makes and the proof accepts.
/** Each warning of the compiler, with the audit's code for the same problem. */
const warnedOf: Readonly<Record<string, string>> = { RD611: "RD446", RD622: "RD447" };

test("an audit finds in a compiled topology only the faults that the compiler warns of, too", () => {
  let audited = 0;
  forAll(1_200, [anySqsDeclaration, anySqsTarget], (input, written) => {
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
  });
  // About one in nine compiles.
  expect(audited).toBeGreaterThan(60);
});

function seconds(duration: string): number {
  return Number.parseInt(duration, 10) * (duration.endsWith("m") ? 60 : 1);
}

/**
 * The audit's finding for each kind of mutation. The audit knows no declaration, so it accepts a sound queue with other
 * values.
 */
const found: readonly { readonly name: RegExp; readonly code: string }[] = [
  { name: /^without the dead queue$/, code: "RD411" },
  { name: /^without the undelivered queue$/, code: "RD411" },
  { name: /^without the work queue$/, code: "RD461" },
  { name: /^no redrive of/, code: "RD415" },
  { name: /^a dead queue that is not there/, code: "RD411" },
  { name: /^another consumer's dead queue of/, code: "RD452" },
  { name: /^the undelivered queue as dead queue/, code: "RD452" },
  { name: /^itself as dead queue of the work/, code: "RD444" },
  { name: /^itself as dead queue of the dead/, code: "RD444" },
  { name: /^a visibility timeout of 0 of the work/, code: "RD460" },
  { name: /^a retention of 60 s of the work/, code: "RD449" },
  { name: /^a retention of 60 s of the dead/, code: "RD449" },
  { name: /^a retention of 14 days of the work/, code: "RD448" },
  { name: /^no queue may dead-letter to it/, code: "RD452" },
  { name: /^only another queue may dead-letter to it/, code: "RD452" },
  { name: /^no topic may send of the work/, code: "RD457" },
  { name: /^no topic may send of the undelivered/, code: "RD457" },
  { name: /^a cycle: back from the dead queue/, code: "RD444" },
  { name: /^a redrive back that the work queue denies/, code: "RD452" },
  { name: /^a chain: on from the dead queue/, code: "RD445" },
  { name: /^no queue for undelivered messages/, code: "RD411" },
  { name: /^a subscription to a queue that is not there/, code: "RD461" },
  { name: /^another consumer's dead queue, which allows it/, code: "RD452" },
  // No queue names the queue for undeliverable messages of SNS any more.
  { name: /^without the topic orders/, code: "RD415" },
  // No value is left.
  { name: /^a filter without "order.placed"/, code: "RD458" },
  { name: /^a filter on another attribute: shop-returns/, code: "RD458" },
  { name: /^a (second )?subscription,? to another consumer's queue: shop-returns/, code: "RD457" },
];

describe("a compiled topology with one thing broken", () => {
  const consumer = {
    from: { orders: ["order.placed"], returns: "all" },
    retry: { attempts: 4, backoff: { kind: "constant", delay: "20s" } },
    handlerTimeout: "30s",
  };
  const sources = { orders: { kind: "topic" }, returns: { kind: "fanout" } };
  const consumers = { billing: consumer, shipping: { ...consumer, from: { orders: ["order.shipped"] } } };
  const system = checked({ name: "shop", sources, consumers });
  const compiled = compile<"sqs">(system, { broker: "sqs", region: "eu-west-1" });
  if (!compiled.ok) throw new Error("it does not compile");
  const mutants = sqsMutantsOf(compiled.value).filter(({ name }) => !name.startsWith("the contract"));

  test.each(found)("$name: $code", ({ name, code }) => {
    const own = mutants.filter((mutant) => name.test(mutant.name));
    expect(own.length).toBeGreaterThan(0);
    for (const mutant of own) expect(codesIn(listingOf(mutant.compiled.topology)), mutant.name).toContain(code);
  });

  test("the audit finds nothing in every other mutant: only its values are not as declared", () => {
    const others = mutants.filter((mutant) => !found.some(({ name }) => name.test(mutant.name)));
    expect(others.length).toBeGreaterThan(10);
    const reported = others.flatMap(({ name, compiled: { topology } }) => {
      const codes = codesIn(listingOf(topology));
      return codes.length === 0 ? [] : [`${name}: ${codes.join()}`];
    });
    expect(reported).toEqual([]);
  });
});

describe("neither a broken text nor a random topology breaks the audit", () => {
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

  test("a text is read, or gives one diagnostic", () => {
    forAll(
      400,
      [
        fc.oneof(
          fc.string(),
          fc.array(answer).map((all) => JSON.stringify(all)),
        ),
      ],
      (text) => {
        const read = auditor.file.read(text);
        if (!read.ok) expect(read.diagnostics).toHaveLength(1);
        else auditor.audit(read.value, { broker: "sqs", region: "eu-west-1", strategy: "auto" }, null);
      },
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

  test("random redrive policies: the audit finds every circle, and no other", () => {
    forAll(500, [fc.uniqueArray(made, { selector: (each) => each.name, minLength: 1 })], (queues) => {
      const listed = queues.map((each) =>
        queue(each.name, {
          VisibilityTimeout: each.visibility,
          MessageRetentionPeriod: each.retention,
          DelaySeconds: each.delay,
          RedriveAllowPolicy: { redrivePermission: each.allow },
          ...(each.target === null ? {} : redriveTo(each.target, each.count)),
        }),
      );
      const codes = codesIn(listed);
      const targets = new Map(queues.map((each) => [each.name, each.target]));
      const isInCircle = (start: string): boolean => {
        let at: string | null | undefined = targets.get(start);
        for (let step = 0; step < queues.length && at !== start; step++) at = targets.get(at ?? "");
        return at === start;
      };
      expect(codes.includes("RD444")).toBe(queues.some((each) => isInCircle(each.name)));
      const isMissing = ({ target }: (typeof queues)[number]): boolean => target !== null && !targets.has(target);
      // An expired message is lost before SQS has to move it.
      if (codes.includes("RD411")) expect(queues.some(isMissing)).toBe(true);
    });
  });

  test("a chain of a thousand queues is audited quickly, and its middle queues are named", () => {
    const length = 1_000;
    const chain = Array.from({ length }, (_, index) =>
      queue(`q-${index}`, index === length - 1 ? {} : redriveTo(`q-${index + 1}`)),
    );
    const findings = findingsIn(chain);
    const named = findings.filter(({ code }) => code === "RD445").flatMap(({ value }) => value ?? "one");
    expect(named).toHaveLength(length - 2);
  });
});
