import type { AnswerReader } from "../brokers/broker.ts";
import type { Checked, Diagnostic } from "../diagnostics/diagnostic.ts";
import { diagnostic } from "../diagnostics/diagnostic.ts";
import { answerOf, loadClients, type AwsClients, type AwsPlace } from "./aws-clients.ts";
import { connectionProblem } from "./connection-problem.ts";

/** So many requests are under way at a time. */
const mostAtOnce = 8;

const actions = {
  queues: "sqs:ListQueues and sqs:GetQueueAttributes",
  subscriptions: "sns:ListSubscriptions and sns:GetSubscriptionAttributes",
  mappings: "lambda:ListEventSourceMappings and lambda:GetFunctionConfiguration",
} as const;

/**
 * Reads what is in an account and region through the SDK of AWS, with the credentials that it finds where the AWS CLI does. Only requests
 * that read are made.
 *
 * Queues have to be there to be read; what may not be read of one of them, or of topics and functions, is left out, with a warning.
 */
export async function readLiveAws<Deployment>(
  place: AwsPlace,
  reader: AnswerReader<Deployment>,
): Promise<Checked<Deployment>> {
  const clients = await loadClients(place);
  if (!clients.ok) return clients;
  const { value: aws } = clients;
  try {
    const hidden = new Map<string, unknown>();
    const queues = await attempt(async () => readQueues(aws, hidden));
    if ("problem" in queues) return { ok: false, diagnostics: [refused(queues.problem, place)] };
    const [, ...attributes] = queues.answers;
    if (attributes.length === 0) {
      const [denial] = hidden.values();
      return { ok: false, diagnostics: [denial === undefined ? nothingThere(place) : refused(denial, place)] };
    }
    const beside = await Promise.all([
      leftOut("subscriptions to topics", actions.subscriptions, async () => readSubscriptions(aws)),
      leftOut("Lambda functions", actions.mappings, async () => readMappings(aws)),
    ]);
    const read = reader.read([...queues.answers, ...beside.flatMap(({ answers }) => answers)]);
    if (!read.ok) return read;
    const warnings = [...hiddenQueues([...hidden.keys()]), ...beside.flatMap((each) => each.warnings)];
    return { ...read, warnings: [...warnings, ...read.warnings] };
  } finally {
    aws.close();
  }
}

type Answers = readonly unknown[];

/** @param hidden collects the URLs of queues whose own policy keeps their attributes, with the answer */
async function readQueues(aws: AwsClients, hidden: Map<string, unknown>): Promise<Answers> {
  const urls = await aws.queueUrls();
  const answers = await inTurns(urls, async (url) => {
    try {
      return await aws.queueAttributes(url);
    } catch (cause) {
      if (answerOf(cause)?.kind !== "denied") throw cause;
      hidden.set(url, cause);
      return null;
    }
  });
  return [{ QueueUrls: urls }, ...answers.filter((each) => each !== null)];
}

function hiddenQueues(urls: readonly string[]): readonly Diagnostic[] {
  if (urls.length === 0) return [];
  const names = urls.map((url) => url.split("/").at(-1) ?? url);
  const more = names.length > 5 ? ` and ${names.length - 5} more` : "";
  return [
    diagnostic("RD409", {
      path: "",
      message: `queues are left out, since their attributes may not be read: ${names.slice(0, 5).join(", ")}${more}`,
      notes: ["a policy of the queue may deny what the user may do elsewhere"],
      help: "allow sqs:GetQueueAttributes, which only reads",
    }),
  ];
}

async function readSubscriptions(aws: AwsClients): Promise<Answers> {
  const subscriptions = await aws.subscriptions();
  // One that nobody has confirmed yet has no ARN, and gets nothing.
  const ofQueues = subscriptions.flatMap(({ Protocol: protocol, SubscriptionArn: arn }) =>
    protocol === "sqs" && arn?.startsWith("arn:") === true ? [arn] : [],
  );
  const answers = await inTurns(ofQueues, aws.subscriptionAttributes);
  return [{ Subscriptions: [] }, ...answers];
}

