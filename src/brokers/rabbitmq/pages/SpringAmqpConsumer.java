import com.rabbitmq.client.Channel;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.springframework.amqp.core.Message;
import org.springframework.amqp.core.MessageBuilder;
import org.springframework.amqp.core.MessageProperties;
import org.springframework.amqp.rabbit.annotation.RabbitListener;
import org.springframework.amqp.rabbit.connection.CorrelationData;
import org.springframework.amqp.rabbit.core.RabbitTemplate;
import org.springframework.stereotype.Component;

@Component
class SpringAmqpConsumer extends Outcomes {
    private static final Map<String, Object> CONTRACT = map(
        "workQueue", "shop.billing",
        "outcomes", map(
            "success", list(map("operation", "basic.ack")),
            "transient", list(map("operation", "basic.reject", "requeue", true)),
            "permanent", list(map("operation", "basic.nack", "requeue", false)),
            "return", list(map("operation", "basic.nack", "requeue", true))
        ),
        "attemptNumber", map("from", "header", "header", "x-delivery-count"),
        "handlerTimeoutMs", null,
        "permanentErrors", list("ValidationError")
    );

    /** As Spring reads it, with its property signs and expressions escaped. */
    private static final String WORK_QUEUE = "shop.billing";

    private final RabbitTemplate template;
    private final Handler<byte[]> handler;

    SpringAmqpConsumer(RabbitTemplate template, Handler<byte[]> handler) {
        this.template = template;
        this.handler = handler;
    }

    @RabbitListener(queues = WORK_QUEUE, ackMode = "MANUAL")
    void onMessage(Message message, Channel channel) throws Exception {
        try {
            settle(message, channel);
        } catch (Exception failed) {
            // Without its channel the message comes back at once, which counts as a crash: without a pause there would soon be too many.
            Thread.sleep(5_000);
            channel.abort();
            throw failed;
        }
    }

    void settle(Message message, Channel channel) throws Exception {
        long tag = message.getMessageProperties().getDeliveryTag();
        int attempt = attemptOf(message.getMessageProperties());
        Exception error = run(handler, message.getBody(), attempt);
        for (Map<String, Object> operation : operationsOf(CONTRACT, error, attempt)) {
            switch ((String) operation.get("operation")) {
                case "basic.ack" -> channel.basicAck(tag, false);
                case "basic.nack" -> channel.basicNack(tag, false, (boolean) operation.get("requeue"));
                case "basic.reject" -> channel.basicReject(tag, (boolean) operation.get("requeue"));
                default -> publishCopy(message, operation, error);
            }
        }
    }

    static int attemptOf(MessageProperties properties) {
        Map<String, Object> where = get(CONTRACT, "attemptNumber");
        if (where == null) return 1;
        if (where.get("from").equals("header")) {
            Object failed = properties.getHeaders().get(where.get("header"));
            return failed == null ? 1 : ((Number) failed).intValue() + 1;
        }
        boolean isExchange = where.get("from").equals("exchange");
        String name = isExchange ? properties.getReceivedExchange() : properties.getReceivedRoutingKey();
        String prefix = get(where, "prefix");
        return name.startsWith(prefix) ? Integer.parseInt(name.substring(prefix.length())) : 1;
    }

    /** The whole message but for what the contract names. Throws where it is returned or refused. */
    void publishCopy(Message message, Map<String, Object> operation, Exception error) throws Exception {
        Message copied = MessageBuilder.fromClonedMessage(message).build();
        MessageProperties properties = copied.getMessageProperties();
        MessageProperties own = message.getMessageProperties();
        List<String> removed = get(operation, "removeHeaders");
        removed.forEach(properties.getHeaders()::remove);
        String keepKeyAs = get(operation, "copyRoutingKeyTo");
        if (keepKeyAs != null) properties.getHeaders().putIfAbsent(keepKeyAs, own.getReceivedRoutingKey());
        Map<String, Object> added = get(operation, "headers");
        if (added != null) properties.getHeaders().putAll(added);
        Map<String, Object> place = placeOf(operation);
        Long expirationMs = between(place.get("expirationMs"), error);
        properties.setExpiration(expirationMs == null ? null : expirationMs.toString());
        properties.setUserId(null);
        // What comes in has its delivery mode in another field than what goes out.
        properties.setDeliveryMode(own.getReceivedDeliveryMode());
        CorrelationData correlation = new CorrelationData(UUID.randomUUID().toString());
        template.send(get(place, "exchange"), get(operation, "routingKey"), copied, correlation);
        boolean confirmed = correlation.getFuture().get(30, TimeUnit.SECONDS).isAck();
        if (!confirmed || correlation.getReturned() != null) throw new IllegalStateException("the broker did not take the copy");
    }

    /** Jitter: any of the exchanges will do, each with its own wait. */
    static Map<String, Object> placeOf(Map<String, Object> operation) {
        List<Map<String, Object>> spread = get(operation, "spread");
        int chosen = spread == null ? 0 : ThreadLocalRandom.current().nextInt(spread.size() + 1);
        return chosen == 0 ? operation : spread.get(chosen - 1);
    }
}
