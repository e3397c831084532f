import { describe, expect, test, vi } from "vitest";

import { brokers, type Diagnostic, RefusedError } from "../../src/index.ts";
import { until } from "../support/deployed-system.ts";
import { checked, shopWith } from "../support/examples.ts";
import { inTurn } from "../support/in-turn.ts";
import { applyToEmulator } from "../support/sqs/apply.ts";
import { accountId, region } from "../support/sqs/clients.ts";
import { type Consuming, consuming } from "../support/sqs/consuming.ts";
import { createFunction } from "../support/sqs/create-function.ts";
import { deploy, type DeployedSystem } from "../support/sqs/deployed-system.ts";
import { startEnforcingMoto } from "../support/sqs/enforcing-moto.ts";
import { sqsEmulators } from "../support/sqs/live-emulators.ts";
import { registerSqs } from "../support/sqs/register.ts";
import { type Call, type Fate, type RecordingProxy, startRecordingProxy } from "../support/sqs/recording-proxy.ts";

const visibility = {
  from: { orders: "all" },
  retry: { attempts: 3, backoff: { kind: "linear", first: "1s" } },
  handlerTimeout: "5s",
};
const fifo = { ...visibility, order: "per-key", retry: { attempts: 3, backoff: { kind: "constant", delay: "2s" } } };
const succeed = (): void => undefined;
const denied: Fate = { error: "AccessDenied", status: 403 };

interface Asked {
  readonly system: DeployedSystem;
  readonly proxy: RecordingProxy;
}

