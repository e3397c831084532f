import { describe, expect, test } from "vitest";
import type { ConsumeOptions } from "redeliver/consume";

import { billingUnder } from "../support/consume/billing-under.ts";
import { start } from "../support/consume/start.ts";
import { startTlsBroker } from "../support/consume/tls-broker.ts";
import { deploy } from "../support/deployed-system.ts";
import { createVhost, strategyCases } from "../support/live.ts";

/** A request that no broker before 4.3 can meet. */
const asked = (strategy: "native" | "deferred"): Pick<ConsumeOptions<"rabbitmq">, "target"> => ({
  target: { broker: "rabbitmq", version: "4.3", strategy },
});

const cases = strategyCases(() => ["native", "deferred"]);

// Uses AMQP alone: the broker names its version when a client connects, before any request to the management API.
describe.each(cases)("a consumer compiled for 4.3: $name", { concurrent: true }, ({ broker, strategy }) => {
  const declaration = billingUnder(strategy);

  test.runIf(broker.version === "4.3")("it starts", async () => {
    const system = await deploy(broker, declaration, strategy);
    const { codes } = await start(system, { ...asked(strategy), connection: { url: system.url } });
    expect(codes).toEqual([]);
    await system.dispose();
  });

  test.runIf(broker.version !== "4.3")(
    "refused for the version alone, with both versions, and the waiting message is untouched",
    async () => {
      // The topology compiled for this broker has queues and exchanges of the same names.
      const system = await deploy(broker, billingUnder("waits"), "waits");
      await system.publish(["a"]);
      const options = { ...asked(strategy), connection: { url: system.url } };
      const { diagnostics } = await start({ ...system, declaration }, options);
      expect(diagnostics.map(({ code }) => code)).toEqual(["RD806"]);
      expect(diagnostics[0]?.message).toMatch(/^compiled is for rabbitmq@4\.3, strategy (native|deferred); /);
      expect(diagnostics[0]?.message).toContain(`the broker is RabbitMQ ${broker.fullVersion}, `);
      const message = await system.channel.get("shop.billing", { noAck: true });
      expect(message).toMatchObject({ fields: { redelivered: false }, properties: { messageId: "a" } });
      await system.dispose();
    },
  );

  test.runIf(broker.version !== "4.3")("the same over TLS, and if nothing was deployed", async () => {
    const empty = await createVhost(broker);
    const tls = await startTlsBroker(empty.amqpUrl, false);
    const { url, ca } = tls;
    const options = { ...asked(strategy), connection: { url, tls: { ca } } };
    const { codes } = await start({ url, broker, declaration, strategy }, options);
    expect(codes).toEqual(["RD806"]);
    await tls.close();
    await empty.dispose();
  });
});
