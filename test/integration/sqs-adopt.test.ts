import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { SubscribeCommand } from "@aws-sdk/client-sns";
import { beforeAll, describe, test, vi } from "vitest";

import { run } from "../../src/cli/run.ts";
import { parseText } from "../../src/declare/parse.ts";
import type { ImportEntry } from "../../src/adopt/found.ts";
import { until } from "../support/deployed-system.ts";
import { checked } from "../support/examples.ts";
import { inTurn } from "../support/in-turn.ts";
import { type AdoptedShape, adoptedShapes } from "../support/sqs/adopted-shapes.ts";
import { applyToEmulator } from "../support/sqs/apply.ts";
import { accountId, region } from "../support/sqs/clients.ts";
import { attributes } from "../support/sqs/deployed-system.ts";
import { drive } from "../support/sqs/drive.ts";
import type { SqsEmulator } from "../support/sqs/emulators.ts";
import { gapOf } from "../support/sqs/known-gaps.ts";
import { createLab, type Lab, type Queue } from "../support/sqs/lab.ts";
import { sqsEmulators } from "../support/sqs/live-emulators.ts";
import { compileSqs, registerSqs } from "../support/sqs/register.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

// Queues and topics that Redeliver did not make, with messages in them. Each shape is adopted, and the compiled
// declaration is deployed over it: imported resources are changed in place. Then consumers take every message.

const folder = temporaryFolder("sqs-adopt");
beforeAll(() => {
  vi.stubEnv("AWS_ACCESS_KEY_ID", "test");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "test");
});

const each = 6;
const target = { broker: "sqs", region } as const;
// Every filter of the shapes takes such a message.
const routed = attributes({ "routing-key": "order.placed", type: "signed-up" });

/** Creates a shape under names of its own. */
async function create(lab: Lab, { queues, subscriptions = [] }: AdoptedShape, prefix: string) {
  const made = new Map<string, Queue>();
  const arn = (name: string): string => `arn:aws:sqs:${region}:${accountId}:${prefix}${name}`;
  // A redrive policy names a queue that exists.
  const inOrder = Object.entries(queues).toSorted(([, a], [, b]) => Number("dead" in a) - Number("dead" in b));
  for (const [name, { dead, ...given }] of inOrder) {
    const [maxReceiveCount = "", queue = ""] = dead?.split(" ") ?? [];
    const redrive = JSON.stringify({ deadLetterTargetArn: arn(queue), maxReceiveCount });
    const all = { ...given, ...(dead === undefined ? {} : { RedrivePolicy: redrive }) };
    made.set(name, await lab.createQueue(all, `${prefix}${name}`));
  }
  const topics = new Map<string, string>();
  for (const { topic, queue, attributes: Attributes } of subscriptions) {
    const TopicArn = topics.get(topic) ?? (await lab.createTopic());
    topics.set(topic, TopicArn);
    await lab.sns.send(new SubscribeCommand({ TopicArn, Protocol: "sqs", Endpoint: made.get(queue)?.arn, Attributes }));
  }
  return { made, topics };
}

describe.for(sqsEmulators())("$name", { concurrent: true, timeout: 240_000 }, (emulator: SqsEmulator) => {
  const hasTopics = gapOf("topic-reaches-all", emulator.name) === undefined;
  const shapes = Object.entries(adoptedShapes(2)).filter(([, shape]) => hasTopics || shape.subscriptions === undefined);
  test.for(shapes)(
    "%s: every name stays, and no message is lost",
    async ([name, shape], { expect, onTestFinished }) => {
      const lab = createLab(emulator);
      onTestFinished(lab.dispose);
      const prefix = `t${randomUUID().slice(0, 6)}-`;
      const { made, topics } = await create(lab, shape, prefix);
      const bodies: string[] = [];
      const send = async (queue: string, body: string): Promise<void> => {
        bodies.push(body);
        const fifo = queue.endsWith(".fifo")
          ? { MessageGroupId: body.replace(" ", "-"), MessageDeduplicationId: body.replace(" ", "-") }
          : {};
        await lab.send(made.get(queue) as Queue, body, { MessageAttributes: routed, ...fifo });
      };
      for (const queue of made.keys()) for (let at = 0; at < each; at++) await send(queue, `${queue} ${at}`);

      const [output, importFile] = [join(folder, `${prefix}.yaml`), join(folder, `${prefix}.json`)];
      const work = Object.keys(shape.consumers).map((queue) => `${prefix}${queue}`);
      const chosen = work.flatMap((queue) => ["--queue", queue]);
      const place = ["--url", `sqs:${region}`, "--endpoint", emulator.endpoint];
      const words = ["adopt", ...place, "--name", "adopted", ...chosen, "--output", output, "--import", importFile];
      // Without SNS the subscriptions are not read, and the exit code says that a part is missing.
      expect(await run(words)).toBe(hasTopics ? 0 : 3);
      expect(await run(words), "nothing is overwritten").toBe(2);
      const parsed = parseText(readFileSync(output, "utf8"), "yaml");
      const system = checked(parsed.ok ? parsed.value : null);
      const used = { ...target, ...shape.options };
      const compiled = compileSqs(system, used);
      const { resources } = JSON.parse(readFileSync(importFile, "utf8")) as { resources: readonly ImportEntry[] };
      const imported = new Set(
        resources.map(({ type, logicalName }) => `${type} ${logicalName?.replace(/^adopted-/, "shop-")}`),
      );
      const registered = await inTurn(async () => registerSqs(system, used));
      const applied = await applyToEmulator(emulator, registered.resources, undefined, imported);
      onTestFinished(applied.dispose);

      const [roles, deadBefore] = [new Map<string, string>(), new Set<string>()];
      for (const { workQueue, deadQueue, attempts } of compiled.contracts) {
        roles.set(workQueue.slice(prefix.length), `${attempts.length} ${deadQueue.slice(prefix.length)}`);
        deadBefore.add(deadQueue);
      }
      const wanted = Object.entries(shape.consumers).map(([queue, [attempts, , , dead]]) => [
        queue,
        `${attempts} ${dead}`,
      ]);
      expect(Object.fromEntries(roles)).toEqual(Object.fromEntries(wanted));

      // Messages that come through the topics after the deployment.
      for (const [topic, arn] of topics) {
        for (const { queue } of shape.subscriptions?.filter((one) => one.topic === topic) ?? [])
          bodies.push(`${queue} late`);
        await lab.publish(arn, `late`, routed);
      }
      const found: string[] = [];
      const consumers = compiled.contracts.map((contract) => {
        const queue = contract.workQueue.slice(prefix.length);
        const fails = (body: string): boolean => /[135]$/.test(body);
        const driven = drive({
          sqs: lab.sqs,
          queues: applied.queues,
          contract,
          decide: ({ body }) => {
            if (fails(body)) return "transient";
            found.push(body === "late" ? `${queue} late` : body);
            return "success";
          },
        });
        return { driven, queue };
      });
      const ends = new Set([...[...made.values()].map((one) => one.name), ...deadBefore]);
      const dead = [...ends].filter((one) => !work.includes(one));
      await until(120_000, async () => {
        for (const { driven } of consumers) await driven.poll();
        for (const one of dead) {
          const queue = applied.queues.get(one) ?? (made.get(one.slice(prefix.length)) as Queue);
          for (const message of await lab.receive(queue, { max: 10 })) {
            found.push(message.Body ?? "");
            await lab.deleteMessage(queue, message);
          }
        }
        return bodies.every((body) => found.includes(body));
      }).catch(() => undefined);
      expect(found.toSorted(), name).toEqual(bodies.toSorted());
    },
  );
});
