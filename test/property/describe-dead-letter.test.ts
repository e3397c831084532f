import fc from "fast-check";
import { expect, test } from "vitest";

import { describeDeadLetter } from "../../src/consume/dead-letter/describe.ts";
import { deadLetterFields } from "../../src/consume/port/dead-letter-fields.ts";
import { deadLetterMetadata } from "../../src/consume/dead-letter/metadata.ts";
import { compile, parseTarget } from "../../src/index.ts";
import { accepted, checked } from "../support/examples.ts";
import { forAll } from "../support/for-all.ts";

/** Values that a broker could write, and any others. */
const anyValue = fc.oneof(
  fc.constantFrom("shop.billing", "rejected", "expired", "maxlen", "delivery_limit", "", 1, 2, Number.NaN, null),
  fc.constant({ "!": "timestamp", value: 1e300 }),
  fc.constant(new Date(Number.NaN)),
  fc.anything({ withDate: true, withNullPrototype: true, withBigInt: true }),
);
const record = (names: readonly string[]) =>
  fc.record(Object.fromEntries(names.map((name) => [name, anyValue])), { requiredKeys: [] });
const deaths = fc.array(record(["queue", "reason", "count", "time", "first-time", "last-time"]), { maxLength: 4 });
const table = fc
  .tuple(
    record(["x-last-death-queue", "x-last-death-reason", ...deadLetterFields, "x-opt-dlq-failure-reason"]),
    fc.oneof(deaths, anyValue),
  )
  .map(([rest, list]) => ({ ...rest, "x-death": list, "x-opt-deaths": list }));
const revoked = Proxy.revocable([], {});
revoked.revoke();

/** Messages as the client libraries deliver them, with any content, and values that are no messages. */
const anyLetter = fc.oneof(
  anyValue,
  fc.record({ properties: fc.record({ headers: table, messageId: anyValue, correlationId: anyValue }) }),
  fc.record({ message_annotations: table, application_properties: table, message_id: anyValue }),
  fc.record({
    _rawAmqpMessage: fc.constant({}),
    applicationProperties: fc.record({
      DeadLetterReason: fc.oneof(fc.constantFrom("MaxDeliveryCountExceeded", "TTLExpiredException", "OWN"), anyValue),
      "dlq-failure-reason": anyValue,
    }),
    messageId: anyValue,
    deadLetterSource: anyValue,
  }),
  fc.record({
    ReceiptHandle: fc.oneof(fc.constant("handle"), anyValue),
    MessageId: anyValue,
    Attributes: fc.record({
      DeadLetterQueueSourceArn: fc.oneof(fc.constant("arn:aws:sqs:a:1:shop-billing"), anyValue),
    }),
    MessageAttributes: fc.record({ "dlq-failure-reason": record(["StringValue"]) }),
  }),
  fc.constant({ properties: { headers: { "x-death": revoked.proxy } } }),
);

/** A contract of each strategy, for a consumer whose queues the letters above may name. */
const contracts = [
  ["rabbitmq@4.3", "native"],
  ["rabbitmq@4.3", "staged"],
  ["rabbitmq@3.10", "waits"],
  ["rabbitmq@4.0", "waits"],
  ["sqs@eu-west-1", "redrive"],
  ["servicebus@standard", "immediate"],
  ["servicebus@standard", "scheduled"],
].map(([text = "", strategy]) => {
  const backoff = strategy === "immediate" ? { kind: "immediate" } : { kind: "constant", delay: "10s" };
  const billing = { from: { orders: "all" }, handlerTimeout: "30s", retry: { attempts: 3, backoff } };
  const target = accepted(parseTarget(text, strategy));
  const system = checked({ name: "shop", sources: { orders: { kind: "topic" } }, consumers: { billing } });
  const compiled = accepted(compile(system, target));
  return compiled.contracts[0];
});
const anyContract = fc.constantFrom(undefined, ...contracts);

test("the description never throws, and has only known fields with texts, for any input", () => {
  forAll(400, [anyLetter, anyContract], (letter, contract) => {
    const description = describeDeadLetter(letter, contract);
    for (const [field, text] of Object.entries(description)) {
      expect(deadLetterFields).toContain(field);
      expect(typeof text).toBe("string");
      expect(text).not.toBe("");
    }
  });
});

test("the fields that a consumer wrote are read back unchanged, from headers, annotations and attributes", () => {
  forAll(100, [fc.string({ unit: "grapheme", minLength: 1 }), fc.integer({ min: 1, max: 100 })], (text, attempt) => {
    const written = deadLetterMetadata(new Error(text), {
      workQueue: "shop.billing",
      reason: text,
      failedAt: new Date(1_790_000_000_000 + attempt),
      attempt,
      consumer: { service: text },
      messageId: text,
    });
    const annotations = Object.fromEntries(Object.entries(written).map(([name, value]) => [`x-opt-${name}`, value]));
    const attributes = Object.fromEntries(
      Object.entries(written).map(([name, StringValue]) => [name, { DataType: "String", StringValue }]),
    );
    for (const letter of [
      { properties: { headers: written, messageId: "another" } },
      { message_annotations: {}, application_properties: written },
      { message_annotations: annotations },
      { _rawAmqpMessage: {}, applicationProperties: written, messageId: "another" },
      { ReceiptHandle: "handle", MessageId: "another", MessageAttributes: attributes },
    ])
      expect(describeDeadLetter(letter)).toEqual(written);
  });
});
