import { formatDurationMs } from "../../declare/duration.ts";
import type { Contract } from "../operations.ts";
import type { Client } from "./client.ts";

type RabbitmqContract = Extract<Contract, { readonly protocol: "amqp-0-9-1" | "amqp-1.0" }>;
type Outcome = RabbitmqContract["outcomes"]["transient"];
type Operation = Extract<Outcome, readonly unknown[]>[number];

/** Spring AMQP with acknowledgements by hand; its own retry and its error handlers would do something else. */
export function springAmqp(contract: RabbitmqContract): Client {
  const { outcomes, permanentErrors } = contract;
  const permanent = permanentErrors.map((name) => JSON.stringify(name)).join(", ");
  return {
    title: "Java, Spring AMQP",
    evidence:
      "Written after the documentation of Spring AMQP and the measured behaviour of RabbitMQ. Compiled once with Spring AMQP 3.2 on Java 17; not run, and no test repeats it.",
    text: [
      "With `acknowledge-mode: manual`, `publisher-confirm-type: correlated`, `publisher-returns: true` and `template.mandatory: true`. Leave `spring.rabbitmq.listener.simple.retry` off: it repeats in memory, and the broker counts nothing. Without manual acknowledgements the container gives every failed message back to the queue (`defaultRequeueRejected`), which is the operation for *return*.",
      ...(contract.retryAfter === undefined
        ? []
        : [
            "A delay that the handler asks for is left out here: it takes the operations of *retry after* in the table.",
          ]),
    ],
    code: {
      language: "java",
      text: `@RabbitListener(queues = ${JSON.stringify(contract.workQueue)}, ackMode = "MANUAL")
void onMessage(Message message, Channel channel) throws Exception {
    long tag = message.getMessageProperties().getDeliveryTag();
    int attempt = attemptOf(message.getMessageProperties());
    try {
        handle(message.getBody(), attempt);
    } catch (Exception error) {
        if (isPermanent(error)) {
${javaOf(outcomes.permanent, 12)}
        } else {
${javaOf(outcomes.transient, 12)}
        }
        return;
    }
${javaOf(outcomes.success, 4)}
}

int attemptOf(MessageProperties properties) {
${attemptOf(contract)}
}

boolean isPermanent(Throwable error) {
    for (Throwable each = error; each != null; each = each.getCause()) {
        if (Set.of(${permanent}).contains(each.getClass().getSimpleName())) return true;
    }
    return false;
}

/** The whole message but for what the contract names. Where it is returned or refused nothing is acknowledged, and the message comes back. */
void publishCopy(Channel channel, Message message, String exchange, String routingKey, Set<String> removed, Map<String, String> added,
        String keepKeyAs, Long expirationMs) throws Exception {
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
    boolean taken = false;
    try {
        taken = correlation.getFuture().get(30, TimeUnit.SECONDS).isAck() && correlation.getReturned() == null;
    } finally {
        if (!taken) channel.abort();
    }
    if (!taken) throw new IllegalStateException("the broker did not take the copy");
}`,
    },
  };
}

function attemptOf({ attemptNumber }: RabbitmqContract): string {
  if (attemptNumber === null) return "    return 1;";
  if (attemptNumber.from === "header") {
    return `    Object failed = properties.getHeaders().get(${JSON.stringify(attemptNumber.header)});\n    return failed == null ? 1 : ((Number) failed).intValue() + 1;`;
  }
  const prefix = JSON.stringify(attemptNumber.prefix);
  return `    String key = properties.getReceivedRoutingKey();\n    return key.startsWith(${prefix}) ? Integer.parseInt(key.substring(${prefix}.length())) : 1;`;
}

/** The statements of an outcome; a switch where they depend on the attempt. */
function javaOf(outcome: Outcome, indent: number): string {
  const spaces = " ".repeat(indent);
  if (!("byAttempt" in outcome)) return outcome.map((each) => spaces + statementOf(each)).join("\n");
  const cases = outcome.byAttempt.flatMap((operations, index) => [
    `${spaces}    case ${index + 1} -> {`,
    ...operations.map((each) => `${spaces}        ${statementOf(each)}`),
    `${spaces}    }`,
  ]);
  return [`${spaces}switch (attempt) {`, ...cases, `${spaces}}`].join("\n");
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
      const { exchange, routingKey, removeHeaders, headers = {}, copyRoutingKeyTo, expirationMs } = operation;
      const texts = (values: readonly string[]): string => values.map((each) => JSON.stringify(each)).join(", ");
      const keep = copyRoutingKeyTo === undefined ? "null" : JSON.stringify(copyRoutingKeyTo);
      const added = `Map.of(${texts(Object.entries(headers).flat())})`;
      return `publishCopy(channel, message, ${texts([exchange, routingKey])}, Set.of(${texts(removeHeaders)}), ${added}, ${keep}, ${expirationOf(expirationMs)});`;
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
  if (wanted === "asked") throw new Error("only a handler that asks for a delay has one of its own");
  const { from, to } = wanted;
  return from === to
    ? `${from}L /* ${formatDurationMs(from)} */`
    : `ThreadLocalRandom.current().nextLong(${from}L, ${to + 1}L)`;
}
