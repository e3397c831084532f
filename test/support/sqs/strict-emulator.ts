import { refusalOf, thingsIn } from "./documented-limits.ts";
import type { SqsEmulator, StartedEmulator } from "./emulators.ts";
import { type Call, type Fate, startRecordingProxy } from "./recording-proxy.ts";

/** The limit for one message of SQS. Source: docs.aws.amazon.com/sns/latest/dg/sns-message-attributes.html. */
const mostAttributes = 10;

/**
 * An emulator behind a proxy that refuses the calls that AWS documents to refuse. The caller stops the proxy; the
 * emulator itself goes on.
 */
export async function startStrictly(emulator: SqsEmulator): Promise<StartedEmulator> {
  const proxy = await startRecordingProxy(emulator.endpoint);
  proxy.decide((call) => fateOf(call, proxy.calls));
  return { ...emulator, endpoint: proxy.endpoint, stop: async () => proxy.close() };
}

function fateOf(call: Call, earlier: readonly Call[]): Fate {
  const refusal = refusalOf(call);
  if (refusal !== null) return { ...refusal, status: 400 };
  return isDiscarded(call, earlier) ? { answer: published } : "pass";
}

const published =
  "<PublishResponse><PublishResult><MessageId>00000000-0000-4000-8000-000000000000</MessageId></PublishResult></PublishResponse>";

/**
 * SNS takes the message, but delivers it to no subscription with raw delivery. Here it does not reach the dead-letter
 * queue either, which is the worse possibility: `topic-raw-dead-letter`.
 */
function isDiscarded(call: Call, earlier: readonly Call[]): boolean {
  const [thing] = thingsIn(call);
  if (thing?.kind !== "publication" || thing.attributes <= mostAttributes) return false;
  const subscriptions = earlier.filter(
    ({ operation, input }) => operation === "Subscribe" && input["TopicArn"] === thing.topic,
  );
  const isRaw = (subscription: Call): boolean =>
    thingsIn(subscription).some(
      (each) => each.kind === "subscription" && each.attributes["RawMessageDelivery"] === "true",
    );
  if (!subscriptions.every(isRaw)) throw new Error("only some subscriptions of the topic have raw delivery");
  return true;
}
