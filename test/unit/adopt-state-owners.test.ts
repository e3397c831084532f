import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { brokers, parseTarget } from "../../src/index.ts";
import { adoptDeployment } from "../../src/migrate/adopt.ts";
import { accepted } from "../support/examples.ts";
import { binding, deadThrough, exchange, exported, queue } from "../support/known-topologies.ts";
import { runCommand } from "../support/run-command.ts";
import { arnOf } from "../support/sqs-listing.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

// States that show only a part, or queues that the program does not own.

type Values = Readonly<Record<string, unknown>>;

const folder = temporaryFolder("adopt-state-owners");

/** A queue in a stack of Pulumi. */
function queueIn(name: string, values: Values = {}, more: Values = {}) {
  const url = `https://sqs.eu-west-1.amazonaws.com/123456789012/${name}`;
  const type = "aws:sqs/queue:Queue";
  const own = {
    arn: arnOf(name),
    url,
    name,
    visibilityTimeoutSeconds: 30,
    messageRetentionSeconds: 345_600,
    delaySeconds: 0,
  };
  const outputs = {
    ...own,
    receiveWaitTimeSeconds: 20,
    sqsManagedSseEnabled: true,
    policy: "",
    redrivePolicy: "",
    redriveAllowPolicy: "",
    ...values,
  };
  return { type, urn: `urn:pulumi:prod::shop::${type}::${name}`, custom: true, id: url, outputs, ...more };
}

