import type { Contract } from "../operations.ts";
import type { Client } from "./client.ts";
import { javaErrors, javaIsPermanent, javaSettling, withImports } from "./java.ts";

type RabbitmqContract = Extract<Contract, { readonly protocol: "amqp-0-9-1" | "amqp-1.0" }>;
type Operation = Extract<RabbitmqContract["outcomes"]["transient"], readonly unknown[]>[number];
type Modified = Extract<Operation, { readonly operation: "modified" }>;

/** RabbitMQ's own client of AMQP 1.0 for Java. */
export function amqpClientJava(contract: RabbitmqContract): Client {
  return {
    title: "Java, RabbitMQ's AMQP 1.0 client",
    evidence: "Run by Redeliver's tests with com.rabbitmq.client:amqp-client 1.5 against live RabbitMQ 4.3.",
    text: [
      "One message at a time. `delayedRetry` needs version 1.3 or later, and its `true`: without it the failure is not counted, and the message comes back for ever. It connects again by itself. `close` waits for the handler that runs, and hands back what has not begun: call it at a shutdown. It ends no handler that takes too long: give what the handler calls a timeout of its own.",
    ],
    code: [{ language: "java", text: classOf(contract) }],
  };
}

/** What other clients call what the table names. */
export const anyAmqp10: Client = {
  title: "Any other client of AMQP 1.0",
  evidence: "Nothing was run.",
  text: [
    "Send the outcome of the table with each disposition; `x-opt-delivery-time` is a message annotation of the outcome `modified`, as a timestamp or as a long of milliseconds. Clients of AMQP 0-9-1 cannot say it: for them choose another strategy.",
  ],
};

function classOf(contract: RabbitmqContract): string {
  const text = `public class MessageConsumer implements AutoCloseable {
    public interface Handler {
        void handle(byte[] body, int attempt) throws Exception;
    }

${javaErrors(contract)}

    private final Handler handler;
    private final Environment environment;
    private final Consumer consumer;
    private volatile boolean stopping = false;

    public MessageConsumer(String uri, Handler handler) {
        this.handler = handler;
        environment = new AmqpEnvironmentBuilder().build();
        consumer = environment.connectionBuilder().uri(uri).build().consumerBuilder()
                .queue(${JSON.stringify(contract.workQueue)})
                .initialCredits(1)
                .messageHandler(this::onMessage)
                .build();
    }

    void onMessage(Consumer.Context context, Message message) {
        if (stopping) {
            context.requeue();
            return;
        }
        int attempt = (int) message.deliveryCount() + 1;
${javaSettling<Operation>(contract, "message.body()", statementOf)}
    }

    @Override
    public void close() {
        stopping = true;
        try {
            consumer.pause();
            while (consumer.unsettledMessageCount() > 0) Thread.sleep(50);
        } catch (AmqpException | InterruptedException lost) {
            // The broker gives again what is not settled.
        }
        environment.close();
    }

${javaIsPermanent(contract)}
}`;
  return withImports(text, imports);
}

const imports = [
  "com.rabbitmq.client.amqp.AmqpException",
  "com.rabbitmq.client.amqp.Consumer",
  "com.rabbitmq.client.amqp.Environment",
  "com.rabbitmq.client.amqp.Message",
  "com.rabbitmq.client.amqp.impl.AmqpEnvironmentBuilder",
  "java.time.Duration",
  "java.util.Map",
  "java.util.Set",
  "java.util.concurrent.ThreadLocalRandom",
];

function statementOf(operation: Operation): string {
  switch (operation.operation) {
    case "accepted":
      return "context.accept();";
    case "released":
      return "context.requeue();";
    case "modified":
      return modifiedOf(operation);
    case "basic.ack":
    case "basic.nack":
    case "basic.reject":
    case "basic.publish":
      throw new Error(`${operation.operation} is no outcome of AMQP 1.0`);
    default:
      return operation satisfies never;
  }
}

/** `discard` says delivery-failed, too. Source: `AmqpConsumer.java`, `DeliveryContext`. */
function modifiedOf({ deliveryFailed, undeliverableHere, deliveryTimeMs, messageAnnotations = {} }: Modified): string {
  if (undeliverableHere) {
    const annotations = Object.entries(messageAnnotations).flat();
    return `context.discard(Map.of(${annotations.map((each) => JSON.stringify(each)).join(", ")}));`;
  }
  if (deliveryTimeMs === undefined) return `context.requeue(Map.of(), ${deliveryFailed});`;
  return `context.delayedRetry(Duration.ofMillis(${delayOf(deliveryTimeMs)}), ${deliveryFailed});`;
}

function delayOf(wanted: NonNullable<Modified["deliveryTimeMs"]>): string {
  if (wanted === "asked") return "asked.delayMs";
  const { from, to } = wanted;
  return from === to ? String(from) : `ThreadLocalRandom.current().nextLong(${from}L, ${to + 1}L)`;
}
