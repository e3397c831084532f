import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { copyIdOf } from "../../src/brokers/servicebus/run/copy-id.ts";
import { originalIdOf } from "../../src/brokers/servicebus/run/read-delivery.ts";
import { forAll } from "../support/for-all.ts";

const longest = 128;
const id = fc.string({ minLength: 1, maxLength: longest });
const suffix = fc.integer({ min: 2, max: 1_000 }).map((attempt) => `:r${attempt}`);

describe("the id of a copy", () => {
  test("is never too long, has the original id if that fits, and is the same each time", () => {
    forAll(100, [id, suffix], (original, end) => {
      const copy = copyIdOf(original, end, longest);
      expect(copy.length).toBeLessThanOrEqual(longest);
      expect(copy.endsWith(end)).toBe(true);
      expect(copy === original + end).toBe(original.length + end.length <= longest);
      expect(copyIdOf(original, end, longest)).toBe(copy);
    });
  });

  test("differs for another message or another attempt, however similar", () => {
    const ids = ["a", "b"].flatMap((end) => ["x".repeat(127) + end, "x".repeat(123) + end, "x".repeat(124) + end]);
    const copies = ids.flatMap((original) => [":r2", ":r3"].map((end) => copyIdOf(original, end, longest)));
    expect(new Set(copies).size).toBe(copies.length);
    expect(copyIdOf("x".repeat(125), ":r2", longest)).toBe("x".repeat(125) + ":r2");
    // The SHA-256 of 126 times x. Any other program computes the same.
    expect(copyIdOf("x".repeat(126), ":r2", longest)).toBe(
      "19981abaa977c9ab097c239adda74b220f06b1eb938bfec39c8361b1a1adcbbf:r2",
    );
  });
});

describe("the id of the published message", () => {
  const counted = {
    attemptNumber: { from: "application-property", attempt: "redeliver-attempt", originalId: "redeliver-original-id" },
  } as unknown as Parameters<typeof originalIdOf>[0];
  const original = (message: object): string =>
    originalIdOf(counted, { body: "", ...message } as Parameters<typeof originalIdOf>[1]);

  test("comes from the copy, or from the message itself", () => {
    expect(original({ messageId: "1:r2", applicationProperties: { "redeliver-original-id": "1" } })).toBe("1");
    expect(original({ messageId: "1" })).toBe("1");
    expect(original({ messageId: 7 })).toBe("7");
  });

  test("of a message without one is its sequence number, so that no copy counts as another message's duplicate", () => {
    expect(original({ sequenceNumber: 41n })).toBe("sequence-number:41");
    expect(original({ messageId: "", sequenceNumber: 42n })).toBe("sequence-number:42");
  });
});
