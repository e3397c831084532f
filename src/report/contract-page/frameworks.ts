import type { Client } from "./client.ts";
import { massTransitOnRabbitmq, massTransitOnServicebus, massTransitOnSqs } from "./masstransit.ts";

// What is said of Celery was read in its sources of August 2026; each claim names the file in the package that it rests on.

const celery =
  "What is said of Celery's own retry was read in the sources of Celery and kombu, and in part seen on RabbitMQ; the code is run by Redeliver's tests with Celery 5.7.";

/** Celery's task, run in the process of the plain client. @param main what starts that */
function celeryCode(main: string): NonNullable<Client["code"]> {
  const text = `${main.includes("os.") ? "import os\n\n" : ""}from celery import Celery

import consumer

app = Celery("tasks")


@app.task
def work(body, attempt):
    raise NotImplementedError("your code")


def handle(body, attempt):
    work.apply(args=(body, attempt), throw=True)


consumer.handle = handle

if __name__ == "__main__":
    ${main}`;
  return [{ language: "python", text }];
}

/** Frameworks with retries and topologies of their own, which cannot keep a contract on RabbitMQ. */
export const rabbitmqFrameworks: readonly Client[] = [
  massTransitOnRabbitmq,
  {
    title: "Python, Celery",
    evidence: celery,
    text: [
      // `celery/app/task.py`, `retry`: `apply_async` with `retries + 1`. `celery/worker/request.py`: `acknowledge` before the task runs, or
      // with `acks_late` in `on_retry`. `celery/app/defaults.py`: `acks_late` is off. `celery/app/base.py`, `send_task`, and
      // `kombu/transport/native_delayed_delivery.py`: the queues `celery_delayed_0` to `27`. Confirms: `docs/userguide/configuration.rst`.
      "Celery's own retry cannot keep this contract: `self.retry()` publishes a new task, with a count of its own, without waiting for a confirm unless `confirm_publish` is set, and where there are quorum queues through delay queues of its own. The old one is acknowledged, by default before it even runs (`acks_late` is off), so a crash of the process that runs it loses it. Its messages have a form of their own, too.",
      // `celery/app/task.py`, `retry`: "if task was executed eagerly using apply(), then the retry must also be executed eagerly".
      "Read this queue with the snippet for pika, as `consumer.py`, in a process of its own, and let it run the task: `apply` does not leave the process, and what the task raises is the handler's. A `self.retry()` in it, or `autoretry_for`, would run it again at once, without a delay, so let it raise instead.",
    ],
    code: celeryCode('consumer.main(os.environ["AMQP_URL"])'),
  },
];

/** The same on Amazon SQS. */
export const sqsFrameworks: readonly Client[] = [
  massTransitOnSqs,
  {
    title: "Python, Celery",
    evidence: celery,
    text: [
      // `celery/app/task.py`, `retry`, as above. Tasks that are due later: `celery/worker/strategy.py`, `task_message_handler`, `apply_eta_task`.
      "Celery's own retry cannot keep this contract: `self.retry()` sends a new message, whose receives begin at one again, so SQS never comes to the end of its count; and a task that is due later is held in memory while its visibility timeout runs out.",
      "Read this queue with the snippet for boto3, as `consumer.py`, in a process of its own, and let it run the task: `apply` does not leave the process, and what the task raises is the handler's. Let the task raise where it would retry.",
    ],
    code: celeryCode("consumer.main()"),
  },
];

/** The same on Azure Service Bus. */
export const servicebusFrameworks: readonly Client[] = [massTransitOnServicebus];
