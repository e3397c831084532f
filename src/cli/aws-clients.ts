import type { EventSourceMappingConfiguration } from "@aws-sdk/client-lambda";
import type { Subscription } from "@aws-sdk/client-sns";

import type { Checked } from "../diagnostics/diagnostic.ts";
import { diagnostic } from "../diagnostics/diagnostic.ts";

/** Where to read, and what answers there in the place of AWS. */
export interface AwsPlace {
  readonly region: string;
  readonly endpoint: string | undefined;
}

/** The requests that an audit makes. Each only reads. */
export interface AwsClients {
  readonly queueUrls: () => Promise<readonly string[]>;
  readonly queueAttributes: (url: string) => Promise<unknown>;
  readonly subscriptions: () => Promise<readonly Subscription[]>;
  readonly subscriptionAttributes: (arn: string) => Promise<unknown>;
  readonly mappings: () => Promise<readonly EventSourceMappingConfiguration[]>;
  /** Nothing else of the function: its environment may hold secrets. */
  readonly functionTimeout: (name: string) => Promise<unknown>;
  readonly close: () => void;
}

const packages = ["@aws-sdk/client-sqs", "@aws-sdk/client-sns", "@aws-sdk/client-lambda"];

/** A request that gets no answer is given up, so that an audit never hangs. */
const requestHandler = { connectionTimeout: 10_000, requestTimeout: 30_000, throwOnRequestTimeout: true };

/** Loads the SDK, which is there only where somebody installed it: an audit of a file needs none. */
export async function loadClients({ region, endpoint }: AwsPlace): Promise<Checked<AwsClients>> {
  if (endpoint !== undefined && !URL.canParse(endpoint)) {
    const help = "name what answers in the place of AWS, such as http://localhost:9324";
    return {
      ok: false,
      diagnostics: [diagnostic("RD407", { path: "endpoint", message: "the endpoint is no URL", help })],
    };
  }
  try {
    const [sqs, sns, lambda] = await Promise.all([
      import("@aws-sdk/client-sqs"),
      import("@aws-sdk/client-sns"),
      import("@aws-sdk/client-lambda"),
    ]);
    const settings = { region, requestHandler, ...(endpoint === undefined ? {} : { endpoint }) };
    return { ok: true, value: clientsOf(sqs, sns, lambda, settings), warnings: [] };
  } catch (cause) {
    if (!(cause instanceof Error && "code" in cause && cause.code === "ERR_MODULE_NOT_FOUND")) throw cause;
    return { ok: false, diagnostics: [missingPackages()] };
  }
}

/** The package that is missing is not named alone: whoever lacks one lacks the others too. */
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
): AwsClients {
  const queues = new sqs.SQSClient(settings);
  const topics = new sns.SNSClient(settings);
  const functions = new lambda.LambdaClient(settings);
  return {
    // Without a size there would be no second page. Source: API Reference, ListQueues, MaxResults.
    queueUrls: async () =>
      collect(sqs.paginateListQueues({ client: queues, pageSize: 1_000 }, {}), ({ QueueUrls = [] }) => QueueUrls),
    queueAttributes: async (QueueUrl) =>
      queues.send(new sqs.GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["All"] })),
    subscriptions: async () =>
      collect(sns.paginateListSubscriptions({ client: topics }, {}), ({ Subscriptions = [] }) => Subscriptions),
    subscriptionAttributes: async (SubscriptionArn) =>
      topics.send(new sns.GetSubscriptionAttributesCommand({ SubscriptionArn })),
    mappings: async () =>
      collect(
        lambda.paginateListEventSourceMappings({ client: functions }, {}),
        ({ EventSourceMappings = [] }) => EventSourceMappings,
      ),
    functionTimeout: async (FunctionName) => {
      const answer = await functions.send(new lambda.GetFunctionConfigurationCommand({ FunctionName }));
      const { FunctionArn, Timeout, DeadLetterConfig } = answer;
      return { FunctionArn, Timeout, DeadLetterConfig };
    },
    close: () => {
      for (const client of [queues, topics, functions]) client.destroy();
    },
  };
}

async function collect<Page, Item>(
  pages: AsyncIterable<Page>,
  itemsOf: (page: Page) => readonly Item[],
): Promise<readonly Item[]> {
  const items: Item[] = [];
  for await (const page of pages) items.push(...itemsOf(page));
  return items;
}

/** What AWS, or the SDK before it asked, has against a request; null where there was no answer. */
export interface AwsRefusal {
  readonly kind: "no-credentials" | "bad-credentials" | "denied" | "other";
  /** The name of the error alone: messages may repeat what was sent. */
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
