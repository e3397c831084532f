import { describe, expect, onTestFinished, test } from "vitest";

import { renderContractPage } from "../../src/report/contract-page/contract-page.ts";
import { deploy, until } from "../support/deployed-system.ts";
import { operationsOf } from "../support/drive.ts";
import { brokers } from "../support/live.ts";
import { runSnippet } from "../support/python-snippet.ts";

// The snippet for pika, as it stands on the page, on every broker of this run with every strategy of AMQP 0-9-1 that it has.
const cases = brokers().flatMap((broker) =>
  (broker.version === "4.3" ? (["native", "staged", "waits"] as const) : (["staged", "waits"] as const)).map(
    (strategy) => ({ broker, strategy, name: `${strategy} on ${broker.version}` }),
  ),
);

const delaysMs = [200, 400, 700];

function declaration(strategy: (typeof cases)[number]["strategy"]): unknown {
  const steps = { kind: "steps", delays: delaysMs.map((ms) => `${ms}ms`) };
  const backoff = strategy === "native" ? { kind: "constant", delay: "200ms" } : steps;
  const retryAfter = strategy === "waits" ? { retryAfter: { max: "1s" } } : {};
  const billing = {
    from: { orders: ["order.*"] },
    retry: { attempts: 4, backoff, ...retryAfter },
    errors: { permanent: ["ValidationError"] },
  };
  return { name: "shop", sources: { orders: { kind: "topic" } }, consumers: { billing } };
}

/** What the handler does with each message, run after run; it succeeds when the list is over. */
const plans: Readonly<Record<string, readonly (string | number)[]>> = {
  "success at once": [],
  "success on attempt 3": ["transient", "transient"],
  "always transient": Array<string>(6).fill("transient"),
  permanent: ["permanent"],
  "permanent after a failure": ["transient", "permanent"],
  "handed back": ["return", "transient"],
};

describe.each(cases)("the snippet for pika, $name", ({ broker, strategy }) => {
  test("keeps the contract: attempts, delays, dead letters with all that they had", async () => {
    const system = await deploy(broker, declaration(strategy), strategy);
    onTestFinished(async () => system.dispose());
    const contract = system.contract("billing");
    const asking = contract.retryAfter === undefined ? {} : { "asked for 600 ms": [0.6] };
    const wanted = { ...plans, ...asking };
    for (const [id, plan] of Object.entries(wanted)) {
      system.channel.publish("shop.orders", "order.placed", Buffer.from(JSON.stringify({ id, plan })), {
        messageId: id,
        contentType: "application/json",
        correlationId: "c-1",
        persistent: true,
        // In the dead queue it would delete the dead letter, so a copy must not have it.
        expiration: "3600000",
        headers: { tenant: "a", nested: { deep: [1, true] } },
      });
    }
    await system.channel.waitForConfirms();
    const snippet = runSnippet(renderContractPage(contract), "import os\nsnippet.main(os.environ['AMQP_URL'])", {
      AMQP_URL: system.url,
    });
    onTestFinished(async () => snippet.stop());
    const dead = new Map<string, Awaited<ReturnType<typeof system.drain>>[number]>();
    const attemptsOf = (id: string): number[] =>
      snippet.runs.filter((run) => run.id === id).map(({ attempt }) => attempt);
    const runsOf = (id: string): number => attemptsOf(id).length;
    const wantedRuns: Readonly<Record<string, number>> = {
      "success at once": 1,
      "success on attempt 3": 3,
      "always transient": 4,
      permanent: 1,
      "permanent after a failure": 2,
      "handed back": 3,
      "asked for 600 ms": 2,
    };
    try {
      await until(90_000, async () => {
        for (const message of await system.drain("shop.billing.dead"))
          dead.set(String(message.properties.messageId), message);
        return dead.size === 3 && Object.keys(wanted).every((id) => runsOf(id) >= (wantedRuns[id] ?? 0));
      });
    } catch (cause) {
      throw new Error(`${snippet.log()}\n${JSON.stringify(snippet.runs)}`, { cause });
    }

    for (const id of Object.keys(wanted)) {
      const counted = Array.from({ length: wantedRuns[id] ?? 0 }, (_, index) => index + 1);
      // A message that is handed back was not tried.
      expect(attemptsOf(id), id).toEqual(id === "handed back" ? [1, 1, 2] : counted);
    }
    const always = snippet.runs.filter(({ id }) => id === "always transient");
    always.slice(1).forEach(({ beganAt }, index) => {
      const delayMs = contract.attempts[index + 1]?.delayMs ?? 0;
      expect((beganAt - (always[index]?.beganAt ?? 0)) * 1_000).toBeGreaterThanOrEqual(delayMs);
    });
    if (contract.retryAfter !== undefined) {
      const [first, second] = snippet.runs.filter(({ id }) => id === "asked for 600 ms");
      expect(((second?.beganAt ?? 0) - (first?.beganAt ?? 0)) * 1_000).toBeGreaterThanOrEqual(600);
    }
    // Where the broker moves a permanent failure by itself there is no copy, and no reason on it.
    const isCopied = operationsOf(contract.outcomes.permanent, 1).some(
      ({ operation }) => operation === "basic.publish",
    );
    expect(isCopied).toBe(strategy !== "native");
    const reason = isCopied ? { "dlq-original-queue": "shop.billing", "dlq-failure-reason": "PERMANENT_FAILURE" } : {};
    expect([...dead.keys()].toSorted()).toEqual(["always transient", "permanent", "permanent after a failure"]);
    for (const id of ["permanent", "permanent after a failure"]) {
      const { content, properties } = dead.get(id) ?? {};
      expect(JSON.parse(String(content))).toEqual({ id, plan: plans[id] });
      expect(properties).toMatchObject({ contentType: "application/json", correlationId: "c-1", deliveryMode: 2 });
      expect(properties?.expiration).toBeUndefined();
      expect(properties?.headers).toMatchObject({
        tenant: "a",
        nested: { deep: [1, true] },
        ...reason,
      });
    }
  });
});
