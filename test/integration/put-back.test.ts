import type { GetMessage } from "amqplib";
import { describe, expect, test } from "vitest";

import { billingUnder } from "../support/consume/billing-under.ts";
import { liveStage } from "../support/consume/live-stage.ts";
import { until } from "../support/deployed-system.ts";
import { strategiesOn } from "../support/strategies.ts";
import { strategyCases } from "../support/live.ts";

const cases = strategyCases(strategiesOn);
/** The headers that the broker and the retries wrote on the letter: docs/consuming.md says to leave them out. */
const written = /^(x-death|x-first-death-.*|x-last-death-.*|x-delivery-count|x-acquired-count|x-opt-.*|redeliver-.*)$/;

describe.concurrent.each(cases)("a dead letter is sent again: $name", ({ broker, strategy }) => {
  const declaration = billingUnder(strategy);
  const { deployed, consumed } = liveStage(broker);

  test("sent to its work queue, without the headers of its death, it has all of its attempts again", async () => {
    const system = await deployed(declaration, strategy);
    let isMended = false;
    const billing = await consumed(system, ({ attempt }) => {
      if (!isMended || attempt < 3) throw new Error("not yet");
    });
    await system.publish(["a"]);
    await until(60_000, () => billing.runs.length === 3);
    const letters: GetMessage[] = [];
    await until(60_000, async () => {
      const letter = await system.channel.get("shop.billing.dead");
      if (letter !== false) letters.push(letter);
      return letters.length > 0;
    });
    const letter = letters[0] as GetMessage;
    const { content, properties } = letter;
    isMended = true;
    const headers = Object.fromEntries(
      Object.entries(properties.headers ?? {}).filter(([name]) => !written.test(name)),
    );
    const { messageId } = properties as { readonly messageId: string };
    system.channel.publish("", "shop.billing", content, { headers, messageId, persistent: true, mandatory: true });
    await system.channel.waitForConfirms();
    system.channel.ack(letter);
    await until(60_000, () => billing.runs.length === 6);
    expect(billing.runs.map(({ id, attempt }) => [id, attempt])).toEqual([1, 2, 3, 1, 2, 3].map((each) => ["a", each]));
    await until(60_000, () => billing.count("settled") === 6);
    await billing.running.stop();
    for (const queue of ["shop.billing", "shop.billing.dead"]) expect(await system.drain(queue)).toEqual([]);
  });
});
