import { describe, expect, test } from "vitest";

import { billingUnder } from "../support/consume/billing-under.ts";
import { type Start, start } from "../support/consume/start.ts";
import { deploy, type DeployedSystem } from "../support/deployed-system.ts";
import { createVhost, strategyCases } from "../support/live.ts";
import { createManagement } from "../support/management.ts";
import { strategiesOn } from "../support/strategies.ts";
import { createLimitedUser } from "../support/limited-user.ts";

const cases = strategyCases(strategiesOn);

const quorum = { "x-queue-type": "quorum" };
const deadStrategy = { "x-dead-letter-strategy": "at-least-once", "x-overflow": "reject-publish" };

/** Without the management API, the consumer learns everything through the protocol that it speaks. */
describe.each(cases)(
  "a deployed topology that differs, compared by AMQP alone: $name",
  { concurrent: true },
  ({ broker, strategy }) => {
    const management = createManagement(broker.managementUrl);
    const declaration = billingUnder(strategy);
    const isAmqp10 = strategy === "deferred";

    async function startAfter(
      change: (system: DeployedSystem) => Promise<unknown>,
      permissions?: { readonly configure: string; readonly write: string; readonly read: string },
    ): Promise<Start> {
      const system = await deploy(broker, declaration, strategy);
      const user = permissions && (await createLimitedUser(broker, system.vhost, { ...permissions, tag: null }));
      try {
        await change(system);
        return await start(system, { connection: { url: user?.amqpUrl ?? system.url } });
      } finally {
        await user?.remove();
        await system.dispose();
      }
    }

    /** Makes the work queue anew, with a message in it. */
    const workQueueAs =
      (given: Readonly<Record<string, unknown>>) =>
      async ({ channel, publish }: DeployedSystem): Promise<void> => {
        await channel.deleteQueue("shop.billing");
        await channel.assertQueue("shop.billing", { durable: true, arguments: given });
        await publish(["a"], { exchange: "", routingKey: "shop.billing" });
      };

    const notComparedIn = ({ events }: Start): readonly string[] =>
      events.flatMap((event) => (event.kind === "not-compared" ? [event.what] : []));

    test("the compiled topology: the consumer starts, and has compared everything that AMQP shows", async () => {
      const outcome = await startAfter(async () => undefined);
      expect(outcome.codes).toEqual([]);
      expect(notComparedIn(outcome)).toEqual([isAmqp10 ? "exchanges, policies and bindings" : "policies and bindings"]);
    });

    test("a stream in place of the work queue is refused", async () => {
      const { codes, text } = await startAfter(workQueueAs({ "x-queue-type": "stream" }));
      expect(codes).toEqual(["RD808"]);
      expect(text).toMatch(/x-queue-type: compiled is ['"]quorum['"], deployed is ['"]stream['"]/);
    });

    test("a stream is refused for a user who may only read the work queue, too", async () => {
      const least = { configure: "^$", write: ".*", read: "^shop\\.billing$" };
      const { codes, text } = await startAfter(workQueueAs({ "x-queue-type": "stream" }), least);
      expect(codes).toEqual(["RD808"]);
      expect(text).toMatch(/x-queue-type: compiled is ['"]quorum['"], deployed is ['"]stream['"]/);
    });

    test("a classic queue, and a quorum queue with other dead-lettering, are refused", async () => {
      const classic = await startAfter(workQueueAs({ "x-queue-type": "classic" }));
      expect(classic.codes).toEqual(["RD808"]);
      const elsewhere = { ...quorum, "x-dead-letter-exchange": "elsewhere", ...deadStrategy };
      const { codes, text } = await startAfter(workQueueAs(elsewhere));
      expect(codes).toEqual(["RD808"]);
      expect(text).toMatch(/x-dead-letter-exchange: compiled is .+, deployed is ['"]elsewhere['"]/);
    });

    test("a dead queue that is classic and has a length limit is refused", async () => {
      const { codes, diagnostics } = await startAfter(async ({ channel }) => {
        await channel.deleteQueue("shop.billing.dead");
        await channel.assertQueue("shop.billing.dead", {
          durable: true,
          arguments: { "x-queue-type": "classic", "x-max-length": 1 },
        });
      });
      expect(codes).toEqual(["RD808"]);
      expect(diagnostics[0]?.path).toBe("shop.billing.dead");
    });

    test.runIf(strategy === "staged" || strategy === "waits")("exchanges of another type are refused", async () => {
      const { codes, text } = await startAfter(async ({ channel, compiled }) => {
        for (const { name, kind } of compiled.topology.exchanges) {
          await channel.deleteExchange(name);
          await channel.assertExchange(name, kind === "fanout" ? "direct" : "fanout", { durable: true });
        }
      });
      expect(new Set(codes)).toEqual(new Set(["RD808"]));
      expect(text).toContain("type: compiled is 'topic', deployed is 'fanout'");
    });

    test("a user without the permission to configure: the consumer starts, and logs the values that it could not compare", async () => {
      const least = { configure: "^$", write: ".*", read: "^shop\\.billing(\\.dead)?$" };
      const outcome = await startAfter(async () => undefined, least);
      expect(outcome.codes).toEqual([]);
      const wanted = isAmqp10 ? "exchanges, policies and bindings" : "arguments, policies and bindings";
      expect(notComparedIn(outcome)).toContain(wanted);
    });

    test("if nothing is deployed, the comparison creates nothing", async () => {
      const { vhost, amqpUrl: url, dispose } = await createVhost(broker);
      const outcome = await start({ url, broker, declaration, strategy }, { connection: { url } });
      expect(new Set(outcome.codes)).toEqual(new Set(["RD805"]));
      expect(await management.get(`queues/${vhost}?disable_stats=true`)).toEqual([]);
      const exchanges = await management.get<readonly { readonly name: string }[]>(
        `exchanges/${vhost}?disable_stats=true`,
      );
      expect(exchanges.filter(({ name }) => name.startsWith("shop"))).toEqual([]);
      await dispose();
    });
  },
);
