import { randomUUID } from "node:crypto";

import { CreateEventSourceMappingCommand, CreateFunctionCommand, LambdaClient } from "@aws-sdk/client-lambda";
import { SetSubscriptionAttributesCommand, SubscribeCommand } from "@aws-sdk/client-sns";
import { DeleteQueueCommand, SetQueueAttributesCommand } from "@aws-sdk/client-sqs";
import { beforeAll, describe, test, vi } from "vitest";

import { brokers } from "../../src/brokers/index.ts";
import { readLiveAws } from "../../src/cli/read-live-aws.ts";
import type { Diagnostic } from "../../src/index.ts";
import { accountId, region } from "../support/sqs/clients.ts";
import { deploy } from "../support/sqs/deployed-system.ts";
import type { SqsEmulator } from "../support/sqs/emulators.ts";
import { gapOf } from "../support/sqs/known-gaps.ts";
import type { Queue, QueueAttributes } from "../support/sqs/lab.ts";
import { createLab, redrivePolicy } from "../support/sqs/lab.ts";
import { sqsEmulators } from "../support/sqs/live-emulators.ts";

const { auditor } = brokers.sqs;

// The SDK looks for credentials where the AWS CLI does; emulators take any.
beforeAll(() => {
  vi.stubEnv("AWS_ACCESS_KEY_ID", "test");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "test");
});

/** Everything on the emulator is read, and other tests have queues there too. */
async function audit({ endpoint }: SqsEmulator): Promise<readonly Diagnostic[]> {
  const read = await readLiveAws({ region, endpoint }, auditor.live);
  if (!read.ok) throw new Error(JSON.stringify(read.diagnostics));
  const target = { broker: "sqs", region, strategy: "auto" } as const;
  return [...read.warnings, ...auditor.audit(read.value, target, null)];
}

/** What is found about the queues of a test: by itself, or together with others of which the same holds. */
function about(findings: readonly Diagnostic[], names: readonly string[]): string[] {
  return findings
    .flatMap(({ code, path, value }) => {
      const queues = Array.isArray(value) ? (value as readonly unknown[]) : [];
      const own = names.filter((name) => path.endsWith(name) || path.includes(`"${name}"`) || queues.includes(name));
      return own.map((name) => `${code} ${name}`);
    })
    .toSorted();
}

const hasNoSns = (emulator: SqsEmulator): boolean => gapOf("topic-reaches-all", emulator.name) !== undefined;

