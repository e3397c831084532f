import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import amqplib from "amqplib";
import { expect, onTestFinished, test } from "vitest";

import { motoPython } from "../../scripts/sqs-emulators.mjs";
import { until } from "../support/deployed-system.ts";
import { brokers, createVhost } from "../support/live.ts";

// Shows the claims of the contract page about Celery's own retry on one broker. Its queue has a dead queue, like a work
// queue.
const program = `
import os, signal
from celery import Celery
from kombu import Queue

app = Celery("tasks", broker=os.environ["AMQP_URL"])
dead = {"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead"}
app.conf.update(
    worker_enable_remote_control=False,
    task_default_queue="tasks",
    task_queues=[Queue("tasks", queue_arguments={"x-queue-type": "quorum", **dead})],
)

@app.task(bind=True, max_retries=2)
def failing(self):
    os.write(2, f"failing {self.request.retries} {self.request.delivery_info['redelivered']}\\n".encode())
    raise self.retry(countdown=0, exc=OSError("down"))

@app.task
def crashing():
    os.kill(os.getpid(), signal.SIGKILL)
`;
import { temporaryFolder } from "../support/temporary-folder.ts";

test("Celery's own retry publishes a new message each time and acknowledges the last failure, and a crash loses the task", async () => {
  const [broker] = brokers();
  if (broker === undefined) throw new Error("there is no broker");
  const { amqpUrl, dispose } = await createVhost(broker);
  onTestFinished(dispose);
  const connection = await amqplib.connect(amqpUrl);
  onTestFinished(async () => connection.close());
  const channel = await connection.createChannel();
  await channel.assertQueue("dead");
  const folder = temporaryFolder("celery", onTestFinished);
  writeFileSync(join(folder, "tasks.py"), program);

  let log = "";
  const python = (...words: readonly string[]) => {
    const child = spawn(motoPython, words, { cwd: folder, env: { ...process.env, AMQP_URL: amqpUrl } });
    child.stderr.on("data", (chunk: Buffer) => (log += chunk.toString()));
    onTestFinished(() => void child.kill("SIGKILL"));
    return child;
  };
  const send = async (task: string): Promise<void> => {
    await once(python("-c", `import tasks; tasks.${task}.delay()`), "close");
  };
  const worker = python(
    "-m",
    "celery",
    "-A",
    "tasks",
    "worker",
    "--concurrency",
    "1",
    "--without-gossip",
    "--without-mingle",
  );
  const ended = once(worker, "close");
  await send("failing");
  const runs = (): readonly string[] => log.match(/failing \d (True|False)/g) ?? [];
  await until(60_000, () => runs().length === 3);
  // Celery counts attempts in the message. For the broker each attempt is a first delivery.
  expect(runs()).toEqual(["failing 0 False", "failing 1 False", "failing 2 False"]);

  await send("crashing");
  await until(60_000, () => log.includes("WorkerLostError"));
  worker.kill("SIGTERM");
  await ended;
  // The broker would requeue any unacknowledged message when it ends the worker's consumer.
  await until(30_000, async () => (await channel.checkQueue("tasks")).consumerCount === 0);
  expect((await channel.checkQueue("tasks")).messageCount).toBe(0);
  expect((await channel.checkQueue("dead")).messageCount).toBe(0);
});
