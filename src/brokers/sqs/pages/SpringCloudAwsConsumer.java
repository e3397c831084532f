import io.awspring.cloud.sqs.annotation.SqsListener;
import java.util.HashMap;
import java.util.Map;
import org.springframework.stereotype.Component;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;

@Component
class SpringCloudAwsConsumer extends Outcomes {
    private static final Map<String, Object> CONTRACT = map(
        "workQueue", "shop-billing.fifo",
        "outcomes", map(
            "success", list(map("operation", "DeleteMessage")),
            "permanent", list(
                map(
                    "operation", "SendMessage",
                    "queue", "shop-billing-dead.fifo",
                    "attributes", map("dlq-original-queue", "shop-billing.fifo", "dlq-failure-reason", "PERMANENT_FAILURE"),
                    "fifo", map("messageGroupId", "kept", "messageDeduplicationId", "message-id")
                ),
                map("operation", "DeleteMessage")
            ),
            "return", list(map("operation", "ChangeMessageVisibility", "visibilityTimeoutSeconds", map("from", 0L, "to", 0L))),
            "transient", list()
        ),
        "receive", map(
            "maxNumberOfMessages", 1L,
            "messageSystemAttributeNames", list("ApproximateReceiveCount", "MessageGroupId"),
            "messageAttributeNames", list("All")
        ),
        "permanentErrors", list("ValidationError")
    );

    /** As Spring reads it, with its property signs and expressions escaped. */
    private static final String WORK_QUEUE = "shop-billing.fifo";

    private final SqsAsyncClient sqs;
    private final Handler<String> handler;

    SpringCloudAwsConsumer(SqsAsyncClient sqs, Handler<String> handler) {
        this.sqs = sqs;
        this.handler = handler;
    }

    @SqsListener(
        queueNames = WORK_QUEUE,
        acknowledgementMode = "MANUAL",
        maxConcurrentMessages = "1",
        maxMessagesPerPoll = "1",
        pollTimeoutSeconds = "5")
    void onMessage(Message message) {
        int attempt = Integer.parseInt(message.attributes().get(MessageSystemAttributeName.APPROXIMATE_RECEIVE_COUNT));
        Exception error = run(handler, message.body(), attempt);
        String url = urlOf(get(CONTRACT, "workQueue"));
        for (Map<String, Object> operation : operationsOf(CONTRACT, error, attempt)) {
            switch ((String) operation.get("operation")) {
                case "DeleteMessage" ->
                    sqs.deleteMessage(request -> request.queueUrl(url).receiptHandle(message.receiptHandle())).join();
                case "ChangeMessageVisibility" -> {
                    Object wanted = operation.get("visibilityTimeoutSeconds");
                    long seconds = wanted.equals("asked") ? (between(wanted, error) + 999) / 1000 : between(wanted, error);
                    sqs.changeMessageVisibility(request ->
                        request.queueUrl(url).receiptHandle(message.receiptHandle()).visibilityTimeout((int) seconds)).join();
                }
                default -> sendCopy(message, operation);
            }
        }
    }

    String urlOf(String queue) {
        return sqs.getQueueUrl(request -> request.queueName(queue)).join().queueUrl();
    }

    /** The whole message, with the reason on it. Throws where SQS does not take it. */
    void sendCopy(Message message, Map<String, Object> operation) {
        Map<String, MessageAttributeValue> attributes = new HashMap<>(message.messageAttributes());
        Map<String, String> added = get(operation, "attributes");
        added.forEach((name, text) ->
            attributes.put(name, MessageAttributeValue.builder().dataType("String").stringValue(text).build()));
        String url = urlOf(get(operation, "queue"));
        sqs.sendMessage(request -> {
            request.queueUrl(url).messageBody(message.body()).messageAttributes(attributes);
            if (!operation.containsKey("fifo")) return;
            request.messageGroupId(message.attributes().get(MessageSystemAttributeName.MESSAGE_GROUP_ID));
            request.messageDeduplicationId(message.messageId());
        }).join();
    }
}