describe.concurrent.each(sqsEmulators())("permissions of a consumer on $name $version", (emulator) => {
  const within = async (run: (asked: Asked) => Promise<void>, declared: object = visibility): Promise<void> => {
    await using system = await deploy(emulator, { billing: declared });
    await using proxy = await startRecordingProxy(emulator.endpoint);
    await system.lab.send(system.work("billing"), "order 1", declared === fifo ? inGroup : {});
    await run({ system, proxy });
  };
  const refusalOf = async ({ system, proxy }: Asked): Promise<readonly Diagnostic[]> => {
    const { endpoint } = proxy;
    const error = await consuming(system, "billing", succeed, { endpoint }).catch((cause: unknown) => cause);
    if (!(error instanceof RefusedError)) throw new Error("it was not refused", { cause: error });
    return error.diagnostics;
  };
  const isOn = ({ input }: Call, { url }: { readonly url: string }): boolean =>
    String(input["QueueUrl"]).endsWith(url.slice(url.lastIndexOf("/")));

  test("each right that the contract needs is tested before a message depends on it, and the refusal names a missing one", async () => {
    const needed = [
      ["GetQueueUrl", "work", "sqs:GetQueueUrl"],
      ["GetQueueAttributes", "dead", "sqs:GetQueueAttributes"],
      ["DeleteMessage", "work", "sqs:DeleteMessage"],
      ["ChangeMessageVisibility", "work", "sqs:ChangeMessageVisibility"],
      ["SendMessageBatch", "dead", "sqs:SendMessage"],
    ] as const;
    const outcomes = needed.map(async ([operation, role, action]) =>
      within(async (asked) => {
        const { system, proxy } = asked;
        const queue = system[role]("billing");
        proxy.decide((call) => {
          const isAbout = operation === "GetQueueUrl" ? call.input["QueueName"] === queue.name : isOn(call, queue);
          return call.operation === operation && isAbout ? denied : "pass";
        });
        const diagnostics = await refusalOf(asked);
        // The queue's address contains the account, which is unknown before `GetQueueUrl` answers.
        const account = operation === "GetQueueUrl" ? "*" : accountId;
        const Resource = `arn:aws:sqs:${region}:${account}:${queue.name}`;
        expect(diagnostics, operation).toMatchObject([
          {
            code: "RD807",
            message: expect.stringContaining(`does not let this consumer do ${action} on ${queue.name}`),
            notes: [expect.stringContaining("AccessDenied"), expect.stringContaining("by its contract it needs")],
            help: expect.stringContaining(JSON.stringify({ Effect: "Allow", Action: [action], Resource })),
          },
        ]);
        expect(proxy.calls.filter(({ operation: each }) => each === "ReceiveMessage")).toEqual([]);
        expect(await system.lab.count(system.dead("billing")), "nothing was sent").toBe(0);
        const [message] = await system.lab.receive(system.work("billing"), { waitSeconds: 1 });
        expect(message?.Attributes?.ApproximateReceiveCount).toBe("1");
      }),
    );
    await Promise.all(outcomes);
  });

  test("all missing rights are one problem, with a statement for each queue", async () =>
    within(async (asked) => {
      const { system, proxy } = asked;
      proxy.decide(({ operation }) => (/^(Delete|Change|Send)/.test(operation) ? denied : "pass"));
      const [work, dead] = [system.work("billing").name, system.dead("billing").name];
      const diagnostics = await refusalOf(asked);
      expect(diagnostics).toHaveLength(1);
      const [{ message, help = "" } = { message: "" }] = diagnostics;
      expect(message).toContain(
        `do sqs:ChangeMessageVisibility, sqs:DeleteMessage on ${work}, nor sqs:SendMessage on ${dead}`,
      );
      expect(JSON.parse(`[${help.slice(help.indexOf("{"))}]`)).toMatchObject([
        { Action: ["sqs:ChangeMessageVisibility", "sqs:DeleteMessage"] },
        { Action: ["sqs:SendMessage"] },
      ]);
    }));

  test("a forbidden KMS key: the first receive shows it, and the refusal has the statement for the key", async () =>
    within(async (asked) => {
      const key = `arn:aws:kms:${region}:${accountId}:key/8f3c1f9e-0d5b-4b7e-9a43-2b6f1f1d7c11`;
      const message = `User: x is not authorized to perform: kms:Decrypt on resource: ${key} because no policy allows it`;
      const fate = { error: "KmsAccessDenied", status: 400, message };
      asked.proxy.decide(({ operation }) => (operation === "ReceiveMessage" ? fate : "pass"));
      const [diagnostic, ...more] = await refusalOf(asked);
      expect(more).toEqual([]);
      expect(diagnostic?.code).toBe("RD807");
      const help = diagnostic?.help ?? "";
      const Action = ["kms:Decrypt", "kms:GenerateDataKey"];
      expect(JSON.parse(help.slice(help.indexOf("{")))).toEqual({ Effect: "Allow", Action, Resource: key });
    }));

  test("only an answer about rights stops a starting consumer", async () => {
    const answers: Readonly<Record<string, Fate>> = {
      "no answer": "cut-call",
      "a failure of the service": { error: "InternalFailure", status: 500 },
      "an action that is not known": { error: "InvalidAction", status: 400 },
      throttling: { error: "ThrottlingException", status: 400 },
      "a right of its own to batches": {
        error: "AccessDenied",
        status: 403,
        message: "User: x is not authorized to perform: sqs:SendMessageBatch on resource: *",
      },
    };
    const outcomes = Object.entries(answers).map(async ([name, fate]) =>
      within(async ({ system, proxy }) => {
        const isBatchAlone = typeof fate === "object" && "message" in fate;
        const asks = isBatchAlone ? /^SendMessageBatch$/ : /^(SendMessageBatch|DeleteMessage|ChangeMessage.*)$/;
        proxy.decide((call) => (asks.test(call.operation) ? fate : "pass"));
        await using consumer = await consuming(system, "billing", succeed, { endpoint: proxy.endpoint });
        proxy.decide(() => "pass");
        await until(120_000, () => consumer.events.some(({ kind }) => kind === "settled"));
        expect(new Set(consumer.attemptsOf("order 1")), name).toEqual(new Set([1]));
      }),
    );
    await Promise.all(outcomes);
  });

  for (const [kind, declared] of Object.entries({ standard: visibility, FIFO: fifo }))
    test(`${kind}: the checks change nothing, and a user with all rights starts`, async () =>
      within(async ({ system, proxy }) => {
        const consumer = await consuming(system, "billing", succeed, { endpoint: proxy.endpoint });
        try {
          await until(60_000, () => consumer.events.some(({ kind: each }) => each === "settled"));
        } finally {
          await consumer.stop();
        }
        const first = proxy.calls.findIndex(({ operation }) => operation === "ReceiveMessage");
        const asked = proxy.calls.slice(0, first).map(({ operation }) => operation);
        expect(asked.filter((each) => !each.startsWith("Get")).toSorted()).toEqual([
          "ChangeMessageVisibility",
          "DeleteMessage",
          "SendMessageBatch",
        ]);
        expect(consumer.attemptsOf("order 1")).toEqual([1]);
        for (const role of ["work", "dead"] as const) expect(await system.lab.count(system[role]("billing"))).toBe(0);
      }, declared));
});

