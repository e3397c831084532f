import { GetQueueAttributesCommand, type SQSClient } from "@aws-sdk/client-sqs";

import { type Diagnostic, diagnostic } from "../../../diagnostics/diagnostic.ts";
import { refused } from "../../../diagnostics/render.ts";
import type { Comparison } from "./port.ts";
import type { Place } from "./client.ts";
import { answerWithinMs, createClient, isDenied, isExpired, isMissing, isRefusal, placeOf } from "./client.ts";
import { compareQueue, type FoundAttributes } from "./compare-queue.ts";
import type { Contract } from "../compile/contract.ts";
import { type MissingRight, missingRights } from "./missing-rights.ts";
import { findUrls, queuesOf, type SqsQueue } from "./queue-urls.ts";
import { notAllowed, notKnown, saidBy } from "./refusal.ts";

/**
 * Compares the work queue and the dead queue with the compiled ones, and checks whether the contract's operations are
 * allowed there. It receives nothing and changes nothing.
 *
 * @throws RefusedError
 */
export async function checkQueues({ compiled, contract, connection, report }: Comparison): Promise<void> {
  const { work, dead } = queuesOf(compiled, contract);
  const place = placeOf(compiled, connection);
  const results = await Promise.all(
    [work, dead].map((queue) => judge(() => createClient(compiled, connection), queue, contract, place)),
  );
  const missing = results.flatMap((each) => each.missing);
  const problems = [
    ...withoutRepeats(results.flatMap((each) => each.problems)),
    ...(missing.length === 0 ? [] : [notAllowed(missing, place, contract)]),
  ];
  if (problems.length > 0) throw refused(problems);
  for (const event of results.flatMap((each) => each.events)) report(event);
}

type Judged = ReturnType<typeof compareQueue> & Pick<Awaited<ReturnType<typeof lookAt>>, "missing">;

async function judge(connect: () => SQSClient, queue: SqsQueue, contract: Contract, place: Place): Promise<Judged> {
  try {
    // Keys that the program has kept too long are no refusal: a new client fetches new ones.
    const { attributes, missing } = await lookAt(connect, queue, contract).catch((error: unknown) => {
      if (!isExpired(error)) throw error;
      return lookAt(connect, queue, contract);
    });
    const compared = attributes === null ? { problems: [], events: [] } : compareQueue(queue, attributes);
    return { ...compared, missing };
  } catch (error) {
    return { problems: [whyNot(error, queue, place)], events: [], missing: [] };
  }
}

async function lookAt(connect: () => SQSClient, { name }: SqsQueue, contract: Contract) {
  const client = connect();
  const denied: MissingRight[] = [];
  const note =
    (action: string, url: string | null) =>
    (error: unknown): null => {
      if (!isDenied(error)) throw error;
      denied.push({ action, queue: name, url, error });
      return null;
    };
  try {
    const urls = await findUrls(client, [name]).catch(note("sqs:GetQueueUrl", null));
    const url = urls?.get(name);
    if (url === undefined) return { attributes: null, missing: denied };
    const [attributes, missing] = await Promise.all([
      attributesOf(client, url).catch(note("sqs:GetQueueAttributes", url)),
      missingRights(client, { name, url }, contract),
    ]);
    // The attributes are null if the credentials may not read them.
    return { attributes, missing: [...denied, ...missing] };
  } finally {
    client.destroy();
  }
}

async function attributesOf(client: SQSClient, url: string): Promise<FoundAttributes> {
  const options = { abortSignal: AbortSignal.timeout(answerWithinMs) };
  const command = new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ["All"] });
  const { Attributes = {} } = await client.send(command, options);
  return Attributes;
}

function whyNot(error: unknown, { name }: SqsQueue, place: Place): Diagnostic {
  const { where } = place;
  const said = saidBy(error);
  if (isMissing(error))
    return diagnostic("RD805", {
      path: name,
      message: `there is no queue ${name} at ${where}`,
      notes: ["SQS gives the same answer for a queue that these credentials may not see", said],
      help: "deploy the system before its consumers start: pulumi up, or redeliver compile --format aws-json and aws cloudformation deploy; or correct the region or the account",
    });
  if (isRefusal(error)) return notKnown(error, place);
  return diagnostic("RD804", {
    path: "options.connection",
    message: `SQS does not answer at ${where}`,
    notes: [said],
    help: "correct the endpoint or the region, or check the network",
  });
}

/** Refused credentials or a dead address are one problem for any number of queues. */
function withoutRepeats(problems: readonly Diagnostic[]): readonly Diagnostic[] {
  return problems.filter(
    ({ code, path }, index) => problems.findIndex((each) => each.code === code && each.path === path) === index,
  );
}
