import type { CatalogueEntry } from "./catalogue-entry.ts";
import { error, warning } from "./catalogue-entry.ts";
import { consumeCatalogue } from "./catalogue-consume.ts";
import { consumeRabbitmqCatalogue } from "./catalogue-consume-rabbitmq.ts";
import { policyCatalogue } from "./catalogue-policy.ts";
import { servicebusAuditCatalogue } from "./catalogue-servicebus-audit.ts";
import { servicebusCatalogue } from "./catalogue-servicebus.ts";
import { sqsAuditCatalogue } from "./catalogue-sqs-audit.ts";
import { sqsCatalogue } from "./catalogue-sqs.ts";
import { sqsOptionsCatalogue } from "./catalogue-sqs-options.ts";

export type { CatalogueEntry } from "./catalogue-entry.ts";

/**
 * Every code there is. Codes are stable: one is never used again for something else.
 * RD0xx reading files, RD1xx the declaration, RD2xx RabbitMQ, RD3xx deploying, RD4xx topologies that others made,
 * RD5xx scenarios of a simulation, RD6xx Amazon SQS, RD7xx Azure Service Bus, RD8xx running a consumer, RD9xx policy packs.
 */
export const catalogue = {
  RD001: error(
    "The file cannot be read",
    "The file does not exist, is a directory, may not be read, or its name does not end in .ts, .mts, .js, .mjs, .json, .yaml or .yml. The ending decides how a declaration is read, so it is never guessed. Correct the path, or rename the file.",
  ),
  RD002: error(
    "The file is not well-formed",
    "The text is neither JSON nor YAML: a bracket is missing, an indentation is off, or a key is given twice. A key given twice is refused because only one of its two values would count, and nobody would see which. The message names the line and the column where the reader knows them.",
  ),
  RD003: error(
    "The module gives no declaration",
    "A .ts or .js declaration is imported, and its default export is the system. Here the import failed, or the module has no default export. Write `export default defineSystem({ … })`; where the import fails, run the file with node to see the place.",
  ),
  RD004: error(
    "The file holds nothing",
    "The file is empty or holds nothing but blanks and comments. An empty system would compile to nothing, an empty export would have no faults, and both would hide that the wrong file was named. Declare name, sources and consumers, or export again.",
  ),
  RD101: error(
    "A value is missing or of the wrong kind",
    "A declaration has a fixed form, and here something that it needs is left out, or is a text where a number belongs, or is none of the allowed words. Nothing is converted: a guess could be wrong by a factor of a thousand. An editor that knows schema.json shows the form while typing.",
  ),
  RD102: error(
    "Unknown key",
    "A key that Redeliver does not know would be without effect, and a misspelled limit that is ignored is a limit that is not kept. The note lists the keys that may stand there. Correct the key or remove it.",
  ),
  RD103: error(
    "Malformed duration",
    "A duration is a whole number followed by one of the units ms, s, m, h and d, without a blank: 250ms, 30s, 14d. A number without a unit is refused, since seconds and milliseconds are confused too easily. Write a fraction as a whole number of the next smaller unit.",
  ),
  RD104: error(
    "Value out of range",
    "The value is outside of what has a meaning. attempts counts the first attempt, so 0 would mean that a message is never handled; a factor below 1 would shorten each wait; jitter is a whole percentage from 1% to 100%. Choose a value in the range that the message names.",
  ),
  RD105: error(
    "Duration out of range",
    "A duration is at least one millisecond and at most ten years, the longest time to live that RabbitMQ takes; a delay that a handler may ask for is at least one second. A backoff without max is refused where its last delay would outgrow that. Nothing is clamped silently: choose another duration, add max, or use fewer attempts.",
  ),
  RD106: error(
    "The cap is below the first delay",
    "With max below first every delay would be cut to max, and first would have no effect. One of the two is most likely a slip of the unit. Raise max, or use a constant backoff.",
  ),
  RD107: error(
    "The steps do not match the attempts",
    "steps lists each delay by itself: one for every attempt after the first, which is due at once. With too few delays an attempt would have none, with too many the last ones would never be used. Change attempts or the list.",
  ),
  RD108: error(
    "Undeclared source",
    "A consumer takes from a source that the declaration does not have, so there is no exchange to bind its queue to and nothing would ever arrive. Declare the source, or correct its name.",
  ),
  RD109: error(
    "The consumer takes nothing",
    'A consumer without a source, or with an empty list of routing keys, gets a queue that nothing is bound to: it would wait for ever and never get a message. List at least one routing key, or write "all".',
  ),
  RD110: error(
    "Routing key does not fit the source",
    "topic sources match patterns of words between dots, where * and # stand for whole words; direct sources match whole keys; fanout sources look at no key at all. A key that does not fit its source would match nothing, or more than it says. No routing key may have more than 255 bytes, and none is listed twice.",
  ),
  RD111: error(
    "Malformed name",
    "Names become names of queues and exchanges, and routing keys become bindings: each has from 1 to 255 characters. The broker would refuse a longer one at deployment, after other resources are already there. Choose a short name of letters, digits, dots, dashes and underscores.",
  ),
  RD112: error(
    "Not possible for every-instance",
    "With delivery every-instance each running instance has a queue of its own that ends with it, and whatever waits in it is gone. Nothing can be retried or dead-lettered from there, so a retry policy would be a promise that nobody keeps. Remove the field, or use delivery work-queue.",
  ),
  RD201: error(
    "Unknown target",
    "A target is a broker and its version, such as rabbitmq@4.3, with a strategy that this broker has. Versions that have not been studied are refused: RabbitMQ changed between releases what counts as a failed delivery and which dead-letter cycles are cut, so a topology that is sound on one can lose or repeat messages on another. Name one of the versions in the note.",
  ),
  RD202: error(
    "The strategy cannot keep what is declared",
    "The strategy was asked for by name, and something in the declaration or the broker's version is beyond it. Deploying it all the same would break a promise silently: RabbitMQ 4.0, for one, accepts the queue arguments for delayed retry, ignores them and redelivers at once. Use a strategy that the fix names, or auto.",
  ),
  RD203: error(
    "No strategy keeps what is declared",
    "No way of using this target keeps everything that the declaration asks for. The notes say what stands in the way of each strategy. Change the field that the fix names, which is what the strategy that comes closest objects to.",
  ),
  RD204: error(
    "Name not usable on RabbitMQ",
    "The Pulumi provider splits resource ids at / and @ and turns what looks like a number into one, RabbitMQ keeps names that start with amq. for itself, and no name or routing key may have more than 255 bytes. The deployment would fail halfway or touch another resource. Use letters, digits, dots, dashes and underscores, with a letter in it.",
  ),
  RD205: error(
    "Two resources would have the same name",
    "The names of a consumer's queues and exchanges are derived from its own name, as in shop.billing.dead. Here two of them meet, so that one consumer's messages would land in the other's queue. Rename one of the two.",
  ),
  RD206: error(
    "Order per key cannot be kept",
    "While a failed message waits out its delay, later messages with the same key overtake it, since RabbitMQ has no groups of messages that wait for one another. Use order none, and let the handler recognise an outdated message, for example by a version in it.",
  ),
  RD207: warning(
    "A returned message spends crash budget",
    "Up to RabbitMQ 4.2 the delivery limit counts every return to the queue, also of messages that a consumer hands back unprocessed at shutdown. A message that is handed back as often as crashes are allowed ends in the dead queue although no handler ever failed on it. Keep the prefetch small and crash.deliveries well above the number of restarts that one message may see, or use RabbitMQ 4.3.",
  ),
  RD208: warning(
    "The consumer moves failed messages itself",
    "Up to RabbitMQ 3.12 a message carries only the reason of its first death where routing can see it. The broker could not tell a later crash from a failure, and its cycle rule would keep some messages for ever, so the consumer publishes a copy to the next tier and then acknowledges. A crash between the two doubles the message: handlers have to be idempotent. From 3.13 on the broker does it alone.",
  ),
  RD209: warning(
    "Nobody raises the alarm",
    "RabbitMQ has no alarms on the depth of a queue, so this part of the declaration is kept by nobody on the broker and dead letters may pile up unseen. The monitoring that watches the broker has to watch the messages in the dead queue. The warning stays as long as alarmAbove is declared, as a reminder of it.",
  ),
  RD210: warning(
    "Very many quorum queues",
    "The staged strategy makes one quorum queue for each retry of each consumer, and each is a Raft group with a member on every node. From about 5 000 of them on a cluster's resources need a look. The waits strategy shares its queues between all consumers, at the cost of a publish by the consumer. There it is the distinct delays that count, each for up to five queues where it has jitter.",
  ),
  RD211: warning(
    "The broker may cut the handler short",
    "RabbitMQ takes a delivery back when it is not settled within the consumer timeout, 30 minutes unless it was changed: the channel is closed, and the message goes back to the queue while the handler is still at work on it. From 3.12 on a policy raises the timeout, and Redeliver writes it. Before 3.12 set consumer_timeout in rabbitmq.conf on every node, or shorten the handler.",
  ),
  RD212: error(
    "The routing key is reserved",
    "The routing key of a message that is being retried starts with redeliver: and says which attempt is next. A publisher's own key of that form could be taken for one, and the message would skip attempts. Choose another routing key.",
  ),
  RD213: error(
    "The protocol does not fit the target",
    "A consumer that speaks AMQP 1.0 is compiled to the deferred strategy, in which its outcome names the time of the next delivery. RabbitMQ does that from 4.3 on. Use a newer target, or let the consumer speak AMQP 0-9-1, which every strategy but deferred is made for.",
  ),
  RD214: warning(
    "3.13 needs its message containers",
    "On 3.13 the reason of a message's last death is visible to routing only with the feature flag message_containers, which an upgraded cluster has to enable. Without it every first failure ends in the dead queue: nothing is lost, but nothing is retried either. Enable the flag, or use the waits strategy, which does not look at the reason.",
  ),
  RD301: error(
    "The stack's configuration is refused",
    "The configuration of a Pulumi stack is checked like a declaration, all of it at once and before any resource is touched. Missing, unknown and malformed keys are reported, as is a password in clear: whoever can read the repository could read it. Values that may be secret never appear in a message.",
  ),
  RD302: error(
    "It cannot be changed in place",
    "A queue, an exchange or a topic keeps its name and would have to become something else, which the broker refuses. Usually the strategy has changed: by hand, because `auto` chose another one, or because the target has another version. The update ends before it touches anything, also with --skip-preview. Name the strategy or the version that is deployed in the target, or deploy the new form under another name beside the old one.",
  ),
  RD303: error(
    "A source goes while a consumer takes from it",
    "Publishers go on for a while with the source that is left out, and a renamed source is a new one to the broker. Its bindings would be gone, so their messages would reach nobody, and a publisher without `mandatory` is not even told. The update ends before it touches anything. Declare the new source beside the old one, move the publishers, take the old source from the consumers, deploy, and then leave it out.",
  ),
  RD401: error(
    "Not what the option is for",
    "redeliver audit reads files of the brokers' own tools, the state of a Pulumi stack, and a running broker. This file is JSON, but not of the kind that its option stands for, or there is no queue in it. An audit of nothing would find nothing, and look as if all was well. Name another file, or another option.",
  ),
  RD402: error(
    "Malformed entry in an export",
    "An entry of the export is not as RabbitMQ, AWS or Pulumi write it: a queue without a name, a binding without an end, a redrive policy that is no JSON. It is not passed over, since a topology without it is another one. Export again; in a file that a person or a program wrote, mend the entry that the path names.",
  ),
  RD403: warning(
    "The broker is newer than the rules",
    "The export comes from a version of RabbitMQ that has not been studied, so the topology is judged by the rules of the newest one that has. RabbitMQ has changed between minor releases what counts as a failed delivery. Use a newer Redeliver where there is one, and read the findings with the release notes beside them.",
  ),
  RD404: warning(
    "Named more than once",
    "The same queue or exchange is in the file twice, perhaps with different arguments. A broker that imports the file keeps what it met first and passes over the rest without an error, and so does the audit. Remove the entries that do not count, or nobody will see why a change of theirs has no effect.",
  ),
  RD405: warning(
    "Bindings to what is not there",
    "RabbitMQ leaves exclusive queues and internal exchanges out of its exports, but keeps the bindings to and from them. Bindings to such a queue are left out of the audit; such an exchange is taken to be a fanout exchange, which passes on every message. Read the broker with --url to have all of it.",
  ),
  RD406: warning(
    "No rules for this kind",
    "An exchange or queue is of a type that a plugin adds, or a policy is for a kind of queue that is not known. Such an exchange is taken to send a message by all of its bindings, such a queue to be a classic one, and such a policy is left out. What is found elsewhere holds all the same; findings that involve them want a second look.",
  ),
  RD407: error(
    "The broker cannot be read",
    "Nothing answers at the URL, or what answers is not what was expected: nobody listens there, the name is unknown, the certificate is not trusted, or another program serves the port. Nothing was read. RabbitMQ is read by its management API, a plugin, which listens on port 15672 unless that was changed; AWS by its SDK, whose packages have to be installed.",
  ),
  RD408: error(
    "The broker refuses to be read",
    "The broker does not let this user in, or does not show the virtual host. At RabbitMQ the user needs one of the tags management, policymaker, monitoring and administrator, and, without the last of them, a permission in each virtual host that is to be read; it may be one that allows nothing. At AWS it takes the actions that the note lists, all of which only read.",
  ),
  RD409: warning(
    "Something was left out",
    "A part of the topology could not be read: a virtual host or a service without a permission for this user, or a resource of a stack with a secret or unknown value where its name or its settings ought to be. What was read is judged as if that part did not exist, so a finding may be missing, and one about a missing target may be wrong. Grant the permission, or take the secret out of the name.",
  ),
  RD411: error(
    "The dead-letter exchange does not exist",
    "The broker does not check the name when the queue is made. With at-most-once dead-lettering every dead letter is deleted without a word; with at-least-once it is kept inside of the queue, neither ready nor unacknowledged, until the exchange is there. Declare the exchange and bind a dead queue to it, before the first message dies.",
    "dlx",
  ),
  RD412: error(
    "Dead letters have no route",
    "The dead-letter exchange exists, but nothing is bound to it that takes these messages, and it has no alternate exchange that does. They keep the routing key they were published with unless x-dead-letter-routing-key replaces it, which is forgotten easily with a direct exchange. At-most-once dead-lettering deletes them; at-least-once keeps them, and everything that dies later in this queue waits behind them.",
    "dlx",
  ),
  RD413: error(
    "Messages are lost in a cycle of dead-lettering",
    "A dead letter that would come into a queue that it died in before is dropped, unless a consumer rejected it in between: delivery limit and expiry do not count as that. So a work queue and a wait queue that dead-letter to each other lose exactly the messages whose consumer crashes too often. Route by the reason, with a headers exchange on x-last-death-reason: rejected to the wait queue, everything else to a dead queue.",
    "dlx",
  ),
  RD414: error(
    "Messages go round for ever by themselves",
    "The topology has a cycle that nothing ends: no count of the broker, and no decision of a consumer. At best it wastes the broker's time; without a delay in it one message takes a whole core. Give the cycle an end: a dead queue for what comes round too often.",
    "dlx",
  ),
  RD415: warning(
    "Redelivery has no limit",
    "Up to 3.13 a quorum queue has no delivery limit unless one is set. A message that takes its consumer down comes back at once, and takes down the next one, for ever. Set delivery-limit in a policy; what exceeds it is dead-lettered.",
    "quorum-queues",
  ),
  RD416: warning(
    "Only the consumer can end the retries",
    "A rejected message waits and comes back, and the broker never stops that: rejections are the one thing its cycle rule lets pass. The consumer has to count its attempts, in x-death or in a header of its own, and has to get that right on every version. Redeliver's staged strategy shows how the routing key can count instead.",
    "dlx",
  ),
  RD417: warning(
    "The delivery limit does not count basic.nack with requeue",
    "From 4.3 on the limit counts failures, and basic.nack with requeue is none: it hands back what was not tried. A consumer that uses it after an error gets the message back at once, thousands of times a second. Use basic.reject with requeue for a failure.",
    "quorum-queues",
  ),
  RD418: warning(
    "At-least-once dead-lettering is not in force",
    "A quorum queue dead-letters at least once only if it also refuses messages when it is full (overflow reject-publish) and has a dead-letter exchange. Otherwise the broker falls back to at-most-once without a word. Then a dead letter is lost where its target is full or not there at that moment.",
    "quorum-queues",
  ),
  RD419: error(
    "A queue that holds waiting messages expires",
    "x-expires deletes a queue that nobody uses, and nobody consumes a wait queue or a dead queue: messages that come in are no use of it. What is in it then is not dead-lettered but gone. Take x-expires away.",
    "ttl",
  ),
  RD420: warning(
    "Dead letters are deleted",
    "Without a dead-letter exchange a message that is rejected is deleted, and so is one that is given back too often: from 4.0 on every quorum queue has a delivery limit of 20 unless another is set. That may be what you want of a queue whose messages do not matter. If they do, name a dead-letter exchange in a policy.",
    "dlx",
  ),
  RD421: warning(
    "Dead letters that are looked at too often are deleted",
    "Up to 4.2 everything that is put back counts towards the delivery limit, also a message that somebody only looked at in the management interface. From 4.0 on a quorum queue has a limit of 20 by default, and a dead queue has no dead-letter exchange of its own. Make it with x-delivery-limit -1 there; up to 3.13 leave the limit out, since a negative one is taken for 0.",
    "quorum-queues",
  ),
  RD422: warning(
    "A policy is set aside",
    "Only one user policy applies to a queue, the one with the highest priority, and policies are not merged. What another one says, say a dead-letter exchange for all queues, is without effect there; with equal priorities the broker chooses. Say everything in one policy, with an anchored pattern.",
    "policies",
  ),
  RD423: warning(
    "A setting is without effect",
    "The broker takes some arguments without looking at them, and leaves out what makes no sense: a delivery limit that is a text, delayed retry on a version that has none. A policy with a single key that the queue's type does not know is set aside as a whole. Correct the value; prefer policies, whose values are checked.",
    "policies",
  ),
  RD424: error(
    "A retry reaches other queues",
    "The wait queue dead-letters to an exchange that several queues are bound to. When the message comes back for the one that failed, the others get it a second time, though they have dealt with it. Dead-letter to the default exchange with the queue's name as routing key, or to an exchange of its own.",
    "dlx",
  ),
  RD425: warning(
    "An upgrade changes what happens",
    "The same topology does something else on the version that was asked about: limits appear, counts change their meaning, dead letters are routed or dropped by another rule. The notes say what becomes of a message under each simple behaviour of its consumer, before and after. Decide what is wanted, and say it in a policy before the upgrade.",
    "upgrade",
  ),
  RD426: warning(
    "A wait queue lives only while it is declared again",
    "A classic queue with x-expires is deleted when nobody has declared or consumed it for that time, with the messages in it. It is safe if every publisher declares it right before it publishes, and the messages expire sooner than the queue. A publisher that declares it only once, at its start, loses messages.",
    "ttl",
  ),
  RD428: warning(
    "A queue could not be judged",
    "Every way that one message of a queue can take is looked at, and here there are too many: dead letters go to many wait queues at once, and in which order they come back makes a difference to the broker. Nothing is found out about what becomes of these messages, neither good nor bad. Give each consumer wait queues of its own, and let a routing key choose among them.",
    "dlx",
  ),
  RD429: warning(
    "Some dead letters have no route",
    "A queue takes all keys of a pattern, such as order.*, and its dead-letter exchange has bindings for some of them only. Dead letters keep the routing key they were published with, so those with another key are deleted, or with at-least-once kept inside of the queue. It may be that nobody publishes such a key today; the first one who does loses messages. Bind the dead queue by the same pattern.",
    "dlx",
  ),
  RD427: warning(
    "A policy's pattern cannot be read",
    "Patterns of policies are regular expressions of the broker's dialect, PCRE. Most of it is understood here; of this pattern it is not known which queues it matches, so the policy is judged as if it matched none. Write it in a simpler way, and the audit sees what the broker sees.",
    "policies",
  ),
  RD430: warning(
    "A negative delivery limit is taken for 0",
    "From 4.0 on a negative delivery limit means none. Up to 3.13 it is a limit that the first count exceeds: a message is given up as soon as it is given back once, or its consumer goes away with it. Leave the limit out there.",
    "quorum-queues",
  ),
  RD431: warning(
    "Dead letters are deleted in the end",
    "The dead queue has a time to live or a length limit and no dead-letter exchange, so that dead letters are deleted after a while, or when many come at once, whether or not somebody has looked at them. It is right if that is the retention that is wanted. If not, take the limit away, and watch the length of the queue instead.",
    "maxlength",
  ),
  RD432: warning(
    "Full queues can block each other",
    "Queues that dead-letter at least once keep a dead letter until its target has taken it, and with overflow reject-publish a full target takes none. Where such queues dead-letter to each other and all are full, each waits for the other for ever. Leave one of them without a length limit.",
    "quorum-queues",
  ),
  RD501: error(
    "Malformed value in a scenario",
    "A scenario has a fixed form, and here something that it needs is left out, or is of another kind. Durations are whole numbers with a unit, such as 250ms, 30s and 2h; shares are percentages, such as 2% and 0.05%. Nothing is converted, since a simulation of something else than what was meant would look just as convincing.",
  ),
  RD502: error(
    "Unknown key or event in a scenario",
    "A key that a simulation does not know would be without effect, and an event that never happens would make the outcome look better than it is. The note lists what may stand there. Correct the word or remove it.",
  ),
  RD503: error(
    "Not in the declaration",
    "The scenario names a consumer that the declaration does not have, or lets a handler ask for a delay that the declaration does not allow. Consumers with delivery every-instance are not simulated either: they have no work queue, and nothing of theirs is retried. Correct the name, or the declaration.",
  ),
  RD504: error(
    "The scenario contradicts itself",
    "Two values of the scenario cannot both be meant: an event ends before it begins, shares add up to more than 100%, an instance handles more messages at a time than it holds. A simulation would have to choose one of them without saying so. Change one of the two that the message names.",
  ),
  RD505: error(
    "The simulation would be too large",
    "A simulation plays every single message, and takes on 10,000,000 of them, which is about a minute's work; all instances together may hold 1,000,000 at a time. More would not end in a time that anybody waits for. Simulate a shorter duration or fewer arrivals: how a retry storm grows and ends shows within an hour of simulated time.",
  ),
  ...sqsAuditCatalogue,
  ...sqsCatalogue,
  ...consumeCatalogue,
  ...consumeRabbitmqCatalogue,
  ...policyCatalogue,
  ...sqsOptionsCatalogue,
  ...servicebusCatalogue,
  ...servicebusAuditCatalogue,
} as const satisfies Readonly<Record<string, CatalogueEntry>>;

/** A stable code such as `RD101`. */
export type DiagnosticCode = keyof typeof catalogue;
