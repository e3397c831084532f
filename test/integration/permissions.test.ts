import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { connect } from "amqplib";
import { describe, expect, onTestFinished, test } from "vitest";
import { permanent } from "redeliver/consume";

import { brokers as compilers } from "../../src/brokers/index.ts";
import shop from "../../stacks/shop.ts";
import { applyResources } from "../support/apply-resources.ts";
import { billingUnder } from "../support/consume/billing-under.ts";
import { consumeFrom } from "../support/consume/consumed.ts";
import { start } from "../support/consume/start.ts";
import { deploy, until } from "../support/deployed-system.ts";
import { createLimitedUser, type LimitedUser, type Rights } from "../support/limited-user.ts";
import { type Broker, brokers, createVhost } from "../support/live.ts";
import { ownJournal } from "../support/dead-journal.ts";
import { runCommand } from "../support/run-command.ts";
import { createManagement, credentialsOf } from "../support/management.ts";
import { runProgram, stackProgram, topologyOf } from "../support/pulumi.ts";
import { configOf, createCliStack, hasPulumiCli } from "../support/pulumi-cli.ts";
import { strategiesOn } from "../support/strategies.ts";

const { toAudit, toConsume, toDeploy, toOperate, toPublish } = compilers.rabbitmq.permissions;
const none = "^$";

ownJournal();

async function limited(
  broker: Broker,
  vhost: string,
  rights: Parameters<typeof createLimitedUser>[2],
): Promise<LimitedUser> {
  const user = await createLimitedUser(broker, vhost, rights);
  onTestFinished(user.remove);
  return user;
}

describe.each(brokers())("deploying with the least permissions on RabbitMQ $fullVersion", (broker) => {
  const enough = toDeploy(topologyOf(shop, broker.fullVersion));

  const deployWith = async (rights: Parameters<typeof createLimitedUser>[2]): Promise<string> => {
    const { vhost, dispose } = await createVhost(broker);
    onTestFinished(dispose);
    const { broker: asUser } = await limited(broker, vhost, rights);
    try {
      await (hasPulumiCli ? deployWithCli(asUser, vhost) : deployWithMocks(asUser, vhost));
      return "deployed";
    } catch (error) {
      return String(error);
    }
  };

  test("a user with exactly these permissions deploys, deploys again and reads everything back", async () => {
    expect(await deployWith(enough)).toBe("deployed");
  });

  // Pulumi's provider reports only the status: docs/permissions.md says how to find the missing permission.
  const refused = (type: string, words: string): RegExp =>
    hasPulumiCli ? new RegExp(`:${type} \\S+ \\*\\*creating failed.*401`, "s") : new RegExp(`401: ${words}`);

  test.for<[string, object, string, string]>([
    ["the tag policymaker", { tag: "management" }, "Policy", "User not authorised to access object"],
    ["any tag", { tag: null }, "RetryTopology", "Not management user"],
    ["configure", { configure: none }, "Queue", "Access refused"],
    ["write", { write: none }, "Queue", "Access refused"],
    ["read", { read: none }, "Queue", "Access refused"],
  ])("without %s it fails", async ([, without, type, words]) => {
    expect(await deployWith({ ...enough, ...without })).toMatch(refused(type, words));
  });

  test("without a permission in the virtual host it fails", async () => {
    const outcome = await deployWith({ tag: enough.tag });
    expect(outcome).toMatch(
      broker.version === "4.3" ? /404/ : refused("Queue", "User not authorised to access virtual"),
    );
  });
});

async function deployWithMocks(broker: Broker, vhost: string): Promise<void> {
  const config = { ...configOf(broker, vhost), "redeliver:password": credentialsOf(broker.managementUrl).password };
  const run = await runProgram(stackProgram, { config, secretKeys: ["redeliver:password"] });
  expect(run.error).toBeUndefined();
  const management = createManagement(broker.managementUrl);
  for (const _ of ["first", "again"]) await applyResources(management, run.resources);
  const path = encodeURIComponent(vhost);
  for (const list of ["queues", "exchanges", "policies", "bindings"]) await management.get(`${list}/${path}`);
}

async function deployWithCli(broker: Broker, vhost: string): Promise<void> {
  const { stack, remove } = await createCliStack(broker, vhost);
  try {
    await stack.up();
    await stack.refresh({ expectNoChanges: true });
  } finally {
    await remove();
  }
}

const consuming = brokers().flatMap((broker) =>
  strategiesOn(broker.version).map((strategy) => ({ broker, strategy, name: `${strategy} on ${broker.fullVersion}` })),
);

