import type { Entry } from "../../../../foreign/entries.ts";
import { type FindingIn, type Sentences, nameText } from "../../../../foreign/finding.ts";
import { lambdaLimits, sqsLimits } from "../../compile/capabilities.ts";
import { timeText } from "./redrive.ts";
import { type Loop, type wayTo, loopText, wayText } from "./way.ts";

type Way = ReturnType<typeof wayTo>;

export interface Place {
  readonly region: string;
  readonly account: string;
}

interface Topic {
  readonly topic: string;
}

interface Target {
  readonly target: string;
}

interface FunctionCall {
  readonly functionName: string;
}

interface Hiding extends FunctionCall {
  readonly hiddenSeconds: number;
  readonly timeoutSeconds: number;
}

interface Wanted {
  readonly wantedSeconds: number;
  readonly batchWindowSeconds: number | null;
  /** True if the visibility timeout is SQS's default. */
  readonly isDefault: boolean;
}

export const sentences = {
  RD415: (
    _facts: object,
    { loop, retentionSeconds }: { readonly loop: Loop; readonly retentionSeconds: number | null },
  ) => ({
    predicate: "has no dead-letter queue",
    notes: [
      ...loopText(loop),
      ...(retentionSeconds === null ? [] : [`until it is ${timeText(retentionSeconds)} old: then it is deleted`]),
    ],
    help: "name a dead-letter queue in a redrive policy, with a maxReceiveCount of 5 or more",
  }),
  RD411: (
    { topic, target }: Target & { readonly topic: string | null },
    { way }: { readonly way: Way | null },
  ): Sentences =>
    topic === null
      ? {
          predicate: `has the dead-letter queue ${nameText(target)}, which does not exist`,
          notes: redriveNotes(way ?? []),
          help: `create ${nameText(target)} again, or name another queue in the redrive policy`,
        }
      : {
          predicate: `is subscribed to the topic ${nameText(topic)} with the dead-letter queue ${nameText(target)}, which does not exist`,
          notes: ["SNS deletes messages that it cannot deliver to the queue"],
          help: `create ${nameText(target)} again, or name another queue in the RedrivePolicy of the subscription`,
        },
  RD442: (
    { target, targetPlace }: Target & { readonly targetPlace: Place },
    { ownPlace }: { readonly ownPlace: Place },
  ) => ({
    predicate: `has the dead-letter queue ${nameText(target)} in ${placeText(targetPlace)}`,
    notes: [`the queue itself is in ${placeText(ownPlace)}; a message is moved within one region of one account alone`],
    help: "make a dead-letter queue beside the queue, and copy messages from there if you need them elsewhere",
  }),
  RD443: ({ target }: Target, { way }: { readonly way: Way }) => ({
    predicate: `has the dead-letter queue ${nameText(target)}, which is of the other type`,
    notes: redriveNotes(way),
    help: "name a dead-letter queue of the same type: FIFO for FIFO, standard for standard",
  }),
  RD444: ({ others }: { readonly others: readonly string[] }, { loop }: { readonly loop: Loop | null }) => ({
    predicate:
      others.length === 0
        ? "is its own dead-letter queue"
        : `gets back the messages that it moves to ${new Intl.ListFormat("en").format(others.map(nameText))}`,
    notes: loop === null ? [] : loopText(loop),
    help: "remove the redrive policy of the queue that has to keep the dead letters",
  }),
  RD445: (
    { sources, target }: Target & { readonly sources: readonly string[] },
    { maxReceiveCount }: { readonly maxReceiveCount: number | null },
  ) => ({
    predicate: `is the dead-letter queue of ${sources.map(nameText).join(", ")} and has one itself, ${nameText(target)}`,
    notes: [
      `a dead letter that is received here ${timesText(maxReceiveCount)}, even to view it, moves on at the next receive`,
      "receives in the queue before count too, in ElasticMQ and moto: then the first receive here gets nothing and moves it",
    ],
    help: "remove the redrive policy of the queue that has to keep the dead letters",
  }),
  RD446: () => ({
    predicate: "gives up a message after 1 receive",
    notes: ["SQS counts a receive when it sends the answer; if the answer is lost, the only receive is spent"],
    help: "raise maxReceiveCount; the handler has to be idempotent in any case",
  }),
  RD447: ({ maxReceiveCount, functionName }: FunctionCall & { readonly maxReceiveCount: number }) => ({
    predicate: `gives up a message after ${maxReceiveCount} receives, and the function ${nameText(functionName)} is called with it`,
    notes: [
      `AWS asks for ${lambdaLimits.advisedReceives}: a throttled call costs a receive without a run of the handler`,
    ],
    help: `raise maxReceiveCount to ${lambdaLimits.advisedReceives}, and limit calls by the maximum concurrency of the mapping`,
  }),
  RD448: ({
    keptSeconds,
    deadLetterQueue,
    deadKeptSeconds,
  }: {
    readonly keptSeconds: number;
    readonly deadLetterQueue: string;
    readonly deadKeptSeconds: number;
  }) => ({
    predicate: `keeps a message for ${timeText(keptSeconds)}, and its dead-letter queue ${nameText(deadLetterQueue)} for ${timeText(deadKeptSeconds)}`,
    notes: [
      "a moved message keeps its age: if it waited for an absent consumer, SQS deletes it from the dead-letter queue soon after it came, or at once",
    ],
    help: "raise the retention period of the dead-letter queue to 14 days, and keep that of the queue some days below it",
  }),
  RD449: (
    {
      windowSeconds,
      keptSeconds,
      keeper,
    }: { readonly windowSeconds: number; readonly keptSeconds: number; readonly keeper: string | null },
    { way }: { readonly way: Way },
  ) => ({
    predicate: `has retries that can take ${timeText(windowSeconds)}, and ${keeper === null ? "keeps a message" : `its dead-letter queue ${nameText(keeper)} keeps one`} for ${timeText(keptSeconds)}`,
    notes: [
      ...wayText(way),
      "the time of a message starts when it is sent; on standard queues it goes on in the dead-letter queue",
    ],
    help: "raise the retention period, which can be 14 days, or lower maxReceiveCount or the visibility timeout",
  }),
  RD450: (facts: Hiding, wanted: Wanted) =>
    hidingSentences(
      facts,
      wanted,
      "SQS delivers the message again while the function still works on it, and it loses its receives",
    ),
  RD451: (facts: Hiding, wanted: Wanted) =>
    hidingSentences(
      facts,
      wanted,
      `AWS asks for ${wanted.wantedSeconds} s: Lambda repeats a throttled call within the visibility timeout, and gives up when it ends`,
    ),
  RD452: ({ target }: Target, { way }: { readonly way: Way }) => ({
    predicate: `has the dead-letter queue ${nameText(target)}, whose redrive-allow policy does not allow it`,
    notes: redriveNotes(way),
    help: `add the ARN of the queue to the sourceQueueArns of the redrive-allow policy of ${nameText(target)}`,
  }),
  RD453: ({ count }: { readonly count: number }) => ({
    predicate: `names ${count} source queues in its redrive-allow policy, and SQS takes ${sqsLimits.redriveSources} at most`,
    notes: ["with more it lets every queue of the account use this one as its dead-letter queue"],
    help: "give groups of consumers separate dead-letter queues, or write allowAll if you mean it",
  }),
  RD454: () => ({
    predicate: "keeps its messages unencrypted",
    notes: [],
    help: "set SqsManagedSseEnabled to true: it costs nothing, and publishers and consumers change nothing",
  }),
  RD455: () => ({
    predicate: "takes messages from any principal",
    notes: [
      'its policy allows the principal "*" to send, without a condition: every account of AWS, and unsigned requests',
    ],
    help: "name the accounts or services that send, or add a condition such as aws:SourceArn or aws:PrincipalOrgID",
  }),
  RD456: ({ topic }: Topic) => ({
    predicate: `is subscribed to the topic ${nameText(topic)} without a dead-letter queue of the subscription`,
    notes: ["SNS finally deletes messages that it cannot deliver because of the queue, its policy or its key"],
    help: "name a queue in the RedrivePolicy of the subscription; the redrive policy of the queue is for messages that its consumer fails on",
  }),
  RD457: (
    { topic, deadLetterQueue }: Topic & { readonly deadLetterQueue: string | null },
    { topicArn, target }: Target & { readonly topicArn: string },
  ) => ({
    predicate: `is subscribed to the topic ${nameText(topic)}, which ${deadLetterQueue === null ? "its policy" : `the policy of the dead-letter queue ${nameText(deadLetterQueue)}`} does not let in`,
    notes: [
      deadLetterQueue === null
        ? "no message of the topic arrives"
        : "SNS deletes messages that it cannot deliver to the queue, because it cannot put them there either",
      "publishers get no error",
    ],
    help: `allow the service sns.amazonaws.com to sqs:SendMessage in the policy of ${nameText(target)}, with aws:SourceArn ${topicArn}`,
  }),
  RD458: (
    { topic }: Topic,
    { attribute, filterPolicy }: { readonly attribute: string; readonly filterPolicy: Entry },
  ) => ({
    predicate: `is subscribed to the topic ${nameText(topic)} with a filter that matches no message`,
    notes: [`no value matches the filter on ${nameText(attribute)}: ${JSON.stringify(filterPolicy)}`],
    help: "name at least one value that messages have, or remove the subscription",
  }),
  RD459: ({ topic, isTopicStandard }: Topic & { readonly isTopicStandard: boolean }) =>
    isTopicStandard
      ? {
          predicate: `is FIFO and subscribed to the standard topic ${nameText(topic)}`,
          notes: ["only a FIFO topic delivers to a FIFO queue"],
          help: "make the topic FIFO, or the queue standard",
        }
      : {
          predicate: `is subscribed to the topic ${nameText(topic)} with a dead-letter queue of the other type`,
          notes: ["the dead-letter queue of a subscription has the type of the queue, FIFO or standard"],
          help: "name a dead-letter queue of the queue's own type",
        },
  RD460: () => ({
    predicate: "has a visibility timeout of 0 s",
    notes: [
      "a message is visible to the next consumer while the first one still handles it, and each of these receives counts",
    ],
    help: "set it above the time of the handler; the default of SQS is 30 s",
  }),
  RD461: ({ topic }: Topic) => ({
    predicate: `is subscribed to the topic ${nameText(topic)} and does not exist`,
    notes: ["every message of the topic goes to the subscription's dead-letter queue, or is deleted without one"],
    help: "remove the subscription, or create the queue again",
  }),
  RD462: ({ functionName, batchSize }: FunctionCall & { readonly batchSize: number }) => ({
    predicate: `goes to the function ${nameText(functionName)} in batches of ${batchSize} that fail as a whole`,
    notes: ["one failed message brings back its whole batch, also the handled messages, and each loses a receive"],
    help: "set FunctionResponseTypes to ReportBatchItemFailures, and let the function answer with the messages that failed",
  }),
  RD463: ({ functionName }: FunctionCall) => ({
    predicate: `goes to the function ${nameText(functionName)} through filters`,
    notes: ["Lambda deletes a message that matches none of them: it reaches no function and no dead-letter queue"],
    help: "filter before the queue, in the subscription of the topic; or let the function skip other messages",
  }),
  RD464: ({ topic, deadLetterQueue }: Topic & { readonly deadLetterQueue: string | null }) => ({
    predicate: `is subscribed to the topic ${nameText(topic)}, which cannot use the key alias/aws/sqs${deadLetterQueue === null ? "" : ` of the dead-letter queue ${nameText(deadLetterQueue)}`}`,
    notes: ["messages published to the topic do not arrive, and publishers get no error"],
    help: "use SSE-SQS, or a key of your own whose policy allows sns.amazonaws.com kms:GenerateDataKey and kms:Decrypt",
  }),
} as const;

export type SqsFinding = FindingIn<typeof sentences>;

function redriveNotes(way: Way): string[] {
  return [...wayText(way), "AWS does not document the rest: SQS may deliver it for ever instead"];
}

function hidingSentences(
  { hiddenSeconds, functionName, timeoutSeconds }: Hiding,
  { wantedSeconds, batchWindowSeconds, isDefault }: Wanted,
  consequence: string,
): Sentences {
  const window = batchWindowSeconds === null ? "" : `, and the ${batchWindowSeconds} s of its batch window`;
  return {
    predicate: `hides a message for ${hiddenSeconds} s, and the function ${nameText(functionName)} may run for ${timeoutSeconds} s`,
    notes: [...(isDefault ? ["30 s is the default of a queue"] : []), consequence],
    help: `set the visibility timeout to ${wantedSeconds} s: ${lambdaLimits.visibilityFactor} times the timeout of the function${window}`,
  };
}

function placeText({ region, account }: Place): string {
  return `${region} of account ${account}`;
}

function timesText(count: number | null): string {
  if (count === null) return "as often as the redrive policy says";
  return count === 1 ? "once" : `${count} times`;
}
