import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@redeliver/servicebus-emulator";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";

import type { AmqpMessage } from "../../src/brokers/servicebus/run/copy-message.ts";
import { ownJournal } from "../support/dead-journal.ts";
import { ask, lettersIn, stage, take, type Stage } from "../support/servicebus/dead-stage.ts";

ownJournal();

// A text of half a surrogate pair has no bytes in UTF-8, so nobody can send it. U+FFFD marks bytes that are no text.
const text = fc.string({ unit: "grapheme", maxLength: 20 }).filter((each) => !each.includes("\uFFFD"));
// The client library for JavaScript cannot send integers beyond 53 bits.
const double = fc.double().filter((each) => Number.isSafeInteger(each) || !Number.isInteger(each));
const wholeNumber = fc.oneof(fc.integer(), fc.maxSafeInteger());
const value = fc.oneof(text, fc.boolean(), wholeNumber, double, fc.constant(null), fc.date({ noInvalidDate: true }));
const json = fc.jsonValue({ maxDepth: 3 }).filter((each) => each !== null && !/\d{16}|e\+/.test(JSON.stringify(each)));

/** A message with a body of any section, and with any of the properties that a publisher may set. */
const message: fc.Arbitrary<AmqpMessage> = fc
  .record({
    content: fc.oneof(
      fc.record({ bodyType: fc.constant("data" as const), body: fc.uint8Array().map((bytes) => Buffer.from(bytes)) }),
      fc.record({ bodyType: fc.constant("value" as const), body: fc.oneof(text, fc.boolean(), fc.integer(), json) }),
      fc.record({ bodyType: fc.constant("sequence" as const), body: fc.array(fc.oneof(text, fc.integer())) }),
    ),
    properties: fc.record(
      {
        correlationId: text,
        contentType: fc.constantFrom("application/json", "text/plain"),
        subject: text,
        to: text,
        replyTo: text,
        groupId: text,
        replyToGroupId: text,
      },
      { requiredKeys: [], noNullPrototype: true },
    ),
    applicationProperties: fc.dictionary(text, value, { maxKeys: 6, noNullPrototype: true }),
  })
  .map(({ content, properties, applicationProperties }) => ({
    ...content,
    properties: { ...properties, messageId: randomUUID() },
    applicationProperties: applicationProperties as AmqpMessage["applicationProperties"] & object,
  }));

/** One of its properties has the name that marks a type in a nested value. */
const withMark: AmqpMessage = {
  bodyType: "value",
  body: 1,
  properties: { messageId: randomUUID() },
  applicationProperties: { "!": false, toString: "a" },
};

async function kill({ lab, workQueue }: Stage, messages: readonly AmqpMessage[]): Promise<void> {
  const client = createClient(lab.emulator);
  const [sender, receiver] = [client.createSender(workQueue), client.createReceiver(workQueue)];
  for (const each of messages) await sender.sendMessages(each);
  for (let left = messages.length; left > 0;) {
    const page = await receiver.receiveMessages(left, { maxWaitTimeInMs: 5_000 });
    for (const each of page)
      await receiver.deadLetterMessage(each, { deadLetterReason: "ODD", deadLetterErrorDescription: "é" });
    left -= page.length;
  }
  await client.close();
}

/** The letters as the client library reads them, without the records of their end. */
async function sectionsIn(system: Stage, queue: string): Promise<readonly object[]> {
  return (await system.peek(queue)).map(({ body, _rawAmqpMessage: raw }) => {
    const { DeadLetterReason: _, DeadLetterErrorDescription: __, ...kept } = raw.applicationProperties ?? {};
    return { body: body as unknown, bodyType: raw.bodyType, properties: raw.properties, kept };
  });
}

test("an export, an import and an export give the same bytes, for every type", async () => {
  const system = await stage({ deadLetter: { park: true } });
  const parkedQueue = "shop.billing.parked";
  await fc.assert(
    fc.asyncProperty(fc.array(message, { minLength: 1, maxLength: 40 }), async (messages) => {
      const [first, second] = [0, 1].map(() => join(tmpdir(), `${randomUUID()}.ndjson`)) as [string, string];
      onTestFinished(() => [first, second].forEach((file) => rmSync(file, { force: true })));
      await kill(system, messages);
      expect((await ask(system, "export", "--output", first)).code).toBe(0);
      const words = ["--input", first, "--into", parkedQueue, "--confirm", String(messages.length)];
      expect(await ask(system, "import", ...words)).toMatchObject({ code: 0, stopped: null });
      await ask(system, "export", "--parked", "--output", second);
      expect(lettersIn(first)).toHaveLength(messages.length);
      expect(await sectionsIn(system, parkedQueue)).toEqual(await sectionsIn(system, system.deadQueue));
      expect(lettersIn(second)).toEqual(lettersIn(first));
      await take(system, system.deadQueue);
      await take(system, parkedQueue);
    }),
    { numRuns: 8, endOnFailure: true, examples: [[[withMark]]] },
  );
});
