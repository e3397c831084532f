import { formatDurationMs } from "../../../declare/duration.ts";
import { inline, tableOf } from "../../../report/contract-page/markdown.ts";
import { errorQueue, massTransit, retriesInMemory } from "../../../report/contract-page/masstransit.ts";
import type { Client, ContractPages } from "../../contract-pages.ts";
import type { Contract } from "../compile/contract.ts";

const files = "brokers/servicebus/pages";

export const contractPages: ContractPages<Contract> = {
  fields: ["workQueue", "outcomes", "retryAfter", "attemptNumber", "receive", "longestMessageId", "permanentErrors"],
  attemptNumberOf: ({ attemptNumber }) =>
    attemptNumber.from === "delivery-count"
      ? "`delivery-count` of the message's AMQP header, plus 1; in .NET it is `DeliveryCount`"
      : `the application property \`${attemptNumber.attempt}\`; 1 where it is missing`,
  producersOf: ({ sources }) => {
    const direct = sources.find(({ source }) => source === null);
    if (direct === undefined) return null;
    return `send to the work queue${direct.sessions ? ", with a session id, which is the message's key" : ""}`;
  },
  rulesOf: ({ longestMessageId }) => [
    "A copy keeps the body, the subject and the application properties, except for those that the operation sets or removes. It has no time to live: that would start again while the copy waits.",
    "The id of a copy is the original's id with the operation's suffix: duplicate detection would drop a copy with the same id.",
    `If that id would have more than ${longestMessageId} characters, use the SHA-256 of the original id in hexadecimal digits. For a message without an id use ${inline("sequence-number:")} and its sequence number.`,
    "Complete the message only after Service Bus has confirmed the copy.",
    "`schedule` is an ordinary send of a copy with a scheduled enqueue time. The SDKs' schedule methods send requests to the management link. It does not answer to a message that is too large, or on the premium tier to one over about 1 MB.",
    "If Service Bus refuses a copy for its size (`MessageSizeExceeded`), perform `ifTooLarge` instead, and nothing after it: Service Bus would refuse the same copy again.",
  ],
  clientsOf: (contract) => [javascript(contract), java, microsoft(contract), massTransitOnServicebus],
};

/** Microsoft's client for JavaScript, one message after the other. */
function javascript({ receive: { sessions, lockMs } }: Contract): Client {
  return {
    title: "JavaScript, @azure/service-bus",
    evidence:
      "Redeliver's tests run it with @azure/service-bus 7.9 against their own emulator. It has not run on Azure.",
    text: [
      "A module: `run(connectionString, handle, signal)` calls `handle(body, attempt)`, an async function, with one message after the other, until the signal is aborted. The body is bytes. If Service Bus refuses a copy, `run` rejects, and it completes no message before its copy is safe. End the process and restart it; the message comes back when its lock ends.",
      ...(sessions
        ? []
        : [
            `Take care with more messages at a time: below this SDK two settlements in one turn of the event loop can become one outcome. Without renewal a lock ends after ${lockMs / 1_000} s.`,
          ]),
    ],
    files: [`${files}/service-bus.mjs`],
  };
}

const java: Client = {
  title: "Java, azure-messaging-servicebus",
  evidence:
    "Redeliver's tests run it with azure-messaging-servicebus 7.17 against their own emulator. It has not run on Azure.",
  text: [
    "Construct it with your code, `run()` it, and call `stop()` in a shutdown hook. If Service Bus refuses a copy, `run()` throws, and it completes no message before its copy is safe. End the process and restart it; the message comes back when its lock ends. It ends no handler that takes too long: give the handler's own calls a timeout.",
    "`ServiceBusProcessorClient` does the same except at a shutdown. Its `stop()` and `close()` end the link while a handler runs. The handler can then no longer settle its message, and it comes again.",
  ],
  files: ["report/contract-page/Outcomes.java", `${files}/ServiceBusConsumer.java`],
};

/** How each of Microsoft's own clients calls the operations of a contract. */
function microsoft({ calls, receive: { lockRenewalMs, lockMs, sessions } }: Contract): Client {
  const rows = Object.entries(calls).map(([operation, { javascript, dotnet, java }]) =>
    [operation, javascript, dotnet, java].map(inline),
  );
  return {
    title: "Microsoft's SDKs for JavaScript, .NET and Java",
    evidence: "Written from their documentation. The .NET calls have not been run. The two snippets use the others.",
    text: [
      tableOf(["operation", "JavaScript", ".NET", "Java"], rows),
      `Receive in the mode peek-lock${sessions ? ", accepting one session after the other" : ""}, and let the client renew the lock for up to ${formatDurationMs(lockRenewalMs)} (\`maxAutoLockRenewalDurationInMs\`, \`MaxAutoLockRenewalDuration\`, \`maxAutoLockRenewDuration\`). Without renewal a lock ends after ${formatDurationMs(lockMs)}. Settle every message yourself: \`autoCompleteMessages: false\`, \`AutoCompleteMessages = false\`, \`disableAutoComplete()\`.`,
    ],
  };
}

const massTransitOnServicebus = massTransit(
  [
    // `ServiceBusSendTransportContext.cs`: `ScheduledEnqueueTimeUtc`. `ServiceBusQueueErrorTransport.cs`, and
    // `ServiceBusReceivePipeConfiguratorExtensions.cs` for `ConfigureDeadLetterQueueErrorTransport`.
    `Its own endpoints cannot keep this contract: ${retriesInMemory}, they schedule their own copies, and ${errorQueue}, unless \`ConfigureDeadLetterQueueErrorTransport\` is set.`,
  ],
  "Receive with `Azure.Messaging.ServiceBus`, and make the calls in the table of Microsoft's SDKs for each outcome.",
);
