import { addAbortSignal, pipeline, Readable, Transform } from "node:stream";

import { type Checked, accepted, diagnostic, refusedFor } from "../../../diagnostics/diagnostic.ts";
import type { RequestBudget } from "../../../foreign/request-budget.ts";

/** The place to read, and the endpoint that replaces AWS. */
export interface AwsPlace {
  readonly region: string;
  readonly endpoint: string | undefined;
}

/** The requests of an audit. Each only reads. */
export type AwsClients = ReturnType<typeof clientsOf>;

const packages = ["@aws-sdk/client-sqs", "@aws-sdk/client-sns", "@aws-sdk/client-lambda"];

/** A request without an answer ends, so that an audit never hangs. */
const requestHandler = { connectionTimeout: 10_000, requestTimeout: 30_000, throwOnRequestTimeout: true };

/** Loads the SDK only here, because it is optional: an audit of a file works without it. */
export async function loadClients({ region, endpoint }: AwsPlace, budget: RequestBudget): Promise<Checked<AwsClients>> {
  if (endpoint !== undefined && !URL.canParse(endpoint)) {
    const help = "name the address of the emulator, such as http://localhost:9324";
    return refusedFor("RD407", { path: "endpoint", message: "the endpoint is not a URL", help });
  }
  try {
    const [sqs, sns, lambda] = await Promise.all([
      import("@aws-sdk/client-sqs"),
      import("@aws-sdk/client-sns"),
      import("@aws-sdk/client-lambda"),
    ]);
    const settings = { region, requestHandler, ...(endpoint === undefined ? {} : { endpoint }) };
    return accepted(clientsOf(sqs, sns, lambda, settings, budget));
  } catch (cause) {
    if (!(cause instanceof Error && "code" in cause && cause.code === "ERR_MODULE_NOT_FOUND")) throw cause;
    return { ok: false, diagnostics: [missingPackages()] };
  }
}

/** Names all packages at once, because a user without one lacks the others too. */
function missingPackages(): ReturnType<typeof diagnostic> {
  return diagnostic("RD407", {
    path: "url",
    message: "the packages of AWS's SDK are not installed",
    help: `npm install ${packages.join(" ")}`,
  });
}

function clientsOf(
  sqs: typeof import("@aws-sdk/client-sqs"),
  sns: typeof import("@aws-sdk/client-sns"),
  lambda: typeof import("@aws-sdk/client-lambda"),
  settings: { readonly region: string; readonly endpoint?: string; readonly requestHandler: typeof requestHandler },
  budget: RequestBudget,
) {
  const queues = new sqs.SQSClient(settings);
  const topics = new sns.SNSClient(settings);
  const functions = new lambda.LambdaClient(settings);
  for (const client of [queues, topics, functions]) countAnswers(client as AnyClient, budget);
  const { signal: abortSignal } = budget;
  const bounded = { abortSignal };
  return {
    // AWS gives no second page without a size. Source: API Reference, ListQueues, MaxResults.
    queueUrls: async () =>
      collect(
        budget,
        sqs.paginateListQueues({ client: queues, pageSize: 1_000 }, {}, bounded),
        ({ QueueUrls = [] }) => QueueUrls,
      ),
    queueAttributes: async (QueueUrl: string) =>
      queues.send(new sqs.GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["All"] }), bounded),
    subscriptions: async () =>
      collect(
        budget,
        sns.paginateListSubscriptions({ client: topics }, {}, bounded),
        ({ Subscriptions = [] }) => Subscriptions,
      ),
    subscriptionAttributes: async (SubscriptionArn: string) =>
      topics.send(new sns.GetSubscriptionAttributesCommand({ SubscriptionArn }), bounded),
    mappings: async () =>
      collect(
        budget,
        lambda.paginateListEventSourceMappings({ client: functions }, {}, bounded),
        ({ EventSourceMappings = [] }) => EventSourceMappings,
      ),
    /** Only the timeout of the function, because its environment may hold secrets. */
    functionTimeout: async (FunctionName: string) => {
      const answer = await functions.send(new lambda.GetFunctionConfigurationCommand({ FunctionName }), bounded);
      const { FunctionArn, Timeout, DeadLetterConfig } = answer;
      return { FunctionArn, Timeout, DeadLetterConfig };
    },
    close: () => {
      for (const client of [queues, topics, functions]) client.destroy();
    },
  };
}

type AnyClient = Pick<import("@aws-sdk/client-sqs").SQSClient, "middlewareStack">;

/** The SDK limits the wait for the beginning of an answer, but not the length of the rest. */
function countAnswers({ middlewareStack }: AnyClient, budget: RequestBudget): void {
  middlewareStack.add(
    (next) => async (given) => {
      const result = await next(given);
      const response = result.response as { body?: unknown };
      if (response.body instanceof Readable) response.body = counted(response.body, budget);
      return result;
    },
    // Nearest to the connection, before any other step reads the answer.
    { step: "deserialize", priority: "low", name: "redeliverCountsAnswers" },
  );
}

function counted(body: Readable, budget: RequestBudget): Readable {
  const counter = new Transform({
    transform: (bytes: Buffer, _, done) => {
      try {
        budget.take(bytes.length);
        done(null, bytes);
      } catch (cause) {
        done(cause as Error);
      }
    },
  });
  addAbortSignal(budget.signal, counter);
  // The reader of the answer also receives the error.
  return pipeline(body, counter, () => undefined);
}

async function collect<Page, Item>(
  budget: RequestBudget,
  pages: AsyncIterable<Page>,
  itemsOf: (page: Page) => readonly Item[],
): Promise<readonly Item[]> {
  const items: Item[] = [];
  let turned = 0;
  for await (const page of pages) {
    turned += 1;
    budget.turn(turned);
    for (const item of itemsOf(page)) items.push(item);
  }
  return items;
}

/** The refusal of a request by AWS, or by the SDK before it asked; null if there was no answer. */
export interface AwsRefusal {
  readonly kind: "no-credentials" | "bad-credentials" | "denied" | "other";
  /** The name of the error alone, because messages may repeat parts of the request. */
  readonly name: string;
}

const badCredentials =
  /^(InvalidClientTokenId|UnrecognizedClient|SignatureDoesNotMatch|ExpiredToken|InvalidAccessKeyId)/;

export function answerOf(cause: unknown): AwsRefusal | null {
  if (!(cause instanceof Error)) return null;
  const given = cause.name.split(".").at(-1) ?? "";
  const name = /^\w{1,60}$/.test(given) ? given : "an error";
  if (name === "CredentialsProviderError") return { kind: "no-credentials", name };
  const metadata =
    "$metadata" in cause ? (cause.$metadata as { readonly httpStatusCode?: number } | undefined) : undefined;
  if (metadata?.httpStatusCode === undefined) return null;
  if (badCredentials.test(name)) return { kind: "bad-credentials", name };
  return { kind: /AccessDenied|NotAuthorized|AuthorizationError/.test(name) ? "denied" : "other", name };
}
