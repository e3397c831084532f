import { DeleteQueueCommand, SetQueueAttributesCommand } from "@aws-sdk/client-sqs";
import { describe, expect, test } from "vitest";

import { permanent } from "../../src/consume/failure.ts";
import { RefusedError } from "../../src/index.ts";
import { until } from "../support/deployed-system.ts";
import { attributes, deploy, type DeployedSystem, textsOf } from "../support/sqs/deployed-system.ts";
import { type Consuming, consuming, type Handle, untilCount } from "../support/sqs/consuming.ts";
import { sqsEmulators } from "../support/sqs/live-emulators.ts";
import { type Fate, type RecordingProxy, startRecordingProxy } from "../support/sqs/recording-proxy.ts";

const visibility = {
  from: { orders: "all" },
  retry: { attempts: 3, backoff: { kind: "linear", first: "1s" } },
  handlerTimeout: "5s",
};
const order = attributes({ "routing-key": "order.placed", tenant: "a" });

/** The body of a message names its outcome. */
const handle: Handle = ({ body }) => {
  if (body.startsWith("permanent")) throw permanent("UNKNOWN_CUSTOMER");
};

interface Faulty {
  readonly system: DeployedSystem;
  readonly proxy: RecordingProxy;
}

describe.concurrent.each(sqsEmulators())("consume with faults, on $name $version", (emulator) => {
  const within = async (run: (faulty: Faulty) => Promise<void>, declared: object = visibility): Promise<void> => {
    await using system = await deploy(emulator, { billing: declared });
    await using proxy = await startRecordingProxy(emulator.endpoint);
    await run({ system, proxy });
  };
  const consumed = async (
    { system, proxy }: Faulty,
    run: (consumer: Consuming) => Promise<void>,
    handler = handle,
  ): Promise<void> => {
    await using consumer = await consuming(system, "billing", handler, { endpoint: proxy.endpoint });
    await run(consumer);
  };
  const sendAll = async ({ lab, work }: DeployedSystem, bodies: readonly string[]): Promise<void> => {
    for (const body of bodies) await lab.send(work("billing"), body, { MessageAttributes: order });
  };
  const lettersOf = async (system: DeployedSystem, count: number): Promise<string[]> => {
    const bodies: string[] = [];
    await until(30_000, async () => {
      const received = await system.lab.receive(system.dead("billing"), { max: 10, waitSeconds: 1 });
      bodies.push(...received.map(({ Body = "" }) => Body));
      return bodies.length >= count;
    });
    return bodies.toSorted();
  };
  test("the dead queue is removed: permanent failures wait until it is back, and others are handled", async () =>
    within(async (faulty) => {
      const { system } = faulty;
      const { name, url } = system.dead("billing");
      await consumed(faulty, async ({ runs, events }) => {
        await system.lab.sqs.send(new DeleteQueueCommand({ QueueUrl: url }));
        await sendAll(system, ["permanent"]);
        await until(60_000, () => events.some(({ kind }) => kind === "settle-failed"));
        await sendAll(system, ["success"]);
        await until(60_000, () => events.some(({ kind }) => kind === "settled"));
        expect(runs.filter(({ body }) => body === "success")).toHaveLength(1);
        await system.lab.createQueue({}, name);
        await untilCount(system, "work", "billing", 0);
      });
      expect(await lettersOf(system, 1)).toEqual(["permanent"]);
    }));

  test("the connection is cut between the copy and the deletion: one dead letter, and no second copy", async () =>
    within(async (faulty) => {
      const { system, proxy } = faulty;
      let cuts = 0;
      await consumed(faulty, async () => {
        proxy.decide(({ operation }) => (operation === "DeleteMessage" && cuts++ < 2 ? "cut-call" : "pass"));
        await sendAll(system, ["permanent"]);
        await untilCount(system, "work", "billing", 0);
      });
      expect(cuts).toBe(3);
      expect(proxy.calls.filter(({ operation }) => operation === "SendMessage")).toHaveLength(1);
      expect(await lettersOf(system, 1)).toEqual(["permanent"]);
    }));

  test("a copy without an answer is sent again: doubled with the same id, and not lost", async () =>
    within(async (faulty) => {
      const { system, proxy } = faulty;
      let cuts = 0;
      proxy.decide(({ operation }) => (operation === "SendMessage" && cuts++ < 1 ? "cut-answer" : "pass"));
      await consumed(faulty, async () => {
        await sendAll(system, ["permanent"]);
        await untilCount(system, "work", "billing", 0);
      });
      expect(await system.lab.count(system.dead("billing"))).toBe(2);
      const letters = await system.lab.receive(system.dead("billing"), { max: 10, waitSeconds: 1 });
      const ids = letters.map(({ MessageAttributes }) => textsOf(MessageAttributes)["dlq-original-message-id"]);
      expect(new Set(ids).size).toBe(1);
      expect(ids[0]).toBeTypeOf("string");
    }));

  test(
    "an outage among many messages: none is lost, and only interrupted ones are doubled",
    { timeout: 300_000 },
    async () =>
      within(async (faulty) => {
        const { system, proxy } = faulty;
        const all = Array.from({ length: 40 }, (_, index) => `${index % 4 === 0 ? "permanent" : "success"} ${index}`);
        let cutAnswers = 0;
        let calls = 0;
        proxy.decide(({ operation }) => {
          calls++;
          // The pattern hits every kind of call and does not depend on chance.
          if (operation.startsWith("Get") || calls % 5 !== 0) return "pass";
          if (calls % 2 === 0) return "cut-call";
          cutAnswers++;
          return "cut-answer";
        });
        await consumed(faulty, async (consumer) => {
          await sendAll(system, all);
          await untilCount(system, "work", "billing", 0);
          const handled = new Set(consumer.runs.map(({ body }) => body));
          const succeeded = all.filter((body) => body.startsWith("success"));
          // If every receive of a message was cut off, the message is dead without a handler's run. That is no loss.
          const dead = await lettersOf(system, await system.lab.count(system.dead("billing")));
          for (const body of succeeded) expect(handled.has(body) || dead.includes(body), body).toBe(true);
          const permanents = all.filter((body) => body.startsWith("permanent"));
          for (const body of permanents) expect(dead).toContain(body);
          const doubled = dead.length - new Set(dead).size;
          expect(doubled).toBeLessThanOrEqual(cutAnswers);
        });
      }),
  );

  test("SQS no longer accepts a receipt: the message is dropped, and comes again", async () =>
    within(async (faulty) => {
      const { system, proxy } = faulty;
      let refusals = 0;
      await consumed(faulty, async (consumer) => {
        proxy.decide(({ operation }) =>
          operation === "DeleteMessage" && refusals++ === 0 ? { error: "ReceiptHandleIsInvalid", status: 400 } : "pass",
        );
        await sendAll(system, ["success"]);
        await untilCount(system, "work", "billing", 0);
        expect(consumer.attemptsOf("success")).toEqual([1, 2]);
        // SQS deletes the message a moment before the consumer gets the answer.
        await until(30_000, () => consumer.events.some(({ kind }) => kind === "settled"));
        const kinds = consumer.events.map(({ kind }) => kind);
        expect(kinds.filter((kind) => kind.startsWith("settle"))).toEqual(["settle-dropped", "settled"]);
      });
    }));

  test("health() shows that SQS does not answer, and when it answers again", async () =>
    within(async (faulty) => {
      const { system, proxy } = faulty;
      await consumed(faulty, async (consumer) => {
        proxy.decide(() => "cut-call");
        await until(60_000, () => consumer.health().state === "reconnecting");
        expect(consumer.health().isTaking).toBe(false);
        proxy.decide(() => "pass");
        await until(60_000, () => consumer.health().state === "running");
        await sendAll(system, ["success"]);
        await untilCount(system, "work", "billing", 0);
        const kinds = new Set(consumer.events.map(({ kind }) => kind));
        for (const kind of ["lost", "reconnected"] as const) expect(kinds).toContain(kind);
      });
    }));

  test("messages of a receive that is answered after stop() return at once", async () =>
    within(async ({ system, proxy }) => {
      const consumer = await consuming(system, "billing", handle, { endpoint: proxy.endpoint });
      const asked = proxy.calls.length;
      let stopped: Promise<void> | null = null;
      proxy.decide(async (call): Promise<Fate> => {
        if (call.operation !== "ReceiveMessage") return "pass";
        stopped ??= consumer.stop();
        // The receive began before the stop and is about to take this message.
        await sendAll(system, ["success"]);
        return "pass";
      });
      await until(30_000, () => stopped !== null);
      await stopped;
      expect(consumer.runs).toEqual([]);
      const handedBack = proxy.calls.slice(asked).filter(({ operation }) => operation === "ChangeMessageVisibility");
      expect(handedBack.map(({ input }) => input["VisibilityTimeout"])).toEqual([0]);
      const [again] = await system.lab.receive(system.work("billing"), { waitSeconds: 1 });
      expect(again?.Body).toBe("success");
    }));

  test("a refusal at the start names the missing, different or forbidden part, and nothing was received", async () => {
    type Spoil = (faulty: Faulty) => Promise<unknown> | void;
    const set =
      (Attributes: Record<string, string>): Spoil =>
      ({ system }) =>
        system.lab.sqs.send(new SetQueueAttributesCommand({ QueueUrl: system.work("billing").url, Attributes }));
    const spoils: Readonly<Record<string, readonly [string, Spoil]>> = {
      "another visibility timeout": ["RD808", set({ VisibilityTimeout: "7" })],
      "another delay": ["RD808", set({ DelaySeconds: "3" })],
      "another number of receives": [
        "RD808",
        (faulty) => {
          const deadLetterTargetArn = faulty.system.dead("billing").arn;
          return set({ RedrivePolicy: JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 10 }) })(faulty);
        },
      ],
      "no dead queue": [
        "RD805",
        ({ system }) => system.lab.sqs.send(new DeleteQueueCommand({ QueueUrl: system.dead("billing").url })),
      ],
      "no permission": [
        "RD807",
        ({ proxy }) =>
          proxy.decide(({ operation }) =>
            operation === "GetQueueAttributes" ? { error: "AccessDenied", status: 403 } : "pass",
          ),
      ],
      "no server answers": ["RD804", ({ proxy }) => proxy.decide(() => "cut-call")],
    };
    const outcomes = Object.entries(spoils).map(async ([name, [code, spoil]]) =>
      within(async (faulty) => {
        await sendAll(faulty.system, ["success"]);
        await spoil(faulty);
        const { endpoint } = faulty.proxy;
        const refused = await consuming(faulty.system, "billing", handle, { endpoint }).catch(
          (error: unknown) => error,
        );
        expect(refused, name).toBeInstanceOf(RefusedError);
        const { diagnostics } = refused as RefusedError;
        expect(
          diagnostics.map((each) => each.code),
          name,
        ).toEqual([code]);
        expect(faulty.proxy.calls.filter(({ operation }) => operation === "ReceiveMessage")).toEqual([]);
        expect(await faulty.system.lab.count(faulty.system.work("billing"))).toBe(1);
      }),
    );
    await Promise.all(outcomes);
  });
});
