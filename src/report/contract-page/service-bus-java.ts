import { formatDurationMs } from "../../declare/duration.ts";
import type { Contract } from "../operations.ts";
import type { Client } from "./client.ts";
import { everyOperation, javaErrors, javaIsPermanent, javaSettling, withImports } from "./java.ts";

type ServicebusContract = Extract<Contract, { readonly protocol: "servicebus" }>;
type Outcome = ServicebusContract["outcomes"]["transient"];
type Operation = Extract<Outcome, readonly unknown[]>[number];
type CopyOperation = Extract<Operation, { readonly queue: string }>;

/** Microsoft's client for Java, one message after the other. */
export function serviceBusJava(contract: ServicebusContract): Client {
  return {
    title: "Java, azure-messaging-servicebus",
    evidence:
      "Run by Redeliver's tests with azure-messaging-servicebus 7.17 against the emulator that they start; not run on Azure.",
    text: [
      "Construct it with your code, `run()` it, and call `stop()` in a shutdown hook. What Service Bus does not take is thrown by `run()`, and nothing is completed before its copy is there: end the process and let it be started again; the message comes back when its lock is over. It ends no handler that takes too long: give what the handler calls a timeout of its own.",
      "`ServiceBusProcessorClient` does the same but for a shutdown: its `stop()` and `close()` end the link while a handler runs, whose message can then not be settled any more, and comes again.",
    ],
    code: [{ language: "java", text: classOf(contract) }],
  };
}

function classOf(contract: ServicebusContract): string {
  const copies = everyOperation<Operation>(contract).some((operation) => "queue" in operation);
  const text = `public class Consumer {
    public interface Handler {
        void handle(byte[] body, int attempt) throws Exception;
    }

${javaErrors(contract)}

    private final ServiceBusClientBuilder builder;
    private final Handler handler;
    private final CountDownLatch ended = new CountDownLatch(1);
    private volatile boolean stopping;

    public Consumer(String connectionString, Handler handler) {
        this.builder = new ServiceBusClientBuilder().connectionString(connectionString)${contract.receive.sessions ? "\n            .retryOptions(new AmqpRetryOptions().setTryTimeout(Duration.ofSeconds(10)))" : ""};
        this.handler = handler;
    }

    /** Consumes, on the thread that calls it, until \`stop\` is called. */
    public void run() {
        try {
            ${contract.receive.sessions ? runInSessions(contract) : runOnQueue(contract)}
        } finally {
            ended.countDown();
        }
    }

    /** Takes no more, and returns when the handler that runs has come to its end. */
    public void stop() throws InterruptedException {
        stopping = true;
        ended.await();
    }

${contract.receive.sessions ? `${acceptSession}\n\n` : ""}${contract.receive.sessions ? "    /** Whether the session is kept; one that is closed gives back what is not settled. */\n" : ""}    private ${contract.receive.sessions ? "boolean" : "void"} settle(ServiceBusReceiverClient receiver, ServiceBusReceivedMessage message) {
        int attempt = attemptOf(message);
${javaSettling<Operation>(contract, "message.getBody().toBytes()", statementOf)}${contract.receive.sessions ? "\n        return true;" : ""}
    }

    static int attemptOf(ServiceBusReceivedMessage message) {
${attemptOf(contract)}
    }

${javaIsPermanent(contract)}

    static DeadLetterOptions dead(String reason, Exception error) {
        String text = String.valueOf(error);
        String description = text.substring(0, Math.min(text.length(), 4096));
        return new DeadLetterOptions().setDeadLetterReason(reason).setDeadLetterErrorDescription(description);
    }
${copies ? `\n${copying(contract)}\n` : ""}}`;
  return withImports(text, imports);
}

function runOnQueue(contract: ServicebusContract): string {
  return `try (ServiceBusReceiverClient receiver = builder.receiver()
                ${entityOf(contract)}.disableAutoComplete().maxAutoLockRenewDuration(${renewal(contract)}).buildClient()) {
                while (!stopping) {
                    for (ServiceBusReceivedMessage message : receiver.receiveMessages(1, Duration.ofSeconds(1))) settle(receiver, message);
                }
            }`;
}

function runInSessions(contract: ServicebusContract): string {
  return `try (ServiceBusSessionReceiverClient sessions = builder.sessionReceiver()
                ${entityOf(contract)}.disableAutoComplete().maxAutoLockRenewDuration(${renewal(contract)}).buildClient()) {
                while (!stopping) {
                    try (ServiceBusReceiverClient receiver = accept(sessions)) {
                        boolean hasMore = receiver != null;
                        while (hasMore && !stopping) {
                            hasMore = false;
                            for (ServiceBusReceivedMessage message : receiver.receiveMessages(1, Duration.ofSeconds(1))) hasMore = settle(receiver, message);
                        }
                    }
                }
            }`;
}

const acceptSession = `    /** Null where for 10 s there is no session that has messages and that nobody holds. */
    private static ServiceBusReceiverClient accept(ServiceBusSessionReceiverClient sessions) {
        try {
            return sessions.acceptNextSession();
        } catch (IllegalStateException timeout) {
            return null;
        }
    }`;

