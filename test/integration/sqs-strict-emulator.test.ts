import { CloudFormationClient, CreateStackCommand } from "@aws-sdk/client-cloudformation";
import { SubscribeCommand } from "@aws-sdk/client-sns";
import { describe, expect, onTestFinished, test } from "vitest";

import { brokers } from "../../src/index.ts";
import { checked, oneConsumer } from "../support/examples.ts";
import { clientSettings, region } from "../support/sqs/clients.ts";
import { limits } from "../support/sqs/documented-limits.ts";
import type { SqsEmulator } from "../support/sqs/emulators.ts";
import { answerTo, createLab, type Lab, redrivePolicy } from "../support/sqs/lab.ts";
import { claims, gapOf } from "../support/sqs/known-gaps.ts";
import { sqsEmulators } from "../support/sqs/live-emulators.ts";
import { refusalExperiments } from "../support/sqs/refusal-experiments.ts";
import { compileSqs } from "../support/sqs/register.ts";
import { startStrictly } from "../support/sqs/strict-emulator.ts";
import { topicExperiments } from "../support/sqs/topic-experiments.ts";

// The tests deploy through a proxy that makes the refusals that AWS documents. These tests show that the proxy refuses
// it and that the emulator behind it does not. When the emulator begins to refuse it, the limit can leave the table.

const experiments = { ...refusalExperiments, ...topicExperiments };
/** The claims that the proxy makes true. The others need more than one call. */
const closed = [
  "attempts-zero",
  "attempts-1001",
  "standard-to-fifo",
  "queue-visibility-43201",
  "queue-delay-901",
  "retention-59",
  "retention-15-days",
  "topic-raw-attributes",
] as const;

async function strictLab(emulator: SqsEmulator): Promise<Lab> {
  const strict = await startStrictly(emulator);
  const lab = createLab(strict);
  onTestFinished(async () => {
    await lab.dispose();
    await strict.stop();
  });
  return lab;
}

describe.each(sqsEmulators().filter(({ name }) => name === "moto"))("$name $version behind the proxy", (emulator) => {
  test.each(closed)("%s: the proxy answers as AWS does", async (name) => {
    expect(gapOf(name, "moto")).toBeDefined();
    expect(await experiments[name](await strictLab(emulator))).toEqual(claims[name].aws);
  });

  test.each(limits.filter(({ of }) => of === "queue").slice(0, 5))(
    "$what of a queue is from $least to $most",
    async ({ what, least, most }) => {
      const lab = await strictLab(emulator);
      const answers = [least - 1, least, most, most + 1].map(async (value) =>
        answerTo(lab.createQueue({ [what]: String(value) })),
      );
      expect(await Promise.all(answers)).toEqual(["refused", "accepted", "accepted", "refused"]);
    },
  );

  test("maxReceiveCount is from 1 to 1000", async () => {
    const lab = await strictLab(emulator);
    const dead = await lab.createQueue();
    const answers = [0, 1, 1_000, 1_001].map(async (count) => answerTo(lab.createQueue(redrivePolicy(dead, count))));
    expect(await Promise.all(answers)).toEqual(["refused", "accepted", "accepted", "refused"]);
  });

  test("a policy has 20 statements and 8,192 bytes at most", async () => {
    const lab = await strictLab(emulator);
    const policy = (statements: number, bytes: number): string => {
      const statement = { Effect: "Allow", Principal: "*", Action: "sqs:SendMessage", Resource: "*" };
      const text = JSON.stringify({
        Version: "2012-10-17",
        Id: "",
        Statement: Array.from({ length: statements }, () => statement),
      });
      return text.replace('"Id":""', `"Id":"${"x".repeat(Math.max(0, bytes - text.length))}"`);
    };
    const answerFor = async (Policy: string): Promise<string> => answerTo(lab.createQueue({ Policy }));
    expect(await answerFor(policy(20, 8_192))).toBe("accepted");
    expect(await answerFor(policy(21, 0))).toBe("refused");
    expect(await answerFor(policy(1, 8_193))).toBe("refused");
  });

  test("a filter policy has 5 keys and 150 combinations at most, and a message 262,144 bytes", async () => {
    const lab = await strictLab(emulator);
    const topicArn = await lab.createTopic();
    const { arn } = await lab.createQueue();
    const answerFor = async (policy: object): Promise<string> =>
      answerTo(
        lab.sns.send(
          new SubscribeCommand({
            TopicArn: topicArn,
            Protocol: "sqs",
            Endpoint: arn,
            Attributes: { RawMessageDelivery: "true", FilterPolicy: JSON.stringify(policy) },
          }),
        ),
      );
    const values = (count: number): string[] => Array.from({ length: count }, (_, index) => `value-${index}`);
    const keys = (count: number): object => Object.fromEntries(values(count).map((key) => [key, ["any"]]));
    expect(await answerFor({ first: values(10), second: values(16) })).toBe("refused");
    expect(await answerFor(keys(6))).toBe("refused");
    expect(await answerFor(keys(5))).toBe("accepted");
    expect(await answerTo(lab.publish(topicArn, "x".repeat(262_145)))).toBe("refused");
    expect(await answerTo(lab.publish(topicArn, "x".repeat(262_144)))).toBe("accepted");
  });

  test("the parts of a template are checked, too, even if the emulator does not make them", async () => {
    const strict = await startStrictly(emulator);
    const client = new CloudFormationClient(clientSettings(strict.endpoint));
    onTestFinished(async () => {
      client.destroy();
      await strict.stop();
    });
    const answerFor = async (TemplateBody: string): Promise<string> =>
      answerTo(client.send(new CreateStackCommand({ StackName: "refused", TemplateBody })));
    const system = checked(oneConsumer({ handlerTimeout: "10s" }));
    const template = JSON.stringify(
      brokers.sqs.exportFormats["aws-json"]?.(compileSqs(system, { broker: "sqs", region }), null),
    );
    const broken = [
      template.replace(/"VisibilityTimeout":\d+/, '"VisibilityTimeout":43201'),
      template.replace(/"maxReceiveCount":\d+/, '"maxReceiveCount":1001'),
      template.replace(/"FilterPolicy":\{"routing-key":\[/, (found) => found + '"any",'.repeat(150)),
      template.replace(/"Sid":"TlsOnly"/, `"Sid":"${"x".repeat(8_192)}"`),
      template.replace('"Description":"', `"Description":"${"x".repeat(51_200)}`),
    ];
    expect(broken).not.toContain(template);
    expect(await Promise.all(broken.map(answerFor))).toEqual(broken.map(() => "refused"));
  });
});
