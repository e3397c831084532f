import { toAudit } from "../compile/permissions.ts";
import { type Checked, type Diagnostic, diagnosed, diagnostic } from "../../../diagnostics/diagnostic.ts";
import { answerOf, loadClients, type AwsClients, type AwsPlace } from "./aws-clients.ts";
import { connectionProblem } from "../../../foreign/connection-problem.ts";
import type { RequestBounds, RequestBudget } from "../../../foreign/request-budget.ts";
import { defaultBounds, requestBudget } from "../../../foreign/request-budget.ts";

type ReadAnswers<Deployment> = (answers: readonly unknown[]) => Checked<Deployment>;

const mostAtOnce = 8;

const actions = {
  queues: toAudit.queues.join(" and "),
  subscriptions: toAudit.subscriptions.join(" and "),
  mappings: toAudit.mappings.join(" and "),
} as const;

/**
 * Reads an account and region through the SDK of AWS. The credentials are those of the AWS CLI. All requests only read.
 *
 * The queues must be readable. If one of them, or a topic or function, may not be read, it is left out with a warning.
 */
export async function readAccount<Deployment>(
  place: AwsPlace,
  read: ReadAnswers<Deployment>,
  bounds: Partial<RequestBounds> = {},
): Promise<Checked<Deployment>> {
  const budget = requestBudget({ ...defaultBounds, ...bounds });
  try {
    const clients = await loadClients(place, budget);
    return clients.ok ? await readWithin(place, read, clients.value, budget) : clients;
  } finally {
    budget.end();
  }
}

async function readWithin<Deployment>(
  place: AwsPlace,
  read: ReadAnswers<Deployment>,
  aws: AwsClients,
  budget: RequestBudget,
): Promise<Checked<Deployment>> {
  try {
    const hidden = new Map<string, unknown>();
    const queues = await attempt(async () => readQueues(aws, hidden));
    if ("problem" in queues) return { ok: false, diagnostics: [refused(queues.problem, place, budget)] };
    const [, ...attributes] = queues.answers;
    if (attributes.length === 0) {
      const [denial] = hidden.values();
      return { ok: false, diagnostics: [denial === undefined ? nothingThere(place) : refused(denial, place, budget)] };
    }
    const beside = await Promise.all([
      leftOut("subscriptions to topics", actions.subscriptions, async () => readSubscriptions(aws)),
      leftOut("Lambda functions", actions.mappings, async () => readMappings(aws)),
    ]);
    // An answer cut off by the budget is no missing right. The unread rest may contain anything.
    if (budget.problem() !== null) return { ok: false, diagnostics: [refused(null, place, budget)] };
    const found = read([...queues.answers, ...beside.flatMap(({ answers }) => answers)]);
    if (!found.ok) return found;
    const warnings = [...hiddenQueues([...hidden.keys()]), ...beside.flatMap((each) => each.warnings)];
    return { ...found, warnings: [...warnings, ...found.warnings] };
  } finally {
    aws.close();
  }
}

type Answers = readonly unknown[];

/** @param hidden collects the URLs of queues with a policy that hides their attributes, with the answer */
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
  return diagnosed("RD409", {
    path: "",
    message: `queues are left out, since their attributes may not be read: ${names.slice(0, 5).join(", ")}${more}`,
    notes: ["a policy of the queue may deny this user"],
    help: "allow sqs:GetQueueAttributes, which only reads",
  });
}

async function readSubscriptions(aws: AwsClients): Promise<Answers> {
  const subscriptions = await aws.subscriptions();
  // An unconfirmed subscription has no ARN, and receives nothing.
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

/** Asks about many names, some at a time. It skips names that were deleted in the meantime. */
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

async function attempt(run: () => Promise<Answers>) {
  try {
    return { answers: await run() };
  } catch (problem) {
    return { problem };
  }
}

async function leftOut(what: string, needed: string, run: () => Promise<Answers>) {
  const read = await attempt(run);
  if ("answers" in read) return { answers: read.answers, warnings: [] };
  const warning = diagnostic("RD409", {
    path: "",
    message: `${what} are left out: ${problemText(read.problem)}`,
    notes: ["their decisions are left out"],
    help: `allow ${needed}, which only read`,
  });
  return { answers: [], warnings: [warning] };
}

function isGone(cause: unknown): boolean {
  return /^(QueueDoesNotExist|NonExistentQueue|(Resource)?NotFound(Exception)?)$/.test(answerOf(cause)?.name ?? "");
}

const credentialsHelp =
  "set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, as for the AWS CLI; aws sts get-caller-identity shows who you are";

function refused(cause: unknown, { region, endpoint }: AwsPlace, budget: RequestBudget): Diagnostic {
  const answer = answerOf(cause);
  const place = endpoint === undefined ? `SQS in ${region}` : new URL(endpoint).origin;
  const spent = budget.problem();
  const problem = (code: "RD407" | "RD408", message: string, help: string, notes: readonly string[] = []): Diagnostic =>
    diagnostic(code, { path: "url", message, notes, help });
  if (spent !== null) return problem("RD407", `${place} ${spent}`, "look at the endpoint, or allow more");
  if (answer === null) {
    const message = `${place} cannot be read: ${connectionProblem(cause)}`;
    return problem("RD407", message, "look at the region, the endpoint and the proxy");
  }
  const { kind, name } = answer;
  switch (kind) {
    case "no-credentials":
      return problem("RD408", "no credentials for AWS are found", credentialsHelp);
    case "bad-credentials":
      return problem("RD408", `${place} refuses the credentials (${name})`, credentialsHelp);
    case "denied":
      return problem(
        "RD408",
        `${place} does not let these credentials read queues (${name})`,
        `allow ${actions.queues}, which only read`,
        Object.values(actions).map((each) => `wanted are ${each}`),
      );
    case "other":
      return problem("RD407", `${place} does not answer as SQS does (${name})`, "look at the region and the endpoint");
    default:
      return kind satisfies never;
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
