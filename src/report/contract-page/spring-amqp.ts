import { waysOf } from "../../brokers/contract.ts";
import { formatDurationMs } from "../../declare/duration.ts";
import type { Contract } from "../operations.ts";
import type { Client } from "./client.ts";
import { everyOperation, javaErrors, javaIsPermanent, javaSettling, withImports } from "./java.ts";

type RabbitmqContract = Extract<Contract, { readonly protocol: "amqp-0-9-1" | "amqp-1.0" }>;
type Outcome = RabbitmqContract["outcomes"]["transient"];
type Operation = Extract<Outcome, readonly unknown[]>[number];

/** Without the first three a copy that the broker does not take would be lost; `prefetch` is for a shutdown. */
const settings = `spring:
  rabbitmq:
    publisher-confirm-type: correlated
    publisher-returns: true
    template:
      mandatory: true
    listener:
      simple:
        prefetch: 1`;

/** Spring AMQP with acknowledgements by hand; its own retry and its error handlers would do something else. */
export function springAmqp(contract: RabbitmqContract): Client {
  return {
    title: "Java, Spring AMQP",
    evidence:
      "Run by Redeliver's tests with Spring AMQP 4.1 (Spring Boot 4.1) against live RabbitMQ, with every strategy that speaks AMQP 0-9-1.",
    text: [
      "Give it a bean of its interface `Handler`, which is your code, and put these settings into `application.yaml`. A copy that the broker returns or refuses closes the channel after 5 s: nothing is acknowledged before its copy is safe, and the message comes back when the container opens another channel, which it does at once. To the broker that is a crash, and counts as one. It ends no handler that takes too long: give what the handler calls a timeout of its own.",
      "Leave `spring.rabbitmq.listener.simple.retry` off: it repeats in memory, and the broker counts nothing. Without manual acknowledgements the container gives every failed message back to the queue (`defaultRequeueRejected`), which is the operation for *return*. Spring adds headers of its own to a copy: `spring_returned_message_correlation`, `spring_listener_return_correlation`, and `retry-count`, which is not the number of the attempt.",
    ],
    code: [
      { language: "yaml", text: settings },
      { language: "java", text: classOf(contract) },
    ],
  };
}

function classOf(contract: RabbitmqContract): string {
  const copies = everyOperation<Operation>(contract).filter((each) => each.operation === "basic.publish");
  const methods = [
    ...(copies.length > 0 ? [publishCopy] : []),
    ...(copies.some(({ spread }) => spread !== undefined) ? [publishAnywhere] : []),
  ];
  const text = `@Component
class Consumer {
    interface Handler {
        void handle(byte[] body, int attempt) throws Exception;
    }

${javaErrors(contract)}

    private final RabbitTemplate template;
    private final Handler handler;

    Consumer(RabbitTemplate template, Handler handler) {
        this.template = template;
        this.handler = handler;
    }

    @RabbitListener(queues = ${JSON.stringify(contract.workQueue)}, ackMode = "MANUAL")
    void onMessage(Message message, Channel channel) throws Exception {
        try {
            settle(message, channel);
        } catch (Exception failed) {
            // Without its channel the message comes back at once, and that counts as a crash: without a pause there would soon be one too many.
            Thread.sleep(5_000);
            channel.abort();
            throw failed;
        }
    }

    void settle(Message message, Channel channel) throws Exception {
        long tag = message.getMessageProperties().getDeliveryTag();
        int attempt = attemptOf(message.getMessageProperties());
${javaSettling<Operation>(contract, "message.getBody()", statementOf)}
    }

    static int attemptOf(MessageProperties properties) {
${attemptOf(contract)}
    }

${javaIsPermanent(contract)}
${methods.map((method) => `\n${method}\n`).join("")}}`;
  return withImports(text, imports);
}

const imports = [
  "com.rabbitmq.client.Channel",
  "java.util.List",
  "java.util.Map",
  "java.util.Set",
  "java.util.UUID",
  "java.util.concurrent.ThreadLocalRandom",
  "java.util.concurrent.TimeUnit",
  "org.springframework.amqp.core.Message",
  "org.springframework.amqp.core.MessageBuilder",
  "org.springframework.amqp.core.MessageProperties",
  "org.springframework.amqp.rabbit.annotation.RabbitListener",
  "org.springframework.amqp.rabbit.connection.CorrelationData",
  "org.springframework.amqp.rabbit.core.RabbitTemplate",
  "org.springframework.stereotype.Component",
];

