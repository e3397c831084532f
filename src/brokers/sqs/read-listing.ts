import type { Checked } from "../../diagnostics/diagnostic.ts";
import { diagnostic } from "../../diagnostics/diagnostic.ts";
import type { Entry, Problems } from "../entries.ts";
import { addProblem, isEntry, noProblems, problemsAsDiagnostic } from "../entries.ts";
import { nameSome } from "../finding.ts";
import { parseJson } from "../parse-json.ts";
import type { AuditedQueue, AuditedSubscription, Deployment, LambdaMapping } from "./deployment.ts";
import { assembleDeployment } from "./deployment.ts";
import { MalformedValue, queueOf, unreadable } from "./import/attributes.ts";
import type { AuditedFunction } from "./import/neighbours.ts";
import { functionOf, mappingOf, subscriptionOf } from "./import/neighbours.ts";

/**
 * Reads a list of what the AWS CLI printed, one after the other, each told by its form: the attributes of queues and of subscriptions,
 * lists of subscriptions and of event source mappings, configurations of functions.
 */
export function readListing(text: string): Checked<Deployment> {
  const parsed = parseJson(text, "the listing");
  if (!parsed.ok) return parsed;
  return readDocuments(Array.isArray(parsed.value) ? parsed.value : [parsed.value]);
}

/** What the answers hold, before it is known what belongs together. */
interface Answers {
  readonly queues: Entry[];
  readonly subscriptions: Entry[];
  readonly mappings: Entry[];
  readonly functions: Entry[];
  readonly names: Set<string>;
  /** Whether somebody asked for subscriptions; there may be none. */
  listsSubscriptions: boolean;
}

/** The same for answers that are data already. */
export function readDocuments(documents: readonly unknown[]): Checked<Deployment> {
  const answers: Answers = {
    queues: [],
    subscriptions: [],
    mappings: [],
    functions: [],
    names: new Set(),
    listsSubscriptions: false,
  };
  const problems = noProblems();
  documents.forEach((document, index) => {
    if (!isEntry(document) || !addAnswer(document, answers)) {
      addProblem(problems, [index], "this is no answer of AWS about a queue, a subscription, a mapping or a function");
    }
  });
  if (answers.queues.length === 0) return refuse(documents);
  const read = <Value>(entries: readonly Entry[], kind: string, reader: (entry: Entry) => Value): Value[] =>
    entries.flatMap((entry, index) => {
      const value = attempt(problems, [kind, index], () => reader(entry));
      return value === undefined ? [] : [value];
    });
  const queues = read(answers.queues, "queues", queueOf);
  const functions = read(answers.functions, "functions", functionOf);
  const subscriptions = read(answers.subscriptions, "subscriptions", subscriptionOf);
  const mappings = read(answers.mappings, "mappings", (entry) => mappingOf(entry, functions));
  const problem = problemsAsDiagnostic(problems);
  if (problem !== null) return { ok: false, diagnostics: [problem] };
  return deploymentOf({ ...answers, queues, functions, mappings, subscriptions });
}

/** The answers, read. */
interface Read extends Pick<Answers, "names" | "listsSubscriptions"> {
  readonly queues: readonly AuditedQueue[];
  readonly functions: readonly AuditedFunction[];
  readonly mappings: readonly (LambdaMapping | null)[];
  readonly subscriptions: readonly (AuditedSubscription | null)[];
}

function deploymentOf({
  queues,
  functions,
  mappings,
  subscriptions,
  names,
  listsSubscriptions,
}: Read): Checked<Deployment> {
  const value = assembleDeployment({
    queues,
    subscriptions: listsSubscriptions ? told(subscriptions) : "untold",
    mappings: mappings.filter((each) => each !== null),
    otherDeadLetterArns: functions.flatMap(({ deadLetterArn }) => deadLetterArn ?? []),
    isWhole: true,
    listedNames: names,
  });
  const times = Map.groupBy(queues, ({ arn }) => arn);
  const twice = [...times.values()].filter((own) => own.length > 1).map(([queue]) => queue?.name ?? "");
  if (twice.length === 0) return { ok: true, value, warnings: [] };
  const message = `${twice.length === 1 ? "1 queue is" : `${twice.length} queues are`} named more than once; the first of each counts: ${nameSome(twice)}`;
  const help = "list each queue once";
  return { ok: true, value, warnings: [diagnostic("RD404", { path: "", message, help })] };
}

/** A list of subscriptions tells less of each of them than its own attributes, which are taken where both are there. */
function told(subscriptions: readonly (AuditedSubscription | null)[]): AuditedSubscription[] {
  const all = subscriptions.filter((each) => each !== null);
  const isDetailed = ({ deadLetterArn }: AuditedSubscription): boolean => deadLetterArn !== "untold";
  const detailed = new Set(all.filter(isDetailed).map(keyOf));
  return all.filter((each) => isDetailed(each) || !detailed.has(keyOf(each)));
}

function keyOf({ topicArn, queueArn }: AuditedSubscription): string {
  return `${topicArn} ${queueArn}`;
}

/** Sorts one answer; false where it is none that is known. What decides nothing is passed over. */
function addAnswer(document: Entry, answers: Answers): boolean {
  const {
    Attributes: attributes,
    Subscriptions: subscriptions,
    EventSourceMappings: mappings,
    QueueUrls: urls,
  } = document;
  if (isEntry(attributes)) {
    if ("QueueArn" in attributes) answers.queues.push(attributes);
    else if ("SubscriptionArn" in attributes) {
      answers.subscriptions.push(attributes);
      answers.listsSubscriptions = true;
    } else return "TopicArn" in attributes;
    return true;
  }
  if (isListOfEntries(subscriptions)) {
    const untold = { RedrivePolicy: unreadable, FilterPolicy: unreadable };
    answers.subscriptions.push(...subscriptions.map((each) => ({ ...each, ...untold })));
    answers.listsSubscriptions = true;
    return true;
  }
  if (isListOfEntries(mappings)) {
    answers.mappings.push(...mappings);
    return true;
  }
  if ("FunctionArn" in document) {
    ("EventSourceArn" in document ? answers.mappings : answers.functions).push(document);
    return true;
  }
  if (Array.isArray(urls)) {
    // The last part of a queue's URL is its name.
    for (const url of urls) answers.names.add(String(url).split("/").at(-1) ?? "");
    return true;
  }
  return Array.isArray(document["Topics"]);
}

function isListOfEntries(value: unknown): value is readonly Entry[] {
  return Array.isArray(value) && value.every(isEntry);
}

function attempt<Value>(problems: Problems, path: readonly (string | number)[], read: () => Value): Value | undefined {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof MalformedValue)) throw cause;
    addProblem(problems, path, cause.message);
    return undefined;
  }
}

function refuse(documents: readonly unknown[]): Checked<never> {
  const [first] = documents;
  const hint =
    isEntry(first) && ("deployment" in first || "checkpoint" in first)
      ? "this looks like the state of a Pulumi stack: read it with --stack"
      : "aws sqs get-queue-attributes --attribute-names All prints what is wanted of each queue";
  const message = "there are no attributes of a queue in this file";
  return { ok: false, diagnostics: [diagnostic("RD401", { path: "", message, help: hint })] };
}