for (const emulator of sqsEmulators()) {
  describe.concurrent(`an audit of ${emulator.name} ${emulator.version}`, { timeout: 60_000 }, () => {
    test("finds nothing in what the program deploys", async ({ expect, onTestFinished }) => {
      const constant = { kind: "constant", delay: "30s" };
      const system = await deploy(emulator, {
        billing: {
          from: { orders: ["order.placed"] },
          retry: { attempts: 5, backoff: constant },
          handlerTimeout: "5s",
        },
        mail: {
          from: { orders: "all" },
          retry: { attempts: 3, backoff: { kind: "exponential", first: "1s", factor: 2 } },
        },
      });
      onTestFinished(system.dispose);
      const names = [...system.applied.queues.keys()];
      const findings = await audit(emulator);
      expect(names.length).toBe(6);
      // ElasticMQ keeps no policy of a queue, which would tell that it may be the dead-letter queue of a subscription.
      const unknown = hasNoSns(emulator) ? names.filter((name) => name.endsWith("-undelivered")) : [];
      expect(about(findings, names)).toEqual(unknown.map((name) => `RD440 ${name}`).toSorted());
      const leftOut = findings.filter(({ code }) => code === "RD409").length;
      expect(leftOut, "topics and functions, where there are none").toBe(hasNoSns(emulator) ? 2 : 0);
    });

    test("finds what is wrong with queues that somebody made by hand", async ({ expect, onTestFinished }) => {
      const lab = createLab(emulator);
      onTestFinished(async () => lab.dispose());
      const tag = `audit-${randomUUID().slice(0, 8)}`;
      const create = async (name: string, attributes: QueueAttributes = {}): Promise<Queue> =>
        lab.createQueue(attributes, `${tag}-${name}`);
      const set = async (queue: Queue, Attributes: QueueAttributes): Promise<void> =>
        void (await lab.sqs.send(new SetQueueAttributesCommand({ QueueUrl: queue.url, Attributes })));
      const [alone, dead, gone] = await Promise.all([create("alone"), create("dead"), create("gone")]);
      await create("once", redrivePolicy(dead, 1));
      await create("seen", { ...redrivePolicy(dead, 5), VisibilityTimeout: "0" });
      await create("lost", redrivePolicy(gone, 5));
      const there = await create("there");
      const back = await create("back", redrivePolicy(there, 3));
      await set(there, redrivePolicy(back, 3));
      const buried = await create("buried");
      await set(dead, redrivePolicy(buried, 3));
      await lab.sqs.send(new DeleteQueueCommand({ QueueUrl: gone.url }));
      const names = ["alone", "dead", "once", "seen", "lost", "there", "back", "buried"].map(
        (each) => `${tag}-${each}`,
      );
      const found = about(await audit(emulator), names);
      const circle = [`${tag}-there`, `${tag}-back`].filter((name) => found.includes(`RD444 ${name}`));
      expect(circle, "a circle is told once, of the first of its queues").toHaveLength(1);
      expect(found).toEqual(
        expect.arrayContaining([
          `RD440 ${alone.name}`,
          `RD441 ${tag}-lost`,
          `RD445 ${dead.name}`,
          `RD446 ${tag}-once`,
          `RD460 ${tag}-seen`,
        ]),
      );
      expect(found.filter((each) => each.endsWith(buried.name))).toEqual([]);
    });

    test.runIf(!hasNoSns(emulator))("finds what is wrong with subscriptions", async ({ expect, onTestFinished }) => {
      const lab = createLab(emulator);
      onTestFinished(async () => lab.dispose());
      const [dead, topic] = await Promise.all([lab.createQueue(), lab.createTopic()]);
      const queue = await lab.createQueue(redrivePolicy(dead, 5));
      const subscribing = new SubscribeCommand({
        TopicArn: topic,
        Protocol: "sqs",
        Endpoint: queue.arn,
        ReturnSubscriptionArn: true,
      });
      const { SubscriptionArn } = await lab.sns.send(subscribing);
      const found = async (): Promise<readonly string[]> => about(await audit(emulator), [queue.name]);
      expect(await found()).toEqual([`RD448 ${queue.name}`, `RD456 ${queue.name}`, `RD457 ${queue.name}`]);
      const statement = {
        Effect: "Allow",
        Principal: { Service: "sns.amazonaws.com" },
        Action: "sqs:SendMessage",
        Resource: "*",
      };
      const Policy = JSON.stringify({ Version: "2012-10-17", Statement: [statement] });
      for (const { url } of [queue, dead])
        await lab.sqs.send(
          new SetQueueAttributesCommand({
            QueueUrl: url,
            Attributes: { Policy, MessageRetentionPeriod: url === queue.url ? "86400" : "1209600" },
          }),
        );
      await lab.sns.send(
        new SetSubscriptionAttributesCommand({
          SubscriptionArn,
          AttributeName: "RedrivePolicy",
          AttributeValue: JSON.stringify({ deadLetterTargetArn: dead.arn }),
        }),
      );
      expect(await found()).toEqual([]);
    });

    test.runIf(!hasNoSns(emulator))("finds what does not fit to a function", async ({ expect, onTestFinished }) => {
      const lab = createLab(emulator);
      onTestFinished(async () => lab.dispose());
      const dead = await lab.createQueue({ MessageRetentionPeriod: "1209600" });
      const queue = await lab.createQueue(redrivePolicy(dead, 3));
      await createFunction(emulator, queue, 60);
      expect(about(await audit(emulator), [queue.name])).toEqual([
        `RD447 ${queue.name}`,
        `RD450 ${queue.name}`,
        `RD462 ${queue.name}`,
      ]);
    });
  });
}

/** A function that is called with the messages of a queue; nothing runs. */
async function createFunction({ endpoint }: SqsEmulator, queue: Queue, timeoutSeconds: number): Promise<void> {
  const name = `audit-${randomUUID().slice(0, 8)}`;
  const trust = { Effect: "Allow", Principal: { Service: "lambda.amazonaws.com" }, Action: "sts:AssumeRole" };
  const role = await fetch(endpoint, {
    method: "POST",
    // moto tells the service by the scope of a signature that it does not check.
    headers: { authorization: `AWS4-HMAC-SHA256 Credential=test/20260101/${region}/iam/aws4_request` },
    body: new URLSearchParams({
      Action: "CreateRole",
      Version: "2010-05-08",
      RoleName: name,
      AssumeRolePolicyDocument: JSON.stringify({ Version: "2012-10-17", Statement: [trust] }),
    }),
  });
  if (!role.ok) throw new Error(`the role is refused: ${await role.text()}`);
  const lambda = new LambdaClient({ endpoint, region, credentials: { accessKeyId: "test", secretAccessKey: "test" } });
  try {
    await lambda.send(
      new CreateFunctionCommand({
        FunctionName: name,
        Role: `arn:aws:iam::${accountId}:role/${name}`,
        Runtime: "nodejs22.x",
        Handler: "index.handler",
        Timeout: timeoutSeconds,
        // An archive with nothing in it.
        Code: { ZipFile: Buffer.concat([Buffer.from("PK\u0005\u0006"), Buffer.alloc(18)]) },
      }),
    );
    await lambda.send(
      new CreateEventSourceMappingCommand({ FunctionName: name, EventSourceArn: queue.arn, BatchSize: 10 }),
    );
  } finally {
    lambda.destroy();
  }
}
