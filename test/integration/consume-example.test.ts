import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";

import { runBilling, shop } from "../../examples/consume-billing.ts";
import { deploy, until } from "../support/deployed-system.ts";
import { brokers } from "../support/live.ts";

const cases = brokers().filter((broker) => broker.version === "4.3");

test.each(cases.map((broker) => ({ broker, name: broker.version })))(
  "the example of docs/consuming.md charges, waits as it is asked to, and gives up on $name",
  async ({ broker }) => {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      const id = request.url?.split("/").at(-1) ?? "";
      asked.push(id);
      const isFirst = asked.filter((each) => each === id).length === 1;
      response.writeHead(id === "nobody" ? 404 : id === "busy" && isFirst ? 429 : 200, { "retry-after": "1" });
      response.end();
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const system = await deploy(broker, shop, "auto");
    const api = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const running = await runBilling({ url: system.url, managementUrl: broker.managementUrl }, api);
    for (const id of ["fine", "busy", "nobody"]) {
      system.channel.publish("shop.orders", "order.placed", Buffer.from(JSON.stringify({ id, total: 9 })), {
        messageId: id,
      });
    }
    system.channel.publish("shop.orders", "order.placed", Buffer.from(JSON.stringify({ id: "no total" })));
    await system.channel.waitForConfirms();
    const reasons: unknown[] = [];
    await until(60_000, async () => {
      for (const letter of await system.drain("shop.billing.dead"))
        reasons.push(letter.properties.headers?.["dlq-failure-reason"]);
      return reasons.length === 2 && asked.length === 4;
    });
    expect(reasons.toSorted()).toEqual(["UNKNOWN_CUSTOMER", "UNREADABLE_MESSAGE"]);
    expect(asked.toSorted()).toEqual(["busy", "busy", "fine", "nobody"]);
    await running.stop();
    server.close();
    await system.dispose();
  },
);