const secret = { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", ciphertext: "v1:abc" };
const to = (dead: string) => ({
  redrivePolicy: JSON.stringify({ deadLetterTargetArn: arnOf(dead), maxReceiveCount: 5 }),
});

interface Told {
  readonly declaration?: { readonly consumers: object };
  readonly refused: readonly { readonly place: string; readonly fact: string }[];
  readonly left: readonly object[];
  readonly forget: readonly string[];
  readonly diagnostics: readonly {
    readonly code: string;
    readonly message: string;
    readonly help: string;
  }[];
}

async function adoptedFrom(option: string, state: object): Promise<Told & { readonly code: number }> {
  const file = join(folder, "state.json");
  writeFileSync(file, JSON.stringify(state));
  const { code, out } = await runCommand(["adopt", option, file, "--json"]);
  return { ...(JSON.parse(out) as Told), code };
}

/** The answer of `redeliver adopt` to resources in a stack of Pulumi. */
const adoptedFromStack = (...resources: readonly object[]) =>
  adoptedFrom("--stack", { version: 3, deployment: { resources } });

const consumersOf = ({ declaration }: Told): readonly string[] => Object.keys(declaration?.consumers ?? {});

test("a queue whose redrive policy is secret is left out, because a deployment replaces the policy", async () => {
  const told = await adoptedFromStack(
    queueIn("orders", to("orders-dlq")),
    queueIn("orders-dlq"),
    queueIn("hidden", { redrivePolicy: secret }),
  );
  expect([told.code, consumersOf(told)]).toEqual([3, ["orders"]]);
  expect(told.refused).toMatchObject([{ place: "hidden", fact: expect.stringContaining("RedrivePolicy") as unknown }]);
  const alone = await adoptedFromStack(queueIn("hidden", { redrivePolicy: secret }));
  expect([alone.code, alone.diagnostics.map(({ code }) => code)]).toEqual([1, ["RD331"]]);
});

test("a secret policy makes the comparison incomplete", async () => {
  const told = await adoptedFromStack(
    queueIn("orders", { ...to("orders-dlq"), policy: secret }),
    queueIn("orders-dlq"),
  );
  const said = told.diagnostics.filter(({ code }) => code === "RD314");
  expect(said).toMatchObject([
    {
      message: expect.stringContaining("Policy of the queue orders"),
      help: expect.stringContaining("--attribute-names All"),
    },
  ]);
  expect(told.code).toBe(3);
});

test("a queue that the program only reads belongs to another one", async () => {
  const told = await adoptedFromStack(
    queueIn("orders", to("orders-dlq")),
    queueIn("orders-dlq"),
    queueIn("mail.fifo", { fifoQueue: true }, { external: true }),
  );
  expect([told.code, consumersOf(told), told.refused.map(({ place }) => place)]).toEqual([
    3,
    ["orders"],
    ["mail.fifo"],
  ]);
  expect(told.forget.filter((each) => each.includes("mail"))).toEqual([]);
  const alone = await adoptedFromStack(queueIn("mail", {}, { external: true }));
  expect([alone.code, alone.diagnostics.map(({ code }) => code)]).toEqual([1, ["RD331"]]);
});

test("the state keeps a dead queue that the program only reads", async () => {
  const told = await adoptedFromStack(queueIn("orders", to("dlq")), queueIn("dlq", {}, { external: true }));
  expect(told.forget).toEqual(["pulumi state delete urn:pulumi:prod::shop::aws:sqs/queue:Queue::orders"]);
});

test.each([
  ["a consumer that another program owns shares the dead queue", ["billing"], "other queues have their letters there"],
  ["another program owns the dead queue", ["failed"], "another program owns it"],
])("%s, so the others get another one", (_, elsewhere, reason) => {
  const quorum = { "x-queue-type": "quorum" };
  const dying = (name: string, exchangeName: string) => queue(name, { ...quorum, ...deadThrough(exchangeName, "") });
  const text = exported({
    exchanges: ["dlx", "dlxm"].map((name) => exchange(name, "fanout")),
    queues: [
      dying("orders", "dlx"),
      dying("billing", "dlx"),
      dying("amail", "dlxm"),
      queue("failed", quorum),
      queue("amail.dlq", quorum),
    ],
    bindings: [binding("dlx", "failed"), binding("dlxm", "amail.dlq")],
  });
  const deployment = accepted(brokers.rabbitmq.auditor.file.read(text));
  const target = accepted(parseTarget("rabbitmq@4.3"));
  const { draft, proved, unsaid, imports } = accepted(
    adoptDeployment(deployment, target, { name: "shop", queues: [], elsewhere }),
  );
  expect(draft.options).toEqual({});
  const dead = Object.fromEntries(proved.compiled.contracts.map(({ workQueue, deadQueue }) => [workQueue, deadQueue]));
  expect(Object.keys(dead)).not.toContain(elsewhere[0]);
  expect([dead["orders"], dead["amail"]]).toEqual(["orders.dlq", "amail.dlq"]);
  expect(unsaid.find(({ place }) => place === "failed")?.fact).toContain(reason);
  expect(imports.entries.filter(({ name }) => name === "failed" || name === elsewhere[0])).toEqual([]);
});

test("Pulumi is forced to forget a protected resource", async () => {
  const told = await adoptedFromStack(queueIn("orders", to("orders-dlq"), { protect: true }), queueIn("orders-dlq"));
  expect(told.forget).toEqual([
    "pulumi state delete urn:pulumi:prod::shop::aws:sqs/queue:Queue::orders-dlq",
    "pulumi state delete --force urn:pulumi:prod::shop::aws:sqs/queue:Queue::orders",
  ]);
});

test("a queue that the import leaves out stays in its state", async () => {
  const id = "/subscriptions/1/resourceGroups/rg/providers/Microsoft.ServiceBus/namespaces/shop";
  const queue = (name: string, partitioning_enabled: boolean) => ({
    mode: "managed",
    type: "azurerm_servicebus_queue",
    name,
    provider: 'provider["registry.example/owner/azurerm"]',
    instances: [
      {
        schema_version: 0,
        attributes: { id: `${id}/queues/${name}`, name, namespace_id: id, partitioning_enabled },
      },
    ],
  });
  const resources = [queue("plain", false), queue("distinct", true)];
  const told = await adoptedFrom("--terraform-state", { version: 4, resources });
  expect(consumersOf(told)).toEqual(["plain", "distinct"]);
  expect(told.left).toMatchObject([{ place: "queue distinct" }]);
  expect(told.forget).toEqual(["terraform state rm azurerm_servicebus_queue.plain"]);
});

test("a queue with unreadable settings stops the adoption, without options that adopt lacks", async () => {
  const ofRabbitmq = (type: string, outputs: object) => {
    const token = `rabbitmq:index/${type}:${type.replace(/^./, (letter) => letter.toUpperCase())}`;
    return { type: token, urn: `urn:pulumi:prod::shop::${token}::r`, custom: true, outputs };
  };
  const binding = { source: "orders", destination: "billing", destinationType: "queue", routingKey: "#" };
  const { code, diagnostics } = await adoptedFromStack(
    ofRabbitmq("exchange", { name: "orders", vhost: "/", settings: { type: "topic", durable: true } }),
    ofRabbitmq("queue", { name: "billing", vhost: "/", settings: secret }),
    ofRabbitmq("binding", { ...binding, vhost: "/" }),
  );
  expect([code, diagnostics.map((each) => each.code)]).toEqual([2, ["RD410"]]);
  expect(diagnostics[0]?.help).not.toContain("--");
});

test("queues of a provider that is not read stop the adoption with their type", async () => {
  const native = (name: string) => {
    const type = "aws-native:sqs:Queue";
    return { type, urn: `urn:pulumi:prod::shop::${type}::${name}`, custom: true, outputs: { arn: arnOf(name) } };
  };
  for (const beside of [[queueIn("orders", to("dlq")), queueIn("dlq")], []]) {
    const told = await adoptedFromStack(native("mail"), ...beside);
    expect([told.code, told.diagnostics.map((each) => each.code)]).toEqual([2, ["RD410"]]);
    expect(told.diagnostics[0]?.message).toContain("aws-native:sqs:Queue: mail");
  }
});
