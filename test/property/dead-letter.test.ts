import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { deadLetterFields } from "../../src/consume/port/dead-letter-fields.ts";
import { deadLetterMetadata, type FailureContext } from "../../src/consume/dead-letter/metadata.ts";
import { forAll } from "../support/for-all.ts";

const context: FailureContext = {
  workQueue: "shop.billing",
  reason: "PERMANENT_FAILURE",
  failedAt: new Date("2026-11-22T10:00:00.123Z"),
  attempt: 2,
  consumer: { service: "billing", version: "1.4.0", environment: "test", hostname: "host-1", pid: 7 },
};
const stackField = "dlq-exception-stack-trace-summary";
const bytes = (text: string | undefined): number => Buffer.byteLength(text ?? "");

/** Values of every kind that JavaScript can throw. */
const anyThrown = fc.oneof(
  fc.anything({ withBigInt: true, withDate: true, withNullPrototype: true, withObjectString: true }),
  fc.string({ unit: "binary", maxLength: 6_000 }).map((message) => new Error(message)),
  fc.string({ unit: "binary" }).map((message) => new Error("outer", { cause: new TypeError(message) })),
  fc.constant(() => "a function"),
  fc.constant(Symbol("thrown")),
  fc.constant(
    new Proxy(
      {},
      {
        get: () => {
          throw new Error("no property can be read");
        },
      },
    ),
  ),
);

describe("the fields that a consumer writes on a dead letter", () => {
  test("have one fact each, and none without a value", () => {
    const error = new Error("declined");
    const written = deadLetterMetadata(error, { ...context, messageId: "m-1", correlationId: "order-9" });
    expect(written).toEqual({
      "dlq-original-queue": "shop.billing",
      "dlq-failure-reason": "PERMANENT_FAILURE",
      "dlq-failure-timestamp": "2026-11-22T10:00:00.123Z",
      "dlq-retry-count": "2",
      "dlq-original-message-id": "m-1",
      "dlq-business-correlation-id": "order-9",
      "dlq-exception-stack-trace-summary": error.stack,
      "dlq-failing-consumer-info": "service=billing, version=1.4.0, environment=test, hostname=host-1, pid=7",
    });
    expect(Object.keys(written), "in the order of need").toEqual(deadLetterFields);
    const bare = deadLetterMetadata(undefined, { ...context, consumer: { service: "billing" } });
    expect(Object.keys(bare)).toEqual([...deadLetterFields.slice(0, 4), "dlq-failing-consumer-info"]);
  });

  test("name the causes of an error, and contain nothing else but its stack", () => {
    const driver = Object.assign(new Error("duplicate key"), { detail: "Key (email)=(eve@example.com) exists." });
    const summary = deadLetterMetadata(new Error("billing failed", { cause: driver }), context)[stackField];
    expect(summary).toContain("Caused by: Error: duplicate key");
    expect(summary).not.toContain("eve@example.com");
    const loop = new Error("loop");
    loop.cause = loop;
    expect(deadLetterMetadata(loop, context)[stackField]).toContain("loop");
  });

  test("never cause an error, stay within their sizes, and can be sent to every broker, for any thrown value", () => {
    forAll(500, [anyThrown, fc.string({ unit: "binary", maxLength: 3_000 })], (thrown, text) => {
      const written = deadLetterMetadata(thrown, {
        ...context,
        reason: text,
        messageId: text,
        correlationId: text,
        consumer: { service: text },
      });
      for (const [field, value] of Object.entries(written)) {
        expect(bytes(value)).toBeLessThanOrEqual(field === stackField ? 2_048 : 512);
        expect(value).not.toBe("");
        expect(value.isWellFormed()).toBe(true);
        // oxlint-disable-next-line no-control-regex -- what SQS refuses
        expect(value).not.toMatch(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/);
      }
    });
  });

  test("show where a text was cut, and use all the room", () => {
    forAll(50, [fc.string({ unit: "grapheme", minLength: 2_100, maxLength: 2_200 })], (message) => {
      const summary = deadLetterMetadata(message, context)[stackField] ?? "";
      const [kept = ""] = summary.split(" … [cut]");
      expect(summary.endsWith(" … [cut]")).toBe(true);
      expect(message.startsWith(kept)).toBe(true);
      expect(bytes(summary), "no character has more than four bytes").toBeGreaterThan(2_048 - 4);
    });
    const fits = "x".repeat(2_048);
    expect(deadLetterMetadata(fits, context)[stackField]).toBe(fits);
  });
});

describe("redaction", () => {
  test("gets the whole value, so that a cut cannot hide a part of a secret from it", () => {
    const secret = `${"x".repeat(2_030)} card 4111 1111 1111 1111`;
    const redact: FailureContext["redact"] = (_, value) => value.replaceAll(/\d{4} \d{4} \d{4} \d{4}/g, "****");
    expect(deadLetterMetadata(secret, { ...context, redact })[stackField]).not.toContain("4111");
  });

  test("leaves out the field if it returns null or throws, and the other fields stay", () => {
    const nothing = deadLetterMetadata(new Error("secret"), { ...context, messageId: "secret", redact: () => null });
    const broken = deadLetterMetadata(new Error("secret"), {
      ...context,
      messageId: "secret",
      redact: () => {
        throw new Error("a bug in the hook");
      },
    });
    for (const written of [nothing, broken]) {
      expect(written).toEqual({
        "dlq-original-queue": "shop.billing",
        "dlq-failure-timestamp": "2026-11-22T10:00:00.123Z",
        "dlq-retry-count": "2",
      });
    }
  });
});