async function readMappings(aws: AwsClients): Promise<Answers> {
  const mappings = await aws.mappings();
  const names = new Set(mappings.flatMap(({ FunctionArn: arn }) => (arn === undefined ? [] : [arn])));
  return [{ EventSourceMappings: mappings }, ...(await inTurns([...names], aws.functionTimeout))];
}

/** Asks about many things, some at a time. What was deleted in the meantime is passed over. */
async function inTurns(names: readonly string[], ask: (name: string) => Promise<unknown>): Promise<Answers> {
  const answers: unknown[] = [];
  const open = names.values();
  const worker = async (): Promise<void> => {
    for (const name of open) {
      try {
        answers.push(await ask(name));
      } catch (cause) {
        if (!isGone(cause)) throw cause;
      }
    }
  };
  await Promise.all(Array.from({ length: mostAtOnce }, worker));
  return answers;
}

async function attempt(
  run: () => Promise<Answers>,
): Promise<{ readonly answers: Answers } | { readonly problem: unknown }> {
  try {
    return { answers: await run() };
  } catch (problem) {
    return { problem };
  }
}

async function leftOut(
  what: string,
  needed: string,
  run: () => Promise<Answers>,
): Promise<{ readonly answers: Answers; readonly warnings: readonly Diagnostic[] }> {
  const read = await attempt(run);
  if ("answers" in read) return { answers: read.answers, warnings: [] };
  const warning = diagnostic("RD409", {
    path: "",
    message: `${what} are left out: ${problemText(read.problem)}`,
    notes: ["nothing is said of what they would decide"],
    help: `allow ${needed}, which only read`,
  });
  return { answers: [], warnings: [warning] };
}

function isGone(cause: unknown): boolean {
  return /^(QueueDoesNotExist|NonExistentQueue|(Resource)?NotFound(Exception)?)$/.test(answerOf(cause)?.name ?? "");
}

const credentialsHelp =
  "set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, as for the AWS CLI; aws sts get-caller-identity shows who you are";

function refused(cause: unknown, { region, endpoint }: AwsPlace): Diagnostic {
  const answer = answerOf(cause);
  const place = endpoint === undefined ? `SQS in ${region}` : new URL(endpoint).origin;
  if (answer === null) {
    const message = `${place} cannot be read: ${connectionProblem(cause)}`;
    return diagnostic("RD407", { path: "url", message, help: "look at the region, the endpoint and the proxy" });
  }
  switch (answer.kind) {
    case "no-credentials":
      return diagnostic("RD408", { path: "url", message: "no credentials for AWS are found", help: credentialsHelp });
    case "bad-credentials":
      return diagnostic("RD408", {
        path: "url",
        message: `${place} refuses the credentials (${answer.name})`,
        help: credentialsHelp,
      });
    case "denied":
      return diagnostic("RD408", {
        path: "url",
        message: `${place} does not let these credentials read queues (${answer.name})`,
        notes: Object.values(actions).map((each) => `wanted are ${each}`),
        help: `allow ${actions.queues}, which only read`,
      });
    case "other":
      return diagnostic("RD407", {
        path: "url",
        message: `${place} does not answer as SQS does (${answer.name})`,
        help: "look at the region and the endpoint",
      });
    default:
      return answer.kind satisfies never;
  }
}

function problemText(cause: unknown): string {
  const answer = answerOf(cause);
  return answer === null ? connectionProblem(cause) : `the answer is ${answer.name}`;
}

function nothingThere({ region }: AwsPlace): Diagnostic {
  return diagnostic("RD401", {
    path: "url",
    message: `there is no queue in ${region} in the account of these credentials`,
    help: "name the region of the queues, and look at the account: aws sts get-caller-identity",
  });
}
