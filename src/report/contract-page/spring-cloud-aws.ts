import type { Contract } from "../operations.ts";
import type { Client } from "./client.ts";
import { everyOperation, javaErrors, javaIsPermanent, javaSettling, withImports } from "./java.ts";

type SqsContract = Extract<Contract, { readonly protocol: "sqs" }>;
type Outcome = SqsContract["outcomes"]["transient"];
type Operation = Extract<Outcome, readonly unknown[]>[number];

/** Spring Cloud AWS makes a queue that it does not find, which would have no dead queue. */
const settings = `spring:
  cloud:
    aws:
      sqs:
        queue-not-found-strategy: fail`;

/** Spring Cloud AWS with acknowledgements by hand, one message at a time. */
export function springCloudAws(contract: SqsContract): Client {
  return {
    title: "Java, Spring Cloud AWS",
    evidence: "Run by Redeliver's tests with Spring Cloud AWS 4.1 (Spring Boot 4.0) against ElasticMQ and moto.",
    text: [
      "Give it a bean of its interface `Handler`, which is your code, and put this setting into `application.yaml`: a queue that is missing would otherwise be made, without a dead queue. One message at a time, since the visibility timeout runs from the receive: none is received before its handler can begin. It ends no handler that takes too long: give what the handler calls a timeout of its own.",
      "In another acknowledgement mode than `MANUAL` the container deletes messages by itself, and its `Acknowledgement` may do so later, in a batch; so the operations are calls of the client.",
    ],
    code: [
      { language: "yaml", text: settings },
      { language: "java", text: classOf(contract) },
    ],
  };
}

function classOf(contract: SqsContract): string {
  const operations = everyOperation<Operation>(contract);
  const names = new Set(operations.map(({ operation }) => operation));
  const text = `@Component
class Consumer {
    interface Handler {
        void handle(String body, int attempt) throws Exception;
    }

${javaErrors(contract)}

    private final SqsAsyncClient sqs;
    private final Handler handler;

    Consumer(SqsAsyncClient sqs, Handler handler) {
        this.sqs = sqs;
        this.handler = handler;
    }

    @SqsListener(
        queueNames = ${JSON.stringify(contract.workQueue)},
        acknowledgementMode = "MANUAL",
        maxConcurrentMessages = "1",
        maxMessagesPerPoll = "1",
        pollTimeoutSeconds = "5")
    void onMessage(Message message) {
        int attempt = Integer.parseInt(message.attributes().get(MessageSystemAttributeName.APPROXIMATE_RECEIVE_COUNT));
${javaSettling<Operation>(contract, "message.body()", statementOf)}
    }

${javaIsPermanent(contract)}

    String urlOf(String queue) {
        return sqs.getQueueUrl(request -> request.queueName(queue)).join().queueUrl();
    }

    void delete(Message message) {
        String url = urlOf(${JSON.stringify(contract.workQueue)});
        sqs.deleteMessage(request -> request.queueUrl(url).receiptHandle(message.receiptHandle())).join();
    }
${names.has("ChangeMessageVisibility") ? `\n${changeVisibility(contract)}\n` : ""}${names.has("SendMessage") ? `\n${sendCopy}\n` : ""}}`;
  return withImports(text, imports);
}

const imports = [
  "io.awspring.cloud.sqs.annotation.SqsListener",
  "java.util.HashMap",
  "java.util.Map",
  "java.util.Set",
  "java.util.concurrent.ThreadLocalRandom",
  "org.springframework.stereotype.Component",
  "software.amazon.awssdk.services.sqs.SqsAsyncClient",
  "software.amazon.awssdk.services.sqs.model.Message",
  "software.amazon.awssdk.services.sqs.model.MessageAttributeValue",
  "software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName",
];

function statementOf(operation: Operation): string {
  switch (operation.operation) {
    case "DeleteMessage":
      return "delete(message);";
    case "ChangeMessageVisibility":
      return `hide(message, ${secondsOf(operation.visibilityTimeoutSeconds)});`;
    case "SendMessage": {
      const attributes = Object.entries(operation.attributes)
        .flat()
        .map((each) => JSON.stringify(each));
      return `sendCopy(message, ${JSON.stringify(operation.queue)}, Map.of(${attributes.join(", ")}), ${operation.fifo !== undefined});`;
    }
    default:
      return operation satisfies never;
  }
}

function secondsOf(
  wanted: Extract<Operation, { operation: "ChangeMessageVisibility" }>["visibilityTimeoutSeconds"],
): string {
  if (wanted === "asked") return "(asked.delayMs + 999) / 1000";
  const { from, to } = wanted;
  return from === to ? String(from) : `ThreadLocalRandom.current().nextInt(${from}, ${to + 1})`;
}

function changeVisibility({ workQueue }: SqsContract): string {
  return `    void hide(Message message, long seconds) {
        String url = urlOf(${JSON.stringify(workQueue)});
        sqs.changeMessageVisibility(
            request -> request.queueUrl(url).receiptHandle(message.receiptHandle()).visibilityTimeout((int) seconds)).join();
    }`;
}

const sendCopy = `    /** The whole message, with the reason on it. Throws where SQS does not take it. */
    void sendCopy(Message message, String queue, Map<String, String> added, boolean fifo) {
        Map<String, MessageAttributeValue> attributes = new HashMap<>(message.messageAttributes());
        added.forEach((name, text) ->
            attributes.put(name, MessageAttributeValue.builder().dataType("String").stringValue(text).build()));
        String url = urlOf(queue);
        sqs.sendMessage(request -> {
            request.queueUrl(url).messageBody(message.body()).messageAttributes(attributes);
            if (!fifo) return;
            request.messageGroupId(message.attributes().get(MessageSystemAttributeName.MESSAGE_GROUP_ID));
            request.messageDeduplicationId(message.messageId());
        }).join();
    }`;