describe.each(consuming)("consuming with the least permissions: $name", ({ broker, strategy }) => {
  const declaration = billingUnder(strategy, { retry: { attempts: 3, backoff: { kind: "constant", delay: "100ms" } } });
  const deployed = async () => {
    const system = await deploy(broker, declaration, strategy);
    onTestFinished(system.dispose);
    return { system, enough: toConsume(system.contract("billing")) };
  };

  test("a user with exactly these permissions retries, and writes dead letters", async () => {
    const { system, enough } = await deployed();
    const { amqpUrl } = await limited(broker, system.vhost, enough);
    const options = { connection: { url: amqpUrl } };
    const { running, runsOf } = await consumeFrom({ ...system, options }, ({ id, attempt }) => {
      if (id === "refused") throw permanent("NO");
      if (attempt < 3) throw new Error("not yet");
    });
    await system.publish(["late", "refused"], { exchange: "shop.orders", routingKey: "order.placed" });
    await until(60_000, () => runsOf("late").length === 3 && runsOf("refused").length === 1);
    await until(60_000, async () => (await system.channel.checkQueue("shop.billing.dead")).messageCount === 1);
    await running.stop();
    expect(runsOf("refused").map(({ attempt }) => attempt)).toEqual([1]);
  });

  test("without one of them the consumer is refused at the start, and the refusal lists all", async () => {
    const { system, enough } = await deployed();
    const outcomes: string[] = [];
    for (const without of ["write", "read"] as const) {
      if (enough[without] === none) continue;
      const { amqpUrl, name } = await limited(broker, system.vhost, { ...enough, [without]: none });
      const { diagnostics } = await start(system, { connection: { url: amqpUrl } });
      const [first] = diagnostics;
      expect(first).toMatchObject({ code: "RD807", message: expect.stringContaining(name) });
      expect(first?.message).toContain(without === "write" ? "may not write to the exchange" : "may not read from");
      expect(first?.help).toContain(`'${enough.configure}' '${enough.write}' '${enough.read}'`);
      outcomes.push(without);
    }
    const stranger = await limited(broker, system.vhost, { tag: null });
    const { diagnostics } = await start(system, { connection: { url: stranger.amqpUrl } });
    expect(diagnostics).toMatchObject([{ code: "RD807", help: expect.stringContaining("set_permissions") }]);
    expect(outcomes).toEqual(strategy === "deferred" || strategy === "native" ? ["read"] : ["write", "read"]);
  });
});

describe.each(brokers())("a queue for every instance on RabbitMQ $fullVersion", (broker) => {
  const watching = { from: { orders: "all" }, delivery: "every-instance" };
  const declaration = { name: "shop", sources: { orders: { kind: "topic" } }, consumers: { watching } };

  test("needs exactly these permissions, and each of them", async () => {
    const system = await deploy(broker, declaration);
    onTestFinished(system.dispose);
    const enough = toConsume(system.contract("watching"));
    const startWith = async (rights: Rights) => {
      const { amqpUrl } = await limited(broker, system.vhost, rights);
      const options = { connection: { url: amqpUrl } };
      return start({ ...system, consumer: "watching" }, options);
    };
    expect((await startWith(enough)).codes).toEqual([]);
    for (const without of ["configure", "write", "read"] as const) {
      const { diagnostics } = await startWith({ ...enough, [without]: none });
      expect(diagnostics, without).toMatchObject([
        { code: "RD807", help: expect.stringContaining(`'${enough.configure}' '${enough.write}' '${enough.read}'`) },
      ]);
    }
  });
});

describe.each(brokers())(
  "sending a dead letter again with the least permissions on RabbitMQ $fullVersion",
  (broker) => {
    const sendAgain = async (amqpUrl: string): Promise<string> => {
      const connection = await connect(amqpUrl);
      let refusal: unknown;
      try {
        const channel = await connection.createConfirmChannel();
        channel.on("error", (error) => {
          refusal = error;
        });
        const letter = await channel.get("shop.billing.dead");
        if (letter === false) return "no dead letter";
        await new Promise<void>((done, failed) => {
          const options = { mandatory: true, persistent: true };
          channel.sendToQueue("shop.billing", letter.content, options, (error) => (error ? failed(error) : done()));
        });
        channel.ack(letter);
        await channel.close();
        return "sent again";
      } catch (error) {
        return String(refusal ?? error);
      } finally {
        await connection.close().catch(() => undefined);
      }
    };

    test("a user with exactly these permissions can, and without any one of them cannot", async () => {
      const system = await deploy(broker, billingUnder("waits"), "waits");
      onTestFinished(system.dispose);
      const enough = toOperate(system.contract("billing"));
      system.channel.sendToQueue("shop.billing.dead", Buffer.from("letter"));
      await until(30_000, async () => (await system.channel.checkQueue("shop.billing.dead")).messageCount === 1);
      for (const without of ["write", "read"] as const) {
        const { amqpUrl } = await limited(broker, system.vhost, { ...enough, [without]: none });
        expect(await sendAgain(amqpUrl), without).toContain("403");
      }
      // The two attempts did not remove the letter.
      await until(30_000, async () => (await system.channel.checkQueue("shop.billing.dead")).messageCount === 1);
      const { amqpUrl } = await limited(broker, system.vhost, enough);
      expect(await sendAgain(amqpUrl)).toBe("sent again");
      await until(30_000, async () => (await system.channel.checkQueue("shop.billing")).messageCount === 1);
    });

    test("a redrive with exactly these permissions works, and without configure it names its lock", async () => {
      const system = await deploy(broker, billingUnder("waits"), "waits");
      onTestFinished(system.dispose);
      const enough = toOperate(system.contract("billing"));
      const headers = { "dlq-original-queue": "shop.billing" };
      system.channel.sendToQueue("shop.billing.dead", Buffer.from("letter"), { headers, persistent: true });
      await until(30_000, async () => (await system.channel.checkQueue("shop.billing.dead")).messageCount === 1);
      const redriveWith = async (rights: Rights) => {
        const { amqpUrl, broker: asUser } = await limited(broker, system.vhost, rights);
        const place = ["--queue", "shop.billing.dead", "--url", amqpUrl, "--management-url", asUser.managementUrl];
        return runCommand(["dead", "redrive", ...place, "--confirm", "1", "--wait", "0s", "--json"]);
      };
      const refused = await redriveWith({ ...enough, configure: none });
      expect([refused.code, refused.out]).toEqual([1, expect.stringMatching(/RD807[^]*shop\.billing\.dead\.redrive/)]);
      expect((await system.channel.checkQueue("shop.billing.dead")).messageCount).toBe(1);
      const said = await redriveWith(enough);
      expect([said.code, said.out]).toEqual([0, expect.stringContaining('"sent": 1')]);
    });
  },
);

