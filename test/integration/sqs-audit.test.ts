import { randomUUID } from "node:crypto";

import { SetSubscriptionAttributesCommand, SubscribeCommand } from "@aws-sdk/client-sns";
import { DeleteQueueCommand, SetQueueAttributesCommand } from "@aws-sdk/client-sqs";
import { beforeAll, describe, expect, test, vi } from "vitest";

import { brokers } from "../../src/brokers/index.ts";
import type { Diagnostic } from "../../src/index.ts";
import { region } from "../support/sqs/clients.ts";
import { createFunction } from "../support/sqs/create-function.ts";
import { deploy } from "../support/sqs/deployed-system.ts";
import type { SqsEmulator } from "../support/sqs/emulators.ts";
import { gapOf } from "../support/sqs/known-gaps.ts";
import { createLab, type Queue, type QueueAttributes, redrivePolicy } from "../support/sqs/lab.ts";
import { sqsEmulators } from "../support/sqs/live-emulators.ts";

const { auditor } = brokers.sqs;

// The SDK looks for credentials in the same places as the AWS CLI. Emulators accept any.
beforeAll(() => {
  vi.stubEnv("AWS_ACCESS_KEY_ID", "test");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "test");
});

/** The audit reads everything on the emulator, and other tests have queues there too. */
async function audit({ endpoint }: SqsEmulator): Promise<readonly Diagnostic[]> {
  const read = await auditor.live.read(region, endpoint, {});
  if (!read.ok) throw new Error(JSON.stringify(read.diagnostics));
  const target = { broker: "sqs", region, strategy: "auto" } as const;
  return [...read.warnings, ...auditor.audit(read.value, target, null)];
}

/** The findings about the queues of a test, also those that name several queues. */
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
    test("finds nothing in the program's deployment", async ({ onTestFinished }) => {
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
      // ElasticMQ keeps no policy of a queue. Without it the audit cannot see that the queue may be a subscription's
      // dead-letter queue.
      const unknown = hasNoSns(emulator) ? names.filter((name) => name.endsWith("-undelivered")) : [];
      expect(about(findings, names)).toEqual(unknown.map((name) => `RD415 ${name}`).toSorted());
      const leftOut = findings.filter(({ code }) => code === "RD409").length;
      expect(leftOut, "topics and functions, where there are none").toBe(hasNoSns(emulator) ? 2 : 0);
    });

    test("finds the faults of queues made by hand", async ({ onTestFinished }) => {
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
          `RD415 ${alone.name}`,
          `RD411 ${tag}-lost`,
          `RD445 ${dead.name}`,
          `RD446 ${tag}-once`,
          `RD460 ${tag}-seen`,
        ]),
      );
      expect(found.filter((each) => each.endsWith(buried.name))).toEqual([]);
    });

    test.runIf(!hasNoSns(emulator))("finds the faults of subscriptions", async ({ onTestFinished }) => {
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

    test.runIf(!hasNoSns(emulator))(
      "finds settings that do not fit the Lambda function",
      async ({ onTestFinished }) => {
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
      },
    );
  });
}
