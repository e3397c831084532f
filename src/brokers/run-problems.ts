import { type CatalogueEntry, error } from "../diagnostics/catalogue-entry.ts";

/** RD8xx: reasons why a consumer does not start. */
export const runProblems = {
  RD801: error(
    "No such consumer",
    "The declaration has no consumer of this name, so there is no contract to keep and no queue to take from. Names are case-sensitive. Use a name from the note, or declare the consumer and deploy it first.",
  ),
  RD802: error(
    "Options that consume does not accept",
    "Redeliver checks the options of consume before it connects, and reports all mistakes at once. It refuses unknown options: otherwise you would find a mistyped concurrency in production. Messages do not repeat values of a connection, because they may contain passwords.",
  ),
  RD803: error(
    "The client library is missing",
    "Redeliver uses the usual client library of each broker, and installs none of them. Install the one that the message names, beside redeliver.",
  ),
  RD804: error(
    "No connection to the broker",
    "Nothing answers at the address, or another program answers. A consumer that starts reports this and ends, because the address may be wrong. A consumer that was connected before reconnects by itself, with growing pauses.",
  ),
  RD805: error(
    "A compiled resource is not deployed",
    "The consumer's messages pass through these queues and exchanges, and one of them is missing. A copy published to a missing exchange is lost, and without its dead queue a message has no place to end. Deploy the system first, into the virtual host that the consumer connects to.",
  ),
  RD806: error(
    "The broker is not the target",
    "The consumer was compiled for another version. For the running version the compiler makes other queues or operations, or refuses the declaration. The consumer would lose count, retry too early or retry for ever: RabbitMQ up to 4.2 accepts the arguments of delayed retry and ignores them. If the compiled result is the same for both versions, the consumer runs and logs the difference. A deployment to a broker that is older than its target ends before the first resource.",
    "https://www.rabbitmq.com/docs/quorum-queues",
  ),
  RD807: error(
    "No permission",
    "The broker denies this user the login, the virtual host, or an operation that the contract needs. The consumer asks before it starts, because without the permission to write it would retry the first copy for ever. On RabbitMQ it asks with a message in a transaction that it never commits. On SQS it asks with a receipt that no queue has given, with an empty batch, and with a first receive that waits for nothing. From RabbitMQ 4.3 a passive declaration needs a permission, and comparing arguments without a managementUrl needs the permission to configure. Without these the consumer runs, and logs the values that it could not compare.",
    "https://www.rabbitmq.com/docs/access-control",
  ),
  RD808: error(
    "The deployed topology differs from the compiled one",
    "A queue, an exchange or the policy in force has other values than the compiled topology. With another delivery limit or dead-letter exchange, messages get other attempts, end elsewhere, or are lost. The notes show both values of each difference. Without a managementUrl the broker itself compares, and reports only the first difference. Deploy again, or run the consumer from the declaration that is deployed. If arguments of a queue differ, name the deployed strategy or version in the target, because no broker can change them.",
    "https://www.rabbitmq.com/docs/policies",
  ),
  RD811: error(
    "The confirmed count is not the plan's",
    "Nothing moves before somebody agrees to the number of letters. The number is not that of the plan, so the queue or the filter is another one than at the look before. Nothing has moved. Look at the plan again, and confirm its number.",
  ),
  RD812: error(
    "The queue has consumers",
    "Letters in a dead queue wait for a person. A queue with consumers is a work queue, or another program handles its letters. A redrive there would take messages that are being worked on. Name the dead queue, or end the other program.",
  ),
  RD813: error(
    "The export cannot be imported",
    "An import sends nothing before it has read the whole file. The file was cut off or changed, or it has letters of another queue or broker, or letters that cannot be sent as they were. The message names the letters. A backup of a command that was killed lacks its end, and --cut-off imports its whole letters.",
  ),
  RD814: error(
    "The edit fails for a letter",
    "The function of dead edit threw, ended never, or gave something that is no letter, or the schema refused the body. The message names the letter. Nothing has moved, because the function runs on all chosen letters before the first is sent.",
  ),
  RD816: error(
    "Another redrive of the queue is running",
    "Two redrives of one dead queue would count the deaths of each other's letters, and neither could stop in time. So a redrive takes a lock first, and so do dead park, discard and edit. On RabbitMQ it is an exclusive queue, which every machine sees. On all brokers it is also a lock in the journal. Both end with the process that has them. Wait for the other redrive, or pause it.",
  ),
  RD817: error(
    "The journal cannot be used",
    "A redrive writes into its journal before it sends, because the journal shows after a crash which letters are its own. Other commands that move letters take their lock there. Without a journal nothing moves. The message has the reason. A file may be locked, read-only, no journal, or that of another version. A database may let nobody in.",
  ),
  RD810: error(
    "Bindings differ from the compiled ones",
    "Between the deployed exchanges and queues a binding is missing, or there is one too many. Without the binding to its source a work queue gets nothing. Without the binding to its dead queue a dead message is lost, or held back with all later ones. A binding out of the consumer's own retries copies each message that passes it. You may bind sources and dead letters to more queues: the consumer does not check those.",
    "https://www.rabbitmq.com/docs/dlx",
  ),
} as const satisfies Readonly<Record<string, CatalogueEntry>>;