describe.each(brokers())("publishing with the least permissions on RabbitMQ $fullVersion", (broker) => {
  test("a producer of a source cannot send to a queue, and one that sends to a queue cannot publish to a source", async () => {
    const shared = billingUnder("waits");
    const mail = { retry: { attempts: 1, backoff: { kind: "immediate" } } };
    const system = await deploy(broker, { ...shared, consumers: { ...shared.consumers, mail } }, "waits");
    onTestFinished(system.dispose);
    const published = async (rights: Rights, exchange: string, routingKey: string): Promise<string> => {
      const { amqpUrl } = await limited(broker, system.vhost, rights);
      const connection = await connect(amqpUrl);
      const channel = await connection.createConfirmChannel();
      const closed = new Promise<string>((tell) => channel.on("error", (error: Error) => tell(error.message)));
      channel.publish(exchange, routingKey, Buffer.from("{}"), { mandatory: true });
      const outcome = await Promise.race([channel.waitForConfirms().then(() => "published"), closed]).catch(
        async () => closed,
      );
      await connection.close();
      return outcome;
    };
    const [source, queue] = ["billing", "mail"].map((name) => toPublish(system.contract(name))) as [Rights, Rights];
    expect(await published(source, "shop.orders", "order.placed")).toBe("published");
    expect(await published(queue, "", "shop.mail")).toBe("published");
    expect(await published(source, "", "shop.mail")).toContain("ACCESS_REFUSED");
    expect(await published(queue, "shop.orders", "order.placed")).toContain("ACCESS_REFUSED");
    for (const name of ["shop.billing", "shop.mail"])
      await until(30_000, async () => (await system.channel.checkQueue(name)).messageCount === 1);
  });
});

describe.each(brokers())("reading with the least permissions on RabbitMQ $fullVersion", (broker) => {
  const declaration = resolve(import.meta.dirname, "../../examples/shop.yaml");
  const commands = [
    ["audit", "--url"],
    ["leftovers", declaration, "--target", `rabbitmq@${broker.version}`, "--strategy", "waits", "--url"],
  ];
  const run = async (words: readonly string[]): Promise<{ readonly code: number; readonly text: string }> => {
    const program = resolve(import.meta.dirname, "../../src/cli/main.ts");
    const ended = promisify(execFile)(process.execPath, [program, ...words]);
    return ended.then(
      ({ stdout }) => ({ code: 0, text: stdout }),
      (error: { code: number; stdout: string; stderr: string }) => ({
        code: error.code,
        text: error.stdout + error.stderr,
      }),
    );
  };

  test.each(commands)("%s: needs the tag and a permission that allows nothing", async (...words) => {
    const system = await deploy(broker, billingUnder("waits"), "waits");
    onTestFinished(system.dispose);
    const as = async (rights: Parameters<typeof createLimitedUser>[2]): Promise<ReturnType<typeof run>> => {
      const { broker: asUser } = await limited(broker, system.vhost, rights);
      return run([...words, `${asUser.managementUrl.replace(/\/$/, "")}/${encodeURIComponent(system.vhost)}`]);
    };
    const { text } = await as(toAudit);
    expect(text).toMatch(
      words[0] === "audit" ? /looked at {2}\d+ queues/ : /shop\.billing|all its resources are declared/,
    );
    const untagged = await as({ ...toAudit, tag: null });
    expect(untagged.code).toBe(2);
    expect(untagged.text).toContain("rabbitmqctl set_user_tags USER management");
    const stranger = await as({ tag: toAudit.tag });
    expect(stranger.code).toBe(2);
    expect(stranger.text).toContain("rabbitmqctl set_permissions");
  });
});
