import { type Checked, accepted, diagnosed, refuseWhole } from "../../../diagnostics/diagnostic.ts";
import { type Entry, addProblem, isEntry, noProblems, problemsAsDiagnostic } from "../../../foreign/entries.ts";
import { nameSome } from "../../../foreign/finding.ts";
import { parseJson } from "../../../foreign/parse-json.ts";
import { type AuditedSubscription, type Deployment, assembleDeployment } from "./deployment.ts";
import { queueOf, readEach, unreadable } from "./import/attributes.ts";
import { functionOf, mappingOf, subscriptionOf } from "./import/neighbours.ts";
import { wordOf } from "../../../diagnostics/word-of.ts";

/**
 * Reads a list of outputs of the AWS CLI, and recognises each by its form. They are attributes of queues and of
 * subscriptions, lists of subscriptions and of event source mappings, and configurations of functions.
 */
export function readListing(text: string): Checked<Deployment> {
  const parsed = parseJson(text, "the listing");
  if (!parsed.ok) return parsed;
  return readDocuments(Array.isArray(parsed.value) ? parsed.value : [parsed.value]);
}

interface Answers {
  readonly queues: Entry[];
  readonly subscriptions: Entry[];
  readonly mappings: Entry[];
  readonly functions: Entry[];
  readonly names: Set<string>;
  /** True if an answer lists subscriptions, even none. */
  listsSubscriptions: boolean;
  listsMappings: boolean;
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
    listsMappings: false,
  };
  const problems = noProblems();
  documents.forEach((document, index) => {
    if (!isEntry(document) || !addAnswer(document, answers)) {
      addProblem(
        problems,
        [index],
        "this is not an answer of AWS about a queue, a subscription, a mapping or a function",
      );
    }
  });
  if (answers.queues.length === 0) return refuse(documents);
  const read = <Value>(entries: readonly Entry[], kind: string, reader: (entry: Entry) => Value): Value[] =>
    readEach(entries, reader, (_, index, { message }) => addProblem(problems, [kind, index], message));
  const queues = read(answers.queues, "queues", queueOf);
  const functions = read(answers.functions, "functions", functionOf);
  const subscriptions = read(answers.subscriptions, "subscriptions", subscriptionOf);
  const mappings = read(answers.mappings, "mappings", (entry) => mappingOf(entry, functions));
  const problem = problemsAsDiagnostic(problems);
  if (problem !== null) return { ok: false, diagnostics: [problem] };
  const value = assembleDeployment({
    queues,
    subscriptions: answers.listsSubscriptions ? told(subscriptions) : "untold",
    mappings: mappings.filter((each) => each !== null),
    knowsMappings: answers.listsMappings,
    otherDeadLetterArns: functions.flatMap(({ deadLetterArn }) => deadLetterArn ?? []),
    isWhole: true,
    listedNames: answers.names,
  });
  const times = Map.groupBy(queues, ({ arn }) => arn);
  const twice = [...times.values()].filter((own) => own.length > 1).map(([queue]) => queue?.name ?? "");
  if (twice.length === 0) return accepted(value);
  const message = `${twice.length === 1 ? "1 queue is" : `${twice.length} queues are`} named more than once; only the first of each counts: ${nameSome(twice)}`;
  const help = "list each queue once";
  return accepted(value, diagnosed("RD404", { path: "", message, help }));
}

/** A list of subscriptions shows less of each than its own attributes. So the attributes win if both exist. */
function told(subscriptions: readonly (AuditedSubscription | null)[]): AuditedSubscription[] {
  const all = subscriptions.filter((each) => each !== null);
  const isDetailed = ({ deadLetterArn }: AuditedSubscription): boolean => deadLetterArn !== "untold";
  const detailed = new Set(all.filter(isDetailed).map(keyOf));
  return all.filter((each) => isDetailed(each) || !detailed.has(keyOf(each)));
}

function keyOf({ topicArn, queueArn }: AuditedSubscription): string {
  return `${topicArn} ${queueArn}`;
}

/** Sorts one answer. False if its form is unknown. Answers that decide nothing are skipped. */
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
    answers.listsMappings = true;
    return true;
  }
  if ("FunctionArn" in document) {
    ("EventSourceArn" in document ? answers.mappings : answers.functions).push(document);
    return true;
  }
  if (Array.isArray(urls)) {
    // The last part of a queue's URL is its name.
    for (const url of urls) answers.names.add(wordOf(url).split("/").at(-1) ?? "");
    return true;
  }
  return Array.isArray(document["Topics"]);
}

function isListOfEntries(value: unknown): value is readonly Entry[] {
  return Array.isArray(value) && value.every(isEntry);
}

function refuse(documents: readonly unknown[]): Checked<never> {
  const [first] = documents;
  const hint =
    isEntry(first) && ("deployment" in first || "checkpoint" in first)
      ? "this looks like the state of a Pulumi stack: read it with --stack"
      : "aws sqs get-queue-attributes --attribute-names All prints the needed attributes of each queue";
  const message = "this file has no attributes of a queue";
  return refuseWhole("RD401", message, hint);
}
