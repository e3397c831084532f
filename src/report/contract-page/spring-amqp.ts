import { waysOf } from "../../brokers/contract.ts";
import { formatDurationMs } from "../../declare/duration.ts";
import type { Contract } from "../operations.ts";
import type { Client } from "./client.ts";

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
      "Give it a bean of its interface `Handler`, which is your code, and put these settings into `application.yaml`. A copy that the broker returns or refuses closes the channel: nothing is acknowledged before its copy is safe, the message comes back, and the container opens another channel after its `recoveryInterval`, 5 s. It ends no handler that takes too long: give what the handler calls a timeout of its own.",
      "Leave `spring.rabbitmq.listener.simple.retry` off: it repeats in memory, and the broker counts nothing. Without manual acknowledgements the container gives every failed message back to the queue (`defaultRequeueRejected`), which is the operation for *return*. Spring adds headers of its own to a copy: `spring_returned_message_correlation`, `spring_listener_return_correlation`, and `retry-count`, which is not the number of the attempt.",
    ],
    code: [
      { language: "yaml", text: settings },
      { language: "java", text: classOf(contract) },
    ],
  };
}

function classOf(contract: RabbitmqContract): string {
  const { outcomes, permanentErrors, retryAfter = [] } = contract;
  const permanent = [...new Set(permanentErrors)].map((name) => JSON.stringify(name)).join(", ");
  const asked = retryAfter.map(
    (step) =>
      ` else if (error instanceof RetryAfter asked && asked.delayMs <= ${step.upToMs}) {\n${javaOf(step, 16)}\n            }`,
  );
  const text = `@Component
class Consumer {
    interface Handler {
        void handle(byte[] body, int attempt) throws Exception;
    }

${exceptionsOf(contract)}

    private final RabbitTemplate template;
    private final Handler handler;

    Consumer(RabbitTemplate template, Handler handler) {
        this.template = template;
        this.handler = handler;
    }

    @RabbitListener(queues = ${JSON.stringify(contract.workQueue)}, ackMode = "MANUAL")
    void onMessage(Message message, Channel channel) throws Exception {
        long tag = message.getMessageProperties().getDeliveryTag();
        int attempt = attemptOf(message.getMessageProperties());
        Exception error = null;
        try {
            handler.handle(message.getBody(), attempt);
        } catch (Exception thrown) {
            error = thrown;
        }
        try {
            if (error == null) {
${javaOf(outcomes.success, 16)}
            } else if (error instanceof HandBack) {
${javaOf(outcomes.return, 16)}
            }${asked.join("")} else if (isPermanent(error)) {
${javaOf(outcomes.permanent, 16)}
            } else {
${javaOf(outcomes.transient, 16)}
            }
        } catch (Exception failed) {
            // Without its channel the message comes back.
            channel.abort();
            throw failed;
        }
    }

    static int attemptOf(MessageProperties properties) {
${attemptOf(contract)}
    }

    static boolean isPermanent(Throwable error) {
        for (Throwable each = error; each != null; each = each.getCause()) {
            if (Set.of(${permanent}).contains(each.getClass().getSimpleName())) return true;
        }
        return false;
    }
${methodsOf(contract)}}`;
  const used = imports.filter((name) => new RegExp(`\\b${name.split(".").at(-1)}\\b`).test(text));
  return `${used.map((name) => `import ${name};`).join("\n")}\n\n${text}`;
}

const imports = [
  "com.rabbitmq.client.Channel",
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

function exceptionsOf({ retryAfter }: RabbitmqContract): string {
  const handBack = `    /** Throw it where the message was not tried, for example at a shutdown. */
    static class HandBack extends RuntimeException {}`;
  const asked = `    /** Throw it where the delay is known, for example from a Retry-After header. */
    static class RetryAfter extends RuntimeException {
        final long delayMs;

        RetryAfter(long delayMs) {
            super("retry after " + delayMs + " ms");
            this.delayMs = delayMs;
        }
    }`;
  return retryAfter === undefined ? handBack : `${handBack}\n\n${asked}`;
}

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

const oneOf = `    /** Jitter: any of the exchanges will do, each with its own wait. */
    @SafeVarargs
    static <Place> Place oneOf(Place... places) {
        return places[ThreadLocalRandom.current().nextInt(places.length)];
    }`;

/** What the outcomes call; a method that none would call is left out. */
function methodsOf({ outcomes, retryAfter = [] }: RabbitmqContract): string {
  const published = [...Object.values(outcomes), ...retryAfter]
    .flatMap((outcome) => ("byAttempt" in outcome ? outcome.byAttempt.flat() : outcome))
    .filter(({ operation }) => operation === "basic.publish");
  const methods = [
    ...(published.length > 0 ? [publishCopy] : []),
    ...(published.some((operation) => "spread" in operation) ? [oneOf] : []),
  ];
  return methods.map((method) => `\n${method}\n`).join("");
}

function attemptOf({ attemptNumber }: RabbitmqContract): string {
  if (attemptNumber === null) return "        return 1;";
  if (attemptNumber.from === "header") {
    return `        Object failed = properties.getHeaders().get(${JSON.stringify(attemptNumber.header)});\n        return failed == null ? 1 : ((Number) failed).intValue() + 1;`;
  }
  const prefix = JSON.stringify(attemptNumber.prefix);
  return `        String key = properties.getReceivedRoutingKey();\n        return key.startsWith(${prefix}) ? Integer.parseInt(key.substring(${prefix}.length())) : 1;`;
}

/** The statements of an outcome; a switch where they depend on the attempt. */
function javaOf(outcome: Outcome, indent: number): string {
  const spaces = " ".repeat(indent);
  if (!("byAttempt" in outcome))
    return outcome
      .flatMap(statementsOf)
      .map((each) => spaces + each)
      .join("\n");
  const cases = outcome.byAttempt.flatMap((operations, index) => [
    `${spaces}    case ${index + 1} -> {`,
    ...operations.flatMap(statementsOf).map((each) => `${spaces}        ${each}`),
    `${spaces}    }`,
  ]);
  return [`${spaces}switch (attempt) {`, ...cases, `${spaces}}`].join("\n");
}

function statementsOf(operation: Operation): readonly string[] {
  switch (operation.operation) {
    case "basic.ack":
      return ["channel.basicAck(tag, false);"];
    case "basic.nack":
      return [`channel.basicNack(tag, false, ${operation.requeue});`];
    case "basic.reject":
      return [`channel.basicReject(tag, ${operation.requeue});`];
    case "basic.publish": {
      const { routingKey, removeHeaders, headers = {}, copyRoutingKeyTo } = operation;
      const texts = (values: readonly string[]): string => values.map((each) => JSON.stringify(each)).join(", ");
      const keep = copyRoutingKeyTo === undefined ? "null" : JSON.stringify(copyRoutingKeyTo);
      const added = `Map.of(${texts(Object.entries(headers).flat())})`;
      const ways = waysOf(operation).map(
        (way) => [JSON.stringify(way.exchange), expirationOf(way.expirationMs)] as const,
      );
      const [[exchange, expiration] = ["", ""], ...others] = ways;
      const publish = (to: string, wait: string): string =>
        `publishCopy(message, ${to}, ${JSON.stringify(routingKey)}, Set.of(${texts(removeHeaders)}), ${added}, ${keep}, ${wait});`;
      if (others.length === 0) return [publish(exchange, expiration)];
      const places = ways.map(([to, wait]) => `Map.entry(${to}, ${wait})`).join(", ");
      return [`Map.Entry<String, Long> place = oneOf(${places});`, publish("place.getKey()", "place.getValue()")];
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
