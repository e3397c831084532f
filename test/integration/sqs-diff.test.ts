import { randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import {
  ListSubscriptionsByTopicCommand,
  SetSubscriptionAttributesCommand,
  SubscribeCommand,
  UnsubscribeCommand,
} from "@aws-sdk/client-sns";
import { DeleteQueueCommand, GetQueueAttributesCommand, SetQueueAttributesCommand } from "@aws-sdk/client-sqs";
import fc from "fast-check";
import { beforeAll, describe, expect, test, vi } from "vitest";

import { run } from "../../src/cli/run.ts";
import { checkSystem } from "../../src/declare/check.ts";
import { compile, type SystemInput } from "../../src/index.ts";
import type { JudgedDifference } from "../../src/migrate/judge-drift.ts";
import { inTurn } from "../support/in-turn.ts";
import { anySqsDeclaration } from "../support/sqs-declarations.ts";
import { applyToEmulator } from "../support/sqs/apply.ts";
import { region } from "../support/sqs/clients.ts";
import { type DeployedSystem, deploy } from "../support/sqs/deployed-system.ts";
import type { SqsEmulator } from "../support/sqs/emulators.ts";
import { gapOf } from "../support/sqs/known-gaps.ts";
import { sqsEmulators } from "../support/sqs/live-emulators.ts";
import { registerSqs } from "../support/sqs/register.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder("diff");
// The SDK looks for credentials in the same places as the AWS CLI. Emulators accept any.
beforeAll(() => {
  vi.stubEnv("AWS_ACCESS_KEY_ID", "test");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "test");
});

interface Answer {
  readonly code: number;
  readonly differences: readonly JudgedDifference[];
  readonly diagnostics: readonly { readonly code: string; readonly message: string; readonly notes?: string[] }[];
}

async function diff({ endpoint }: SqsEmulator, declaration: unknown): Promise<Answer> {
  const [file, output] = [join(folder, `${randomUUID()}.json`), join(folder, randomUUID())];
  writeFileSync(file, JSON.stringify(declaration));
  const place = ["--url", `sqs:${region}`, "--endpoint", endpoint, "--target", `sqs@${region}`];
  const code = await run(["diff", file, ...place, "--json", "--output", output]);
  return { code, ...(JSON.parse(readFileSync(output, "utf8")) as Omit<Answer, "code">) };
}

const retry = { attempts: 3, backoff: { kind: "constant", delay: "20s" } };
const billing = { retry, handlerTimeout: "30s" };

/** ElasticMQ has neither topics nor functions. */
const lacksSns = (emulator: SqsEmulator): boolean => gapOf("topic-reaches-all", emulator.name) !== undefined;
const consumersOn = (emulator: SqsEmulator) => {
  return { billing: lacksSns(emulator) ? billing : { ...billing, from: { orders: ["order.placed", "order.late.#"] } } };
};

/**
 * Neither emulator shows a redrive-allow policy. ElasticMQ keeps no policy either, and moto forgets it when another
 * attribute is set. That is no difference of AWS.
 */
const isGap = ({ key, deployed }: JudgedDifference["settings"][number]): boolean =>
  key === "RedriveAllowPolicy" || (key === "Policy" && deployed === "none");
const told = ({ differences }: Answer): readonly JudgedDifference[] =>
  differences.filter(({ change, settings }) => change !== "different" || !settings.every(isGap));

/** ElasticMQ shows neither topics nor functions, so the comparison stays incomplete there. */
const codeOn = (emulator: SqsEmulator, { differences }: Answer): number =>
  lacksSns(emulator) ? 3 : differences.length === 0 ? 0 : 1;

interface Drift {
  readonly change: (system: DeployedSystem) => Promise<unknown>;
  readonly found: readonly (readonly [JudgedDifference["effect"], JudgedDifference["change"], string])[];
}

const setQueue = async ({ lab }: DeployedSystem, QueueUrl: string, changed: Record<string, string>) => {
  const asked = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["All"] });
  const { Policy } = (await lab.sqs.send(asked)).Attributes ?? {};
  const Attributes = { ...(Policy === undefined ? {} : { Policy }), ...changed };
  return lab.sqs.send(new SetQueueAttributesCommand({ QueueUrl, Attributes }));
};

async function subscriptionOf({ lab, applied }: DeployedSystem): Promise<string> {
  const [TopicArn] = applied.topics.values();
  const { Subscriptions: [own] = [] } = await lab.sns.send(new ListSubscriptionsByTopicCommand({ TopicArn }));
  return own?.SubscriptionArn ?? "";
}

const setSubscription = async (system: DeployedSystem, AttributeName: string, AttributeValue: string) => {
  const SubscriptionArn = await subscriptionOf(system);
  return system.lab.sns.send(new SetSubscriptionAttributesCommand({ SubscriptionArn, AttributeName, AttributeValue }));
};

const tlsOnly = (Resource: string) => ({
  Sid: "TlsOnly",
  Effect: "Deny",
  Principal: "*",
  Action: "sqs:*",
  Resource,
  Condition: { Bool: { "aws:SecureTransport": "false" } },
});

