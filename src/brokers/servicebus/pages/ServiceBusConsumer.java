import com.azure.core.amqp.AmqpRetryOptions;
import com.azure.messaging.servicebus.ServiceBusClientBuilder;
import com.azure.messaging.servicebus.ServiceBusException;
import com.azure.messaging.servicebus.ServiceBusFailureReason;
import com.azure.messaging.servicebus.ServiceBusMessage;
import com.azure.messaging.servicebus.ServiceBusReceivedMessage;
import com.azure.messaging.servicebus.ServiceBusReceiverClient;
import com.azure.messaging.servicebus.ServiceBusSenderClient;
import com.azure.messaging.servicebus.ServiceBusSessionReceiverClient;
import com.azure.messaging.servicebus.models.DeadLetterOptions;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

public class ServiceBusConsumer extends Outcomes {
    private static final Map<String, Object> CONTRACT = map(
        "workQueue", "shop.orders/Subscriptions/billing",
        "outcomes", map(
            "success", list(map("operation", "complete")),
            "transient", list(map("operation", "abandon")),
            "permanent", list(map("operation", "deadLetter", "reason", "PERMANENT_FAILURE", "description", "error-message")),
            "return", list(map("operation", "closeSession"))
        ),
        "attemptNumber", map("from", "delivery-count"),
        "longestMessageId", 128L,
        "receive", map("mode", "peekLock", "sessions", true, "lockRenewalMs", 2073600000L, "lockMs", 60000L),
        "permanentErrors", list("ValidationError")
    );

    private static final Map<String, Object> RECEIVE = get(CONTRACT, "receive");
    private static final Duration RENEWAL = Duration.ofMillis((long) RECEIVE.get("lockRenewalMs"));

    private final ServiceBusClientBuilder builder;
    private final Handler<byte[]> handler;
    private final CountDownLatch ended = new CountDownLatch(1);
    private volatile boolean stopping;

    public ServiceBusConsumer(String connectionString, Handler<byte[]> handler) {
        this.builder = new ServiceBusClientBuilder().connectionString(connectionString);
        this.handler = handler;
    }

    /** Consumes, on the thread that calls it, until `stop` is called. */
    public void run() {
        try {
            if ((boolean) RECEIVE.get("sessions")) runInSessions();
            else runOnQueue();
        } finally {
            ended.countDown();
        }
    }

    /** Takes no more, and returns when the handler that runs has come to its end. */
    public void stop() throws InterruptedException {
        stopping = true;
        ended.await();
    }

    private void runOnQueue() {
        String[] entity = entity();
        var options = builder.receiver().disableAutoComplete().maxAutoLockRenewDuration(RENEWAL);
        if (entity.length == 1) options.queueName(entity[0]);
        else options.topicName(entity[0]).subscriptionName(entity[1]);
        try (ServiceBusReceiverClient receiver = options.buildClient()) {
            while (!stopping) {
                for (ServiceBusReceivedMessage message : receiver.receiveMessages(1, Duration.ofSeconds(1))) settle(receiver, message);
            }
        }
    }

    private void runInSessions() {
        String[] entity = entity();
        // How long it waits for a session.
        builder.retryOptions(new AmqpRetryOptions().setTryTimeout(Duration.ofSeconds(10)));
        var options = builder.sessionReceiver().disableAutoComplete().maxAutoLockRenewDuration(RENEWAL);
        if (entity.length == 1) options.queueName(entity[0]);
        else options.topicName(entity[0]).subscriptionName(entity[1]);
        try (ServiceBusSessionReceiverClient sessions = options.buildClient()) {
            while (!stopping) {
                try (ServiceBusReceiverClient receiver = accept(sessions)) {
                    boolean hasMore = receiver != null;
                    while (hasMore && !stopping) {
                        hasMore = false;
                        for (ServiceBusReceivedMessage message : receiver.receiveMessages(1, Duration.ofSeconds(1))) hasMore = settle(receiver, message);
                    }
                }
            }
        }
    }

    /** A queue, or a topic and its subscription. */
    private static String[] entity() {
        return Outcomes.<String>get(CONTRACT, "workQueue").split("/Subscriptions/");
    }

