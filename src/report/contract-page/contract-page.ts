import { formatDurationMs } from "../../declare/duration.ts";
import type { Contract, OutcomeCase, OutcomeRow } from "../operations.ts";
import { outcomeRows } from "../operations.ts";
import { formatRangeMs } from "../sentences.ts";
import { visible } from "../visible.ts";
import { amqpClientJava, anyAmqp10 } from "./amqp-client-java.ts";
import { boto3, lambda } from "./boto3.ts";
import type { Client } from "./client.ts";
import { rabbitmqDotnet } from "./dotnet.ts";
import { rabbitmqFrameworks, sqsFrameworks } from "./frameworks.ts";
import { everyOperation } from "./java.ts";
import { pika } from "./pika.ts";
import { servicebusClients } from "./servicebus.ts";
import { springAmqp } from "./spring-amqp.ts";
import { springCloudAws } from "./spring-cloud-aws.ts";

/**
 * Writes a contract as a page of Markdown for people who consume with another language or framework: what their code has to do, and
 * snippets that do it.
 */
export function renderContractPage(contract: Contract): string {
  return `${[
    `# Consuming as ${inline(contract.consumer)}`,
    "<!-- Written by `redeliver contract --markdown` from the contract alone. -->",
    `What the code of the consumer ${inline(contract.consumer)} has to do on ${contract.target}, strategy ${contract.strategy}, for its retries to be what was declared. \`redeliver contract --json\` gives the same to programs.`,
    factsOf(contract),
    "## For each outcome",
    "Operations in order, the next one only when the one before has succeeded.",
    tableOf(["outcome", "what the code does", "why"], outcomeRows(contract).map(rowOf)),
    "## Rules for every client",
    rulesOf(contract)
      .map((rule) => `- ${rule}`)
      .join("\n"),
    "## Clients",
    ...clientsOf(contract).map(sectionOf),
  ].join("\n\n")}\n`;
}

function factsOf(contract: Contract): string {
  const delays = contract.attempts
    .slice(1)
    .map(({ delayMs, delayLatestMs = delayMs }) => formatRangeMs(delayMs, delayLatestMs));
  const { handlerTimeoutMs, permanentErrors } = contract;
  return tableOf(
    ["", ""],
    [
      [
        "work queue",
        contract.workQueue === null ? "one for each instance, which declares it" : inline(contract.workQueue),
      ],
      ["dead queue", contract.deadQueue === null ? "none" : inline(contract.deadQueue)],
      ["protocol", contract.protocol],
      ["attempts", String(contract.attempts.length)],
      ["delays between them", delays.length === 0 ? "none" : delays.join(", ")],
      ["a handler may run for", handlerTimeoutMs === null ? "not declared" : formatDurationMs(handlerTimeoutMs)],
      ["permanent errors", permanentErrors.length === 0 ? "none declared" : permanentErrors.map(inline).join(", ")],
      ["number of the attempt", attemptNumberOf(contract)],
    ],
  );
}

function attemptNumberOf({ attemptNumber }: Contract): string {
  if (attemptNumber === null) return "always 1";
  switch (attemptNumber.from) {
    case "receive-count":
      return "the message's `ApproximateReceiveCount`, which the receive has to ask for";
    case "header":
      return `the header \`${attemptNumber.header}\`, plus 1; 1 where it is missing`;
    case "routing-key":
      return `what follows ${inline(attemptNumber.prefix)} in the routing key; 1 for every other key`;
    case "delivery-count":
      return "`delivery-count` of the message's AMQP header, plus 1; in .NET `DeliveryCount` is it already";
    case "application-property":
      return `the application property \`${attemptNumber.attempt}\`; 1 where it is missing`;
    default:
      return attemptNumber satisfies never;
  }
}