const publishCopy = `    /** The whole message but for what the contract names. Throws where it is returned or refused. */
    void publishCopy(Message message, String exchange, String routingKey, Set<String> removed, Map<String, String> added, String keepKeyAs,
            Long expirationMs) throws Exception {
        Message copied = MessageBuilder.fromClonedMessage(message).build();
        MessageProperties properties = copied.getMessageProperties();
        MessageProperties own = message.getMessageProperties();
        removed.forEach(properties.getHeaders()::remove);
        if (keepKeyAs != null) properties.getHeaders().putIfAbsent(keepKeyAs, own.getReceivedRoutingKey());
        properties.getHeaders().putAll(added);
        properties.setExpiration(expirationMs == null ? null : expirationMs.toString());
        properties.setUserId(null);
        // What comes in has its delivery mode in another field than what goes out.
        properties.setDeliveryMode(own.getReceivedDeliveryMode());
        CorrelationData correlation = new CorrelationData(UUID.randomUUID().toString());
        template.send(exchange, routingKey, copied, correlation);
        boolean confirmed = correlation.getFuture().get(30, TimeUnit.SECONDS).isAck();
        if (!confirmed || correlation.getReturned() != null) throw new IllegalStateException("the broker did not take the copy");
    }`;

const publishAnywhere = `    /** Jitter: any of the exchanges will do, each with its own wait. */
    void publishCopy(Message message, List<Map.Entry<String, Long>> places, String routingKey, Set<String> removed, Map<String, String> added,
            String keepKeyAs) throws Exception {
        Map.Entry<String, Long> place = places.get(ThreadLocalRandom.current().nextInt(places.size()));
        publishCopy(message, place.getKey(), routingKey, removed, added, keepKeyAs, place.getValue());
    }`;

function attemptOf({ attemptNumber }: RabbitmqContract): string {
  if (attemptNumber === null) return "        return 1;";
  if (attemptNumber.from === "header") {
    return `        Object failed = properties.getHeaders().get(${JSON.stringify(attemptNumber.header)});\n        return failed == null ? 1 : ((Number) failed).intValue() + 1;`;
  }
  const prefix = JSON.stringify(attemptNumber.prefix);
  return `        String key = properties.getReceivedRoutingKey();\n        return key.startsWith(${prefix}) ? Integer.parseInt(key.substring(${prefix}.length())) : 1;`;
}

function statementOf(operation: Operation): string {
  switch (operation.operation) {
    case "basic.ack":
      return "channel.basicAck(tag, false);";
    case "basic.nack":
      return `channel.basicNack(tag, false, ${operation.requeue});`;
    case "basic.reject":
      return `channel.basicReject(tag, ${operation.requeue});`;
    case "basic.publish": {
      const { exchange, routingKey, removeHeaders, headers = {}, copyRoutingKeyTo, expirationMs, spread } = operation;
      const texts = (values: readonly string[]): string => values.map((each) => JSON.stringify(each)).join(", ");
      const keep = copyRoutingKeyTo === undefined ? "null" : JSON.stringify(copyRoutingKeyTo);
      const copy = `${JSON.stringify(routingKey)}, Set.of(${texts(removeHeaders)}), Map.of(${texts(Object.entries(headers).flat())}), ${keep}`;
      if (spread === undefined)
        return `publishCopy(message, ${JSON.stringify(exchange)}, ${copy}, ${expirationOf(expirationMs)});`;
      const places = waysOf(operation).map(
        (way) => `Map.entry(${JSON.stringify(way.exchange)}, ${expirationOf(way.expirationMs)})`,
      );
      return `publishCopy(message, List.of(${places.join(", ")}), ${copy});`;
    }
    case "accepted":
    case "released":
    case "modified":
      throw new Error(`${operation.operation} is no operation of AMQP 0-9-1`);
    default:
      return operation satisfies never;
  }
}

function expirationOf(wanted: Extract<Operation, { operation: "basic.publish" }>["expirationMs"]): string {
  if (wanted === null) return "null";
  if (wanted === "asked") return "asked.delayMs";
  const { from, to } = wanted;
  return from === to
    ? `${from}L /* ${formatDurationMs(from)} */`
    : `ThreadLocalRandom.current().nextLong(${from}L, ${to + 1}L)`;
}