    /** Null where for 10 s there is no session that has messages and that no other consumer holds. */
    private static ServiceBusReceiverClient accept(ServiceBusSessionReceiverClient sessions) {
        try {
            return sessions.acceptNextSession();
        } catch (IllegalStateException timeout) {
            return null;
        }
    }

    /** Whether the session is kept; one that is closed gives back what is not settled. */
    private boolean settle(ServiceBusReceiverClient receiver, ServiceBusReceivedMessage message) {
        int attempt = attemptOf(message);
        Exception error = run(handler, message.getBody().toBytes(), attempt);
        for (Map<String, Object> operation : operationsOf(CONTRACT, error, attempt)) {
            switch ((String) operation.get("operation")) {
                case "complete" -> receiver.complete(message);
                // This client cannot release, and so a delivery is counted.
                case "abandon", "release" -> receiver.abandon(message);
                case "closeSession" -> {
                    return false;
                }
                case "deadLetter" -> receiver.deadLetter(message, dead(operation, error));
                default -> {
                    if (!send(message, operation, error)) {
                        receiver.deadLetter(message, dead(get(operation, "ifTooLarge"), error));
                        return true;
                    }
                }
            }
        }
        return true;
    }

    static int attemptOf(ServiceBusReceivedMessage message) {
        Map<String, Object> where = get(CONTRACT, "attemptNumber");
        if (where.get("from").equals("delivery-count")) return (int) message.getDeliveryCount() + 1;
        Object attempt = message.getApplicationProperties().get(where.get("attempt"));
        return attempt == null ? 1 : ((Number) attempt).intValue();
    }

    static DeadLetterOptions dead(Map<String, Object> operation, Exception error) {
        String text = String.valueOf(error);
        String description = text.substring(0, Math.min(text.length(), 4096));
        return new DeadLetterOptions().setDeadLetterReason(get(operation, "reason")).setDeadLetterErrorDescription(description);
    }

    /** Returns when Service Bus has answered, and says whether it has taken the copy: one that is too large it never takes. */
    boolean send(ServiceBusReceivedMessage message, Map<String, Object> operation, Exception error) {
        ServiceBusMessage copy = copyOf(message, operation);
        Long delayMs = between(operation.get("delayMs"), error);
        if (delayMs != null) copy.setScheduledEnqueueTime(OffsetDateTime.now().plus(Duration.ofMillis(delayMs)));
        try (ServiceBusSenderClient sender = builder.sender().queueName(get(operation, "queue")).buildClient()) {
            sender.sendMessage(copy);
            return true;
        } catch (ServiceBusException refused) {
            if (refused.getReason() != ServiceBusFailureReason.MESSAGE_SIZE_EXCEEDED) throw refused;
            return false;
        }
    }

    /** The whole message but for what the contract names. It has no time to live. */
    static ServiceBusMessage copyOf(ServiceBusReceivedMessage message, Map<String, Object> operation) {
        Object known = message.getApplicationProperties().get("redeliver-original-id");
        String own = message.getMessageId();
        String unnamed = "sequence-number:" + message.getSequenceNumber();
        String originalId = known != null ? known.toString() : own == null || own.isEmpty() ? unnamed : own;
        ServiceBusMessage copy = new ServiceBusMessage(message);
        copy.setMessageId(idOf(originalId, get(operation, "messageIdSuffix")));
        copy.setTimeToLive(null);
        copy.getRawAmqpMessage().getProperties().setAbsoluteExpiryTime(null);
        List<String> removed = get(operation, "removeApplicationProperties");
        removed.forEach(copy.getApplicationProperties()::remove);
        long attempt = (long) Outcomes.<Map<String, Object>>get(operation, "applicationProperties").get("redeliver-attempt");
        copy.getApplicationProperties().putAll(Map.of("redeliver-attempt", (int) attempt, "redeliver-original-id", originalId));
        return copy;
    }

    static String idOf(String originalId, String suffix) {
        if (originalId.length() + suffix.length() <= (long) CONTRACT.get("longestMessageId")) return originalId + suffix;
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(originalId.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(hash) + suffix;
        } catch (java.security.NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
