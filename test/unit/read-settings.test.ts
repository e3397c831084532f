import { expect, onTestFinished, test } from "vitest";

import { compile } from "../../src/index.ts";
import { readSettings } from "../../src/brokers/rabbitmq/run/deployed/read-settings.ts";
import { billingUnder } from "../support/consume/billing-under.ts";
import { checked } from "../support/examples.ts";
import { type FakeBroker, sendJson, startFakeBroker } from "../support/fake-broker.ts";

const compiled = compile(checked(billingUnder("native")), { broker: "rabbitmq", version: "4.3", strategy: "native" });

/**
 * A management API that knows only the work queue and first cuts connections off. @param cuts the number of cuts for
 * each path
 */
async function startCutting(cuts: number): Promise<FakeBroker> {
  const seen = new Map<string, number>();
  const api = await startFakeBroker((path, response) => {
    const before = seen.get(path) ?? 0;
    seen.set(path, before + 1);
    if (before < cuts) response.socket?.destroy();
    else if (path.startsWith("/api/queues/%2F?")) {
      sendJson(response, [
        { name: "shop.billing", arguments: {}, effective_policy_definition: { "delivery-limit": 7 } },
      ]);
    } else sendJson(response, [], 404);
  });
  onTestFinished(api.close);
  return api;
}

async function read({ port }: FakeBroker): ReturnType<typeof readSettings> {
  if (!compiled.ok) throw new Error("the declaration compiles");
  const login = { origin: `http://127.0.0.1:${port}`, username: "guest", password: "hush" };
  return readSettings(login, "/", compiled.value.topology);
}

test("a connection that is cut during a request is not a failure: the request is repeated", async () => {
  const api = await startCutting(1);
  const settings = await read(api);
  expect(settings).toMatchObject({ queues: new Map([["shop.billing", expect.anything()]]), bindings: [] });
  expect("queues" in settings && settings.queues.get("shop.billing")?.policy).toEqual({ "delivery-limit": 7 });
  for (const request of new Set(api.requests)) expect(api.requests.filter((each) => each === request)).toHaveLength(2);
});

test("if it is cut each time, the refusal says so, without the password", async () => {
  const api = await startCutting(Infinity);
  expect(await read(api)).toEqual({ unreadable: "the management API does not answer" });
  expect(api.requests).toHaveLength(2);
});
