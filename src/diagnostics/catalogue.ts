import { brokerProblems } from "../brokers/problems.ts";
import { type CatalogueEntry, error, warning } from "./catalogue-entry.ts";
import { policyCatalogue } from "./catalogue-policy.ts";

export type { CatalogueEntry } from "./catalogue-entry.ts";

/**
 * All codes. A code keeps its meaning for ever: Redeliver never reuses it.
 *
 * - RD0xx: reading files
 * - RD1xx: the declaration
 * - RD2xx: compiling for a target
 * - RD3xx: deploying
 * - RD4xx: topologies that others made
 * - RD5xx: scenarios of a simulation
 * - RD8xx: running a consumer, and operating dead letters
 * - RD9xx: policy packs
 *
 * A broker whose problems other brokers do not have has a first digit for them.
 */
export const catalogue = {
  RD001: error(
    "The file cannot be read",
    "The file does not exist, is a directory, may not be read, or has an unknown ending. Redeliver reads .ts, .mts, .cts, .js, .mjs, .cjs, .json, .yaml and .yml, and never guesses the format from the content. Correct the path, or rename the file.",
  ),
  RD002: error(
    "The file is not well-formed",
    "The text is neither JSON nor YAML: a bracket is missing, an indentation is off, or a key stands twice. Of a key that stands twice only one value would count, so Redeliver refuses it. The message names the line and the column where the parser reports them.",
  ),
  RD003: error(
    "The module gives no declaration",
    "Redeliver imports a .ts or .js declaration and takes its default export. Here the import failed, ended the program or took longer than 30 s, or the module has no default export. Write `export default defineSystem({ … })`. If the import fails, run the file with node to see the place.",
  ),
  RD004: error(
    "The file holds nothing",
    "The file is empty, or has only blanks and comments. An empty system would compile to nothing, and an empty export would have no faults. Both would hide that you named the wrong file. Declare name, sources and consumers, or export again.",
  ),
  RD005: error(
    "The data cannot be read within bounds",
    "Redeliver copies all input before it looks at it: texts, numbers, lists and mappings, up to 100 levels deep and of a bounded size. It cannot copy a function, an object such as a Map, a list that contains itself, a property that throws when read, or endless data. Write the values out, or divide the file.",
  ),
  RD101: error(
    "A value is missing or of the wrong kind",
    "A declaration has a fixed form. Here a required value is missing, has the wrong type, or is none of the allowed words. Redeliver converts nothing: a guess could be wrong by a factor of a thousand. With schema.json an editor shows the form while you type.",
  ),
  RD102: error(
    "Unknown key",
    "Redeliver does not know this key, so the key would have no effect. If it is a misspelled limit, the limit would not hold. The note lists the keys that are allowed there. Correct the key or remove it.",
  ),
  RD103: error(
    "Malformed duration",
    "A duration is a whole number followed by one of the units ms, s, m, h and d, without a blank: 250ms, 30s, 14d. A number without a unit is refused, because seconds and milliseconds are easily confused. Write a fraction as a whole number of the next smaller unit.",
  ),
  RD104: error(
    "Value out of range",
    "The value has no meaning outside its range. attempts counts the first attempt, so with 0 a message would never be handled. A factor below 1 would shorten each wait. jitter is a whole percentage from 1% to 100%. Choose a value in the range that the message names.",
  ),
  RD105: error(
    "Duration out of range",
    "A duration is at least one millisecond and at most ten years, the longest time to live that a broker accepts. A delay that a handler may ask for is at least one second. A backoff without max is refused if its last delay would exceed ten years. Choose another duration, add max, or use fewer attempts.",
  ),
  RD106: error(
    "The cap is below the first delay",
    "If max is below first, every delay would be cut to max, and first would have no effect. One of the two probably has the wrong unit. Raise max, or use a constant backoff.",
  ),
  RD107: error(
    "The steps do not match the attempts",
    "steps lists each delay: one for every attempt after the first, which starts at once. With too few delays, an attempt would have none. With too many, the last ones would never be used. Change attempts or the list.",
  ),
  RD108: error(
    "Undeclared source",
    "The consumer takes from a source that the declaration does not have. There is no exchange or topic to bind its queue to, so no message would ever arrive. Declare the source, or correct its name.",
  ),
  RD109: error(
    "The consumer takes nothing",
    'A queue with an empty list of sources or of routing keys has no binding, so it would never get a message. A consumer with a queue for every instance needs a source: no producer knows the names of those queues. List at least one routing key, or write "all". If producers send straight to the work queue, leave `from` out: an empty list may as well be a mistake.',
  ),
  RD110: error(
    "Routing key does not fit the source",
    "A topic source matches patterns of words between dots, where * and # stand for whole words. A direct source matches whole keys. A fanout source ignores the key. A key that does not fit its source would match nothing, or too much. A routing key has at most 255 bytes, and no key is listed twice.",
  ),
  RD111: error(
    "Malformed name",
    "Names become names of queues and exchanges, and routing keys become bindings. Each has from 1 to 255 characters. The broker would refuse a longer one at deployment, after it has made other resources. A template in `names` has only the placeholders that its field knows, such as {system} and {consumer}. `consume` compares the names in `errors.permanent` whole, so a pattern there would match none. Choose a short name of letters, digits, dots, dashes and underscores.",
  ),
  RD112: error(
    "Not possible for every-instance",
    "With delivery every-instance each running instance has its own queue. The queue ends with the instance, and its messages are lost. Nothing can be retried or dead-lettered from it, so the broker could not keep a retry policy. Remove the field, or use delivery work-queue.",
  ),
  RD113: error(
    "Name is unreadable, or looks like another",
    "A name with a control character, half a character or an invisible one cannot be typed, and may drive the terminal that shows it. Two names can differ only in such characters, or in how Unicode composes a letter. Every tool shows them alike, so Redeliver compares names in normalisation form C without ignorable characters. A URL with a password is no name, because names are shown everywhere. Joiners and variation selectors are allowed if they distinguish no two names.",
  ),
  RD114: warning(
    "No consumer is declared",
    "A system without a consumer is allowed: the first version of a file may have sources alone. Redeliver then compiles and proves nothing, so a check that passes says nothing. Declare a consumer, or check whether you meant another file.",
  ),
  RD119: warning(
    "The schedule takes weeks",
    "The last attempt starts more than 14 days after the first. An exponential backoff without max reaches that sooner than most people expect. Meanwhile the fault is not in the dead queue, where a person would see it. Add max, or fewer attempts. If you mean such a schedule, declare giveUpAfter: it says how long an attempt makes sense.",
  ),
  RD120: warning(
    "Attempts are left out",
    "giveUpAfter is the latest start of an attempt. Here some of the declared attempts would start later, so they never run. A message is in the dead queue after fewer attempts than declared. If you mean that, write the smaller number. Otherwise raise giveUpAfter, or shorten the delays.",
  ),
  RD121: warning(
    "A text is taken as it is",
    "A routing key, a name or the name of an error is one text, compared as it stands. Here it looks like a list in one text, a variable, a regular expression, or a word for everything. The broker would look for exactly this text, so the binding would match nothing, and nobody would notice. If you mean the text as it is, waive this warning.",
  ),
  RD122: warning(
    "A consumer and a source are not connected",
    "The consumer has no `from`, so its queue gets only messages that producers send straight to it. No consumer takes from the source, so the broker deletes each message that is published there, and says nothing. Often `from` was forgotten. If other systems take from the source, and producers send straight to the queue, waive this warning.",
  ),
  RD301: error(
    "The stack's configuration is refused",
    "Redeliver checks the configuration of a Pulumi stack like a declaration: completely, and before it touches any resource. It reports missing, unknown and malformed keys. It also refuses a password in clear, because every reader of the repository could read it. Messages never contain values that may be secret.",
  ),
  RD302: error(
    "A resource cannot be changed in place",
    "A queue, an exchange or a topic keeps its name but needs settings that the broker cannot change afterwards. Usually the strategy has changed: by hand, because `auto` chose another one, or because the target has another version. Or a consumer would receive from another queue or have another dead queue, while messages wait in the old one. Or a queue that a removed consumer left behind would get another consumer. The update stops before it changes anything, also with --skip-preview. Name the deployed strategy or version in the target, or let `redeliver migrate` find the steps to the new form.",
  ),
  RD303: error(
    "A source is removed while a consumer takes from it",
    "Publishers go on for a while to use the removed source, and the broker treats a renamed source as a new one. With its bindings gone, their messages reach no queue, and a publisher without `mandatory` gets no notice. The same holds if `names.source` gives a source another name. The update stops before it changes anything. Declare the new source beside the old one and move the publishers; `redeliver migrate` writes and proves the steps.",
  ),
  RD304: warning(
    "A promise does not hold for messages that wait during the change",
    "Redeliver proves a change with a message in every place, and with consumers by the old and the new contract at work. A message that waits while you make it can have more attempts than declared, or a retry at another time. Messages that come later are as declared. Often `redeliver migrate` has steps that keep the promise, with a new queue beside the old one. Or make the change while no message of the consumer waits, or accept it for those that do.",
  ),
  RD305: error(
    "Messages that wait during the change could be lost",
    "Redeliver proves a change with a message in every place, and with consumers by the old and the new contract at work. Here a message can be lost. For example, old consumers need more time for the new number of attempts than the queue keeps a message. The update stops before it changes anything. Deploy the change of the retries alone, wait until no message waits by the old declaration, and then deploy the rest.",
  ),
  RD306: error(
    "No order of deployments makes the change",
    "A change that is impossible in place goes in steps: the new queues beside the old ones, then the old ones drained, then the rest. Redeliver proves each step. Here no such order keeps every message. Usually a queue that consumers share, or that holds dead letters, would need other settings under the same name. Keep what the note names as it was, or declare the changed part under another name beside it.",
  ),
  RD307: error(
    "Another migration is in progress",
    "The lock says that a migration of this environment has begun. Two migrations at once could give a message two ways, and neither proof would hold. So the first one has to end before another declaration can be migrated to, and only one process carries it out at a time. On RabbitMQ a queue that `--apply` holds keeps other machines out. Restore the declaration from git and finish with `redeliver migrate`. Before its first step has changed the broker, you may change the declaration freely.",
  ),
  RD308: warning(
    "The change deletes older messages that wait",
    "A queue would keep messages for a shorter time than now, and the broker deletes a waiting message that is older. On SQS the time of a work queue is what `deadLetter.retain` leaves of 14 days, so a longer `retain` shortens it. Make the change while no message is that old. `redeliver migrate` gives the consumer a new queue beside the old one. Where it cannot, it begins the change only with `--accept-weaker`.",
  ),
  RD321: error(
    "The project file is refused",
    "A project file names the declaration, and for each environment its target and URLs. It may also waive warnings. Redeliver checks all of it and reports missing, unknown and malformed keys. It refuses a password in a URL, because every reader of the repository could see it. It also refuses a waiver of an error.",
  ),
  RD322: error(
    "A waiver has ended",
    "A project may accept a warning up to a day that it names, with the reason. This day is over, and the accepted risk is still there. Mend its cause and remove the waiver. Or decide again, and write a later day.",
  ),
  RD323: error(
    "The lock file is refused",
    "The lock file says what is deployed in each environment, and `check` proves every change from there. `redeliver lock` writes it. Here it is damaged, has a conflict, was edited, or belongs to another system or version. Or git has it, and it is gone. A proof from a wrong beginning proves nothing, so Redeliver refuses it.",
  ),
  RD311: error(
    "A difference can lose messages",
    "The resources on the broker differ from the declared ones, and messages can be lost by that. The notes show the shortest path of such a message. A change by hand, another program or an administrator's policy made the difference. Deploy the system again. If a policy takes the place of the declared one, give it a narrower pattern.",
  ),
  RD312: warning(
    "A difference changes the behaviour",
    "The resources on the broker differ from the declared ones, and messages take another course by that. They get other attempts, other delays or another receiver, and none is lost. The notes name the broken promise, or the first event with another end. Deploy the system again, or change the declaration if the difference is wanted.",
  ),
  RD313: warning(
    "A difference without an effect",
    "The resources on the broker differ from the declared ones, and every message still takes the declared course. Redeliver explored both systems side by side to find that out. The difference may surprise the next person who changes the broker. Deploy the system again, or remove by hand the part that is too much.",
  ),
  RD314: error(
    "The comparison could not look at everything",
    "A part of the broker could not be compared, so a difference there would stay unseen. On SQS and Service Bus the credentials or the file may not show it. On RabbitMQ, perhaps the broker reports another policy in force than its lists of policies make, or none. Its statistics lag behind a change by up to 10 s, and `redeliver diff` waits for longer than that. If the pattern of a policy cannot be read, write a simpler one; else look again when nobody changes the broker. If the broker never reports on a new queue, a request that was cut off declared it: delete it, and deploy again.",
    "https://www.rabbitmq.com/docs/management",
  ),
  RD315: error(
    "Several places to compare with",
    "A declared system lies in one virtual host of RabbitMQ, in one account and region of AWS, or in one namespace of Service Bus. The URL or the file has several, or another region than the target. In all others every resource would be missing. Name the virtual host behind the host of the URL, with %2F for /, or export that place alone.",
    "https://www.rabbitmq.com/docs/vhosts",
  ),
  RD331: error(
    "Nothing to adopt",
    "`redeliver adopt` looks for work queues: queues that a consumer takes messages from. It finds none in the input, or no queue with a name that you gave. Waiting queues, dead queues, streams and queues of single instances are none. Names and bindings decide, so a queue may be taken for another kind. Name the work queues with `--queue`.",
  ),
  RD332: error(
    "Queues of several systems",
    "The input has work queues of more than one system, and a declaration is about one. Some may belong to a system that Redeliver already manages. A second declaration with the same queues would give each queue two owners. Adopt one system at a time, and name its work queues with `--queue`.",
  ),
  RD333: warning(
    "A queue that two consumers would own",
    "Several work queues send their dead letters to one queue. In this declaration each consumer owns a dead queue, so that its letters and its alarm are its own. One shared dead queue stays, with `deadQueue: shared` in the target: on SQS one of standard queues, and on RabbitMQ a quorum queue without arguments. The new dead queues get names of their own, and the import leaves out the shared queue. Letters that lie there stay there. Read them, or send them again with `redeliver dead`, before you delete it.",
  ),
  RD334: warning(
    "A deployment over the queue would lose messages",
    "The arguments of a queue cannot change in place, but a deployment replaces the policy in force on it. With the old arguments and the new policy messages would be lost, although the topology may lose none today. For example, the old policy named the dead-letter exchange, and the new one leaves that to an argument that the queue does not have. Give the consumer a queue with a new name, bind it, and let the old queue run empty.",
    "https://www.rabbitmq.com/docs/policies",
  ),
  RD401: error(
    "The file is not the one that the option takes",
    "redeliver audit reads files that the brokers' own tools write, the state of a Pulumi stack, or a running broker. This file is JSON, but its option takes another kind, or the file contains no queue. An audit of nothing would find nothing and look like success. With --from, a state has no component of the system, or more than one. Name another file, or another option.",
  ),
  RD409: warning(
    "A part of the topology was not read",
    "Redeliver could not read a part of the topology. The user may lack a permission for a virtual host or a service. Or a resource of a stack has a type that Redeliver does not read, or a secret or unknown value in its name or settings. The audit treats that part as absent, so a finding may be missing, and a finding about a missing target may be wrong. Grant the permission, or take the secret out of the name.",
  ),
  RD410: error(
    "A resource of the stack cannot be read",
    "A name or a setting of a resource is secret, unknown or malformed, such as an argumentsJson that is not JSON. Or it has a type of a provider that Redeliver does not read. An audit without the resource would find nothing wrong with it. Correct the value in the program and run pulumi up. With --allow-unread, Redeliver audits the other resources alone.",
  ),
  RD501: error(
    "Malformed value in a scenario",
    "A scenario has a fixed form. Here a required value is missing or of another kind. Durations are whole numbers with a unit, such as 250ms, 30s and 2h. Shares are percentages, such as 2% and 0.05%. Redeliver converts nothing: a simulation of the wrong scenario would look just as convincing.",
  ),
  RD502: error(
    "Unknown key or event in a scenario",
    "A key that the simulation does not know would have no effect. An event that never happens would make the outcome look too good. The note lists the allowed words. Correct the word or remove it.",
  ),
  RD503: error(
    "Not in the declaration",
    "The scenario names a consumer that the declaration does not have, or lets a handler ask for a delay that the declaration does not allow. Redeliver does not simulate consumers with delivery every-instance: they have no work queue and no retries. Correct the name, or the declaration.",
  ),
  RD504: error(
    "The scenario contradicts itself",
    "Two values of the scenario exclude each other. For example, an event ends before it begins, shares exceed 100%, or an instance handles more messages at a time than it holds. Change one of the two values that the message names.",
  ),
  RD505: error(
    "The simulation would be too large",
    "A simulation plays every message, up to 10,000,000, which takes about a minute. All instances together may hold 1,000,000 messages at a time. One message may have 200,000 states, a few for each attempt with each number of crashes before it. Simulate a shorter duration, fewer arrivals or fewer crash deliveries. An hour of simulated time shows how a retry storm grows and ends.",
  ),
  ...policyCatalogue,
  ...brokerProblems,
} as const satisfies Readonly<Record<string, CatalogueEntry>>;

/** A stable code such as `RD101`. */
export type DiagnosticCode = keyof typeof catalogue;

/** Every code, in order. */
export const diagnosticCodes: readonly DiagnosticCode[] = (Object.keys(catalogue) as DiagnosticCode[]).toSorted();