const drifts: Readonly<Record<string, Drift>> = {
  nothing: { change: async () => {}, found: [] },
  "a deleted dead queue": {
    change: async ({ lab, dead }) => lab.sqs.send(new DeleteQueueCommand({ QueueUrl: dead("billing").url })),
    found: [["loss", "missing", "billing-dead"]],
  },
  "one receive more": {
    change: async (system) =>
      setQueue(system, system.work("billing").url, {
        RedrivePolicy: JSON.stringify({ deadLetterTargetArn: system.dead("billing").arn, maxReceiveCount: "4" }),
      }),
    found: [["otherwise", "different", "billing"]],
  },
  "a visibility timeout below the handler's": {
    change: async (system) => setQueue(system, system.work("billing").url, { VisibilityTimeout: "10" }),
    found: [["otherwise", "different", "billing"]],
  },
  "a delay, which no promise counts": {
    change: async (system) => setQueue(system, system.dead("billing").url, { DelaySeconds: "5" }),
    found: [["harmless", "different", "billing-dead"]],
  },
};

/** ElasticMQ has no SNS, refuses an empty redrive policy, and does not show the retention. */
const driftsOnMoto: Readonly<Record<string, Drift>> = {
  "no redrive policy": {
    change: async (system) => setQueue(system, system.work("billing").url, { RedrivePolicy: "" }),
    found: [["loss", "different", "billing"]],
  },
  "a dead queue that keeps nothing for long": {
    change: async (system) => setQueue(system, system.dead("billing").url, { MessageRetentionPeriod: "3600" }),
    found: [["loss", "different", "billing-dead"]],
  },
  "a policy without the topic": {
    change: async (system) =>
      setQueue(system, system.work("billing").url, {
        Policy: JSON.stringify({ Version: "2012-10-17", Statement: [tlsOnly(system.work("billing").arn)] }),
      }),
    found: [["loss", "different", "billing"]],
  },
  "a deleted subscription": {
    change: async (system) => {
      const SubscriptionArn = await subscriptionOf(system);
      return system.lab.sns.send(new UnsubscribeCommand({ SubscriptionArn }));
    },
    found: [["loss", "missing", "orders to"]],
  },
  "a filter with a key less": {
    change: async (system) => setSubscription(system, "FilterPolicy", '{"routing-key":["order.placed"]}'),
    found: [["loss", "different", "orders to"]],
  },
  "a filter with a key more": {
    change: async (system) =>
      setSubscription(
        system,
        "FilterPolicy",
        '{"routing-key":["order.placed",{"prefix":"order.late."},"order.late","a"]}',
      ),
    found: [["otherwise", "different", "orders to"]],
  },
  "envelopes of SNS": {
    change: async (system) => setSubscription(system, "RawMessageDelivery", "false"),
    found: [["otherwise", "different", "orders to"]],
  },
  "a subscription to another topic": {
    change: async (system) => {
      const TopicArn = await system.lab.createTopic();
      const Endpoint = system.work("billing").arn;
      return system.lab.sns.send(new SubscribeCommand({ TopicArn, Protocol: "sqs", Endpoint }));
    },
    found: [["otherwise", "extra", "billing"]],
  },
  "a queue of another team on the topic": {
    change: async ({ lab, applied }) => {
      const [TopicArn] = applied.topics.values();
      const { arn } = await lab.createQueue();
      return lab.sns.send(new SubscribeCommand({ TopicArn, Protocol: "sqs", Endpoint: arn }));
    },
    found: [],
  },
};

for (const emulator of sqsEmulators()) {
  describe.concurrent(`diff on ${emulator.name} ${emulator.version}`, { timeout: 120_000 }, () => {
    test.for(Object.entries({ ...drifts, ...(lacksSns(emulator) ? {} : driftsOnMoto) }))(
      "%s",
      async ([, { change, found }], { onTestFinished }) => {
        const consumers = consumersOn(emulator);
        const system = await deploy(emulator, consumers);
        onTestFinished(system.dispose);
        await change(system);
        const answer = await diff(emulator, {
          name: system.declared.name,
          sources: system.declared.sources,
          consumers,
        });
        expect(told(answer).map((each) => [each.effect, each.change, each.name])).toEqual(
          found.map(([effect, kind, name]) => [effect, kind, expect.stringContaining(name)]),
        );
        expect(answer.code).toBe(codeOn(emulator, answer));
      },
    );

    test(
      "whatever compiles, applied and read back, is no difference",
      { timeout: 400_000 },
      async ({ onTestFinished }) => {
        const target = { broker: "sqs", region, strategy: "auto" } as const;
        let compiledCount = 0;
        for (const drawn of fc.sample(anySqsDeclaration, { numRuns: 24, seed: 11 })) {
          const declaration = { ...(drawn as object), name: `t${randomUUID().slice(0, 8)}` };
          const system = checkSystem(declaration as SystemInput);
          if (!system.ok || !compile(system.value, target).ok) continue;
          compiledCount += 1;
          const { resources } = await inTurn(async () => registerSqs(system.value, target));
          const applied = await applyToEmulator(emulator, resources);
          onTestFinished(applied.dispose);
          const answer = await diff(emulator, declaration);
          expect(told(answer), JSON.stringify(declaration)).toEqual([]);
          expect(answer.code).toBe(codeOn(emulator, answer));
        }
        expect(compiledCount).toBeGreaterThan(3);
      },
    );
  });
}