/** What the operations alone do not say. */
function rulesOf(contract: Contract): readonly string[] {
  const common = [
    "An error is permanent if its name, or the name of one that it was raised from, is among the permanent errors; every other one is transient.",
    "A handler that takes longer than it may is ended, and is a transient failure.",
    "What the handler does has to bear being done twice: every broker delivers at least once.",
  ];
  if (contract.protocol === "sqs") {
    const { messageSystemAttributeNames, messageAttributeNames } = contract.receive;
    return [
      ...common,
      `Ask for the system attributes ${messageSystemAttributeNames.map(inline).join(", ")} and the message attributes ${messageAttributeNames.map(inline).join(", ")}: SQS gives only what is asked for.`,
      "Receive no message before its handler can begin: its visibility timeout runs from the receive.",
      "A copy keeps the body and all message attributes, and is sent, and answered, before the message is deleted.",
      ...(contract.lambda === undefined
        ? []
        : [
            `The consumer is the function ${inline(contract.lambda.function)} of AWS Lambda: for \`DeleteMessage\` it leaves the message out of \`batchItemFailures\`, everything else it names there.`,
          ]),
    ];
  }
  if (contract.protocol === "servicebus") {
    return [
      ...common,
      "A copy keeps the body, the subject and the application properties, but for those that the operation sets or takes off, and has no time to live of its own: it would run again from the beginning while the copy waits.",
      "The id of a copy is that of the original message and the suffix that the operation names: duplicate detection would drop a copy with the original's own.",
      `Where that id would have more than ${contract.longestMessageId} characters, the SHA-256 of the original id, in hexadecimal digits, stands in its place. A message without an id is known by ${inline("sequence-number:")} and its sequence number.`,
      "A copy is sent, and answered, before the message is completed.",
    ];
  }
  const copying = [
    "A copy keeps the body, the properties and the headers of the message, but for the headers that the operation names, the publisher's `expiration` and its `user-id`: the broker would delete a dead letter by the one and refuse it by the other. CC and BCC would send it elsewhere as well.",
    ...(hasSpread(contract)
      ? [
          "Jitter is a choice of exchanges. Where `basic.publish` has a `spread`, take one of its entries, or the operation's own `exchange` and `expiration`, at random and each as likely as the others. The operation's own alone would do as well: every copy then waits as long as the delay can be.",
        ]
      : []),
    "A copy is published with `mandatory` on a channel with publisher confirms. Only when it is confirmed, and was not returned, is the message acknowledged. Otherwise close the connection: the message comes back.",
  ];
  return [
    ...common,
    ...(everyOperation(contract).some(({ operation }) => operation === "basic.publish") ? copying : []),
    "Hand back what was not tried before closing the connection: on some versions a message that is cut off counts as a crash.",
  ];
}

function hasSpread({ outcomes }: Contract): boolean {
  const { transient } = outcomes;
  return ("byAttempt" in transient ? transient.byAttempt.flat() : transient).some((each) => "spread" in each);
}

/** What can be said of clients, by what the consumer speaks. */
function clientsOf(contract: Contract): readonly Client[] {
  switch (contract.protocol) {
    case "amqp-0-9-1":
      return contract.workQueue === null
        ? []
        : [pika(contract), springAmqp(contract), rabbitmqDotnet(contract), ...rabbitmqFrameworks];
    case "amqp-1.0":
      return [amqpClientJava(contract), anyAmqp10];
    case "sqs":
      // What Lambda polls nobody else should.
      return contract.lambda === undefined
        ? [boto3(contract), springCloudAws(contract), ...sqsFrameworks]
        : [lambda(contract)];
    case "servicebus":
      return servicebusClients(contract);
    default:
      return contract satisfies never;
  }
}

function sectionOf({ title, evidence, text, code = [] }: Client): string {
  const blocks = code.map((each) => `\`\`\`${each.language}\n${each.text}\n\`\`\``);
  return [`### ${title}`, `*${evidence}*`, ...text, ...blocks].join("\n\n");
}

function rowOf({ outcome, asked, cases, why }: OutcomeRow): readonly string[] {
  return [asked === null ? outcome : `${outcome} ${asked}`, cases.map(caseOf).join("<br>"), why ?? ""];
}

function caseOf({ attempts, operations }: OutcomeCase): string {
  const numbered = operations.length > 1;
  const lines = operations.map(({ name, flags }, index) => {
    const said = flags.length === 0 ? "" : ` (${flags.join("; ")})`;
    return `${numbered ? `${index + 1}. ` : ""}\`${name}\`${said}`;
  });
  return [...(attempts === null ? [] : [`*${attempts}:*`]), ...lines].join("<br>");
}

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => visible(cell).replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

/** A name as code. One with backticks stands between more of them than it has in a row. */
function inline(name: string): string {
  const longest = Math.max(0, ...[...name.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return longest === 0 ? `${fence}${visible(name)}${fence}` : `${fence} ${visible(name)} ${fence}`;
}
