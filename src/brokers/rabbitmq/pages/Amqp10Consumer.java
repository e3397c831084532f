import com.rabbitmq.client.amqp.AmqpException;
import com.rabbitmq.client.amqp.Consumer;
import com.rabbitmq.client.amqp.Environment;
import com.rabbitmq.client.amqp.Message;
import com.rabbitmq.client.amqp.impl.AmqpEnvironmentBuilder;
import java.time.Duration;
import java.util.Map;

public class Amqp10Consumer extends Outcomes implements AutoCloseable {
    private static final Map<String, Object> CONTRACT = map(
        "workQueue", "shop.billing",
        "outcomes", map(
            "success", list(map("operation", "accepted")),
            "transient", map(
                "byAttempt", list(
                    list(map(
                        "operation", "modified",
                        "deliveryFailed", true,
                        "undeliverableHere", false,
                        "deliveryTimeMs", map("from", 1000L, "to", 1000L)
                    )),
                    list(map(
                        "operation", "modified",
                        "deliveryFailed", true,
                        "undeliverableHere", false,
                        "deliveryTimeMs", map("from", 10000L, "to", 10000L)
                    )),
                    list(map(
                        "operation", "modified",
                        "deliveryFailed", true,
                        "undeliverableHere", true,
                        "messageAnnotations", map(
                            "x-opt-dlq-original-queue", "shop.billing",
                            "x-opt-dlq-failure-reason", "ATTEMPTS_EXHAUSTED"
                        )
                    ))
                )
            ),
            "permanent", list(map(
                "operation", "modified",
                "deliveryFailed", true,
                "undeliverableHere", true,
                "messageAnnotations", map(
                    "x-opt-dlq-original-queue", "shop.billing",
                    "x-opt-dlq-failure-reason", "PERMANENT_FAILURE"
                )
            )),
            "return", list(map("operation", "released"))
        ),
        "attemptNumber", map("from", "header", "header", "delivery-count"),
        "handlerTimeoutMs", 30000L,
        "permanentErrors", list("ValidationError")
    );

    private final Handler<byte[]> handler;
    private final Environment environment;
    private final Consumer consumer;
    private volatile boolean stopping = false;

    public Amqp10Consumer(String uri, Handler<byte[]> handler) {
        this.handler = handler;
        environment = new AmqpEnvironmentBuilder().build();
        consumer = environment.connectionBuilder().uri(uri).build().consumerBuilder()
                .queue(get(CONTRACT, "workQueue"))
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
        Exception error = run(handler, message.body(), attempt);
        for (Map<String, Object> operation : operationsOf(CONTRACT, error, attempt)) {
            switch ((String) operation.get("operation")) {
                case "accepted" -> context.accept();
                case "released" -> context.requeue();
                default -> modify(context, operation, error);
            }
        }
    }

    /** `discard` says delivery-failed, too. */
    static void modify(Consumer.Context context, Map<String, Object> operation, Exception error) {
        boolean failed = get(operation, "deliveryFailed");
        Map<String, Object> annotations = get(operation, "messageAnnotations");
        Long delayMs = between(operation.get("deliveryTimeMs"), error);
        if ((boolean) operation.get("undeliverableHere")) context.discard(annotations == null ? Map.of() : annotations);
        else if (delayMs == null) context.requeue(Map.of(), failed);
        else context.delayedRetry(Duration.ofMillis(delayMs), failed);
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
}