function renewal({ receive }: ServicebusContract): string {
  return `Duration.ofMillis(${receive.lockRenewalMs}L /* ${formatDurationMs(receive.lockRenewalMs)} */)`;
}

const imports = [
  "com.azure.core.amqp.AmqpRetryOptions",
  "com.azure.messaging.servicebus.ServiceBusClientBuilder",
  "com.azure.messaging.servicebus.ServiceBusMessage",
  "com.azure.messaging.servicebus.ServiceBusReceivedMessage",
  "com.azure.messaging.servicebus.ServiceBusReceiverClient",
  "com.azure.messaging.servicebus.ServiceBusSenderClient",
  "com.azure.messaging.servicebus.ServiceBusSessionReceiverClient",
  "com.azure.messaging.servicebus.models.DeadLetterOptions",
  "java.nio.charset.StandardCharsets",
  "java.security.MessageDigest",
  "java.time.Duration",
  "java.time.OffsetDateTime",
  "java.util.HexFormat",
  "java.util.Map",
  "java.util.Set",
  "java.util.concurrent.CountDownLatch",
  "java.util.concurrent.ThreadLocalRandom",
];

/** Calls that name a queue or a subscription. */
function entityOf({ workQueue }: ServicebusContract): string {
  const [first = "", subscription] = workQueue.split("/Subscriptions/").map((name) => JSON.stringify(name));
  return subscription === undefined ? `.queueName(${first})` : `.topicName(${first}).subscriptionName(${subscription})`;
}

function attemptOf({ attemptNumber }: ServicebusContract): string {
  if (attemptNumber.from === "delivery-count") return "        return (int) message.getDeliveryCount() + 1;";
  return `        Object attempt = message.getApplicationProperties().get(${JSON.stringify(attemptNumber.attempt)});
        return attempt == null ? 1 : ((Number) attempt).intValue();`;
}

function statementOf(operation: Operation): string {
  switch (operation.operation) {
    case "complete":
      return "receiver.complete(message);";
    case "abandon":
      return "receiver.abandon(message);";
    case "release":
      return "receiver.abandon(message); // This client cannot release, and so a delivery is counted.";
    case "closeSession":
      return "return false;";
    case "deadLetter":
      return `receiver.deadLetter(message, dead(${JSON.stringify(operation.reason)}, error));`;
    case "schedule":
    case "send":
      return sendingOf(operation);
    default:
      return operation satisfies never;
  }
}

function sendingOf({
  queue,
  delayMs,
  messageIdSuffix,
  applicationProperties,
  removeApplicationProperties,
}: CopyOperation): string {
  const removed = removeApplicationProperties.map((name) => JSON.stringify(name)).join(", ");
  const attempt = applicationProperties["redeliver-attempt"];
  const copy = `copyOf(message, ${JSON.stringify(messageIdSuffix)}, ${attempt}, Set.of(${removed}))`;
  return `send(${JSON.stringify(queue)}, ${copy}, ${delayOf(delayMs)});`;
}

function delayOf(delayMs: CopyOperation["delayMs"]): string {
  if (delayMs === undefined) return "null";
  if (delayMs === "asked") return "asked.delayMs";
  const { from, to } = delayMs;
  return from === to
    ? `${from}L /* ${formatDurationMs(from)} */`
    : `ThreadLocalRandom.current().nextLong(${from}L, ${to + 1}L)`;
}

function copying({ longestMessageId }: ServicebusContract): string {
  return `    /** Returns when Service Bus has answered. */
    void send(String queue, ServiceBusMessage copy, Long delayMs) {
        try (ServiceBusSenderClient sender = builder.sender().queueName(queue).buildClient()) {
            if (delayMs == null) sender.sendMessage(copy);
            else sender.scheduleMessage(copy, OffsetDateTime.now().plus(Duration.ofMillis(delayMs)));
        }
    }

    /** The whole message but for what the contract names. It has no time to live. */
    static ServiceBusMessage copyOf(ServiceBusReceivedMessage message, String suffix, int attempt, Set<String> removed) {
        Object known = message.getApplicationProperties().get("redeliver-original-id");
        String own = message.getMessageId();
        String unnamed = "sequence-number:" + message.getSequenceNumber();
        String originalId = known != null ? known.toString() : own == null || own.isEmpty() ? unnamed : own;
        ServiceBusMessage copy = new ServiceBusMessage(message);
        copy.setMessageId(idOf(originalId, suffix));
        copy.setTimeToLive(null);
        copy.getRawAmqpMessage().getProperties().setAbsoluteExpiryTime(null);
        removed.forEach(copy.getApplicationProperties()::remove);
        copy.getApplicationProperties().putAll(Map.of("redeliver-attempt", attempt, "redeliver-original-id", originalId));
        return copy;
    }

    static String idOf(String originalId, String suffix) {
        if (originalId.length() + suffix.length() <= ${longestMessageId}) return originalId + suffix;
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(originalId.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(hash) + suffix;
        } catch (java.security.NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }`;
}