describe.runIf(sqsEmulators().some(({ name }) => name === "moto"))("enforced permissions", () => {
  test("with the statement that the help gives, the consumer runs", async ({ onTestFinished }) => {
    const moto = await startEnforcingMoto();
    onTestFinished(moto.stop);
    const system = await deploy(moto.emulator, { billing: visibility });
    await system.lab.send(system.work("billing"), "order 1");
    const { credentials, endpoint } = moto;
    const allowed = ["sqs:GetQueueUrl"];
    const told: string[][] = [];
    const start = () => consuming(system, "billing", succeed, { connection: { endpoint, region, credentials } });
    for (;;) {
      await moto.allow([...allowed, ...told.flat()]);
      const consumer = await start().catch((error: unknown) => error);
      if (consumer instanceof RefusedError) {
        const { help = "" } = consumer.diagnostics[0] ?? {};
        const statements = JSON.parse(`[${help.slice(help.indexOf("{"))}]`) as { readonly Action: string[] }[];
        told.push([...new Set(statements.flatMap(({ Action }) => Action))].toSorted());
        continue;
      }
      if (consumer instanceof Error) throw consumer;
      const { events, attemptsOf, stop } = consumer as Consuming;
      await until(60_000, () => events.some(({ kind }) => kind === "settled"));
      await stop();
      expect(attemptsOf("order 1")).toEqual([1]);
      break;
    }
    expect(told).toEqual([
      ["sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:GetQueueAttributes"],
      // Only a receive shows whether this is allowed.
      ["sqs:ReceiveMessage"],
    ]);
  });

  test("deploying needs exactly those actions of the page that the emulator can check", async ({ onTestFinished }) => {
    const moto = await startEnforcingMoto();
    onTestFinished(moto.stop);
    const system = checked(shopWith({ billing: visibility }));
    const target = { broker: "sqs", region } as const;
    const { resources } = await inTurn(async () => registerSqs(system, target));
    const place = { system: "shop", region, account: accountId };
    const allowed = Object.values(brokers.sqs.permissions.toDeploy(place)).flatMap(({ Action }) => Action);
    const deployWith = async (actions: readonly string[]): Promise<string> => {
      await moto.allow(actions);
      const emulator = { ...moto.emulator, endpoint: moto.endpoint };
      return applyToEmulator(emulator, resources, moto.credentials).then(
        () => "deployed",
        (error: Error) => `${error.name}: ${error.message}`,
      );
    };
    expect(await deployWith(allowed)).toBe("deployed");
    const asked = [
      "sqs:CreateQueue",
      "sqs:GetQueueAttributes",
      "sqs:SetQueueAttributes",
      "sns:CreateTopic",
      "sns:Subscribe",
    ];
    for (const action of asked) {
      expect(allowed).toContain(action);
      expect(await deployWith(allowed.filter((each) => each !== action))).toContain(action);
    }
  });

  test("an audit needs each action of the page, and names the missing ones", async ({ onTestFinished }) => {
    const moto = await startEnforcingMoto();
    onTestFinished(moto.stop);
    const system = await deploy(moto.emulator, { billing: visibility });
    await createFunction(moto.emulator, system.work("billing"), 5);
    vi.stubEnv("AWS_ACCESS_KEY_ID", moto.credentials.accessKeyId);
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", moto.credentials.secretAccessKey);
    onTestFinished(() => void vi.unstubAllEnvs());
    const { toAudit } = brokers.sqs.permissions;
    const allowed = Object.values(toAudit).flat();
    const auditWith = async (actions: readonly string[]): Promise<readonly Diagnostic[]> => {
      await moto.allow(actions);
      const read = await brokers.sqs.auditor.live.read(region, moto.endpoint, {});
      return read.ok ? read.warnings : read.diagnostics;
    };
    expect(await auditWith(allowed)).toEqual([]);
    for (const action of allowed) {
      const [diagnostic, ...more] = await auditWith(allowed.filter((each) => each !== action));
      const code = toAudit.queues.includes(action) ? "RD408" : "RD409";
      expect([diagnostic?.code, more], action).toEqual([code, []]);
      expect(diagnostic?.help).toContain(action);
    }
  });
});

const inGroup = { MessageGroupId: "a", MessageDeduplicationId: "order-1" };
