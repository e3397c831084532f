import type { CatalogueEntry } from "./catalogue-entry.ts";
import { error, warning } from "./catalogue-entry.ts";

/** The vendor's own page about what there can be at most. */
const quotas = { source: "https://learn.microsoft.com/azure/service-bus-messaging/service-bus-quotas" };

/** RD70x to RD73x: what Azure Service Bus cannot do, or does only at a price. */
export const servicebusCatalogue = {
  RD701: error(
    "Unknown tier, strategy or option",
    "A target on Service Bus is a tier, such as servicebus@standard, with a strategy that Service Bus has; written as data it can also say how long locks are, whether duplicates are detected, and where dead letters go. Anything else would be without effect. Use one of the words that the note or the fix names.",
  ),
  RD702: error(
    "The lock is out of range",
    "A lock is how long a delivery is its receiver's alone if nobody renews it: from 5 seconds to 5 minutes. A longer handler has its lock renewed, so a longer lock is not needed; it would only be longer until the message of a crashed consumer comes back. Durations are written as everywhere in Redeliver: in ISO 8601, which Azure takes, P5M is five months and PT5M five minutes, and nothing there tells the one from the other.",
  ),
  RD703: error(
    "The window of duplicate detection is out of range",
    "With duplicate detection a queue remembers the ids of messages for a time from 20 seconds to 7 days, and drops what comes with a known one. Choose a window in that range, longer than the lock.",
  ),
  RD704: error(
    "The tier does not have it",
    "The basic tier has queues and nothing else: no topics, so no source that several consumers take from or that is taken by routing key; no sessions, so no order per key; no duplicate detection; no forwarding. Azure would refuse it in the middle of a deployment. Use the standard tier.",
  ),
  RD705: error(
    "The strategy cannot keep what is declared",
    "The strategy was asked for by name, and something in the declaration is beyond it. Under immediate an abandoned message is there again at once; under scheduled and ttl-tier a copy waits, which comes behind the later messages of its session; under ttl-tier a queue has one delay for all messages. Use the strategy that the fix names, or auto.",
  ),
  RD706: error(
    "No strategy keeps what is declared",
    "Neither of the two ways of using Service Bus keeps everything that the declaration asks for. It has no delay of its own, and a message that is scheduled again loses its place, so that order per key and a delay exclude each other. The notes say what stands in the way of each strategy; change the field that the fix names.",
  ),
  RD707: error(
    "Name not usable on Service Bus",
    "Names have letters, digits, periods, hyphens and underscores, and begin and end with a letter or a digit. A queue or topic has 260 characters at most, with the system's name in front, and a subscription, which is named after its consumer, 50. Azure would refuse the name in the middle of a deployment.",
  ),
  RD708: error(
    "Two things would have the same name",
    "Queues and topics of a namespace share their names, the rules of a subscription are named after their routing keys, and upper and lower case are the same there. Here two of them meet, so that the one would take the place of the other. Rename one of the two.",
  ),
  RD709: error(
    "Service Bus has no queue for every instance",
    "A subscription is there until somebody deletes it. One that an instance made for itself would go on filling up after the instance has died. Use one work queue for the consumer, or a target whose queues end with their connection.",
  ),
  RD710: error(
    "Order over several sources",
    "Messages in sessions cannot be forwarded into a queue, so a consumer in order receives from its subscription itself, and there is one for each source. Between two sources there is no order that Service Bus would keep. Take one source in order, or publish what has to be in order to one source.",
  ),
  RD711: error(
    "Service Bus cannot filter by this",
    "A rule compares the subject of a message with a text or with a SQL pattern, in which % is any text, dots included. One word between dots can be told apart only where the number of dots is fixed, so `*` and `#` exclude each other in most patterns. A rule has a name of 50 characters at most, made from the routing key, and an expression of 1,024. Taking more than is declared would break the promise to the others, so nothing is widened silently.",
  ),
  RD712: error(
    "The handler may run longer than a lock is renewed",
    "The SDKs renew a lock by a timer for as long as the handler may run, and a timer runs for 24 days at most. A handler that runs longer would have its message handled again beside it. Let the handler start the long work elsewhere and end.",
  ),
  RD713: warning(
    "A returned message may cost a delivery",
    "On Service Bus a delivery that ends without a result counts, under immediate as an attempt, under the other strategies against the crash budget of the attempt. A consumer that hands a message back releases it; by what the maintainers of Service Bus say that counts nothing, but no documentation says it, one user has seen the opposite, and most of Microsoft's SDKs have no method for it. So the worse is assumed: a consumer that is restarted often while it holds many messages can make messages die that were never tried. Receive no more messages than are handled at once; with sessions the consumer closes the session, and nothing is counted.",
  ),
  RD714: warning(
    "No handler timeout is declared",
    "The SDK renews the lock of a message for a time that has to be known beforehand. Without a handlerTimeout it is the 5 minutes that the SDKs have by default: a handler that takes longer has its message handled a second time beside it. Declare how long the handler may run.",
  ),
  RD715: warning(
    "A tier with a time to live promises little",
    "The pattern that RabbitMQ runs by itself is not one of Service Bus: it expires messages when it comes to it, and promises no time; and a message that is forwarded carries its time to live along, which then runs in the work queue as well, so that what nobody receives for as long is dead before its attempts are made. Nothing is lost by it, and no attempt comes early. Scheduled copies have none of these faults.",
  ),
  RD716: warning(
    "Duplicates are forgotten before a crash is over",
    "A consumer that crashes between its copy and the completion of the message has the message again when the lock has run out, and sends the copy a second time, with the same id. Duplicate detection drops it only if it still knows the first one. Choose a window that is longer than the lock.",
  ),
  RD717: error(
    "The official emulator does not take this",
    'Microsoft\'s emulator takes less than Service Bus: 10 deliveries, 50 queues and topics, 70 SQL filters of a topic, which has one subscription at least, times to live from 5 minutes to an hour. On a configuration file beyond that it ends with "Out of memory", so none is written. What is compiled for Service Bus itself is not affected.',
  ),
  RD718: warning(
    "The official emulator forgets after an hour",
    "A queue of the emulator has a time to live of an hour at most, so that is what its configuration file says where the topology says none. A message that waits longer, a scheduled one not counted, is dead-lettered there and would not be in Service Bus. Tests are seldom that long.",
  ),
  RD719: {
    ...error(
      "A namespace does not hold so much",
      "A namespace has 10,000 queues and topics at most, in the premium tier 1,000 for each of its messaging units, of which there are 64 at most. Each consumer is a queue, each source a topic, and under ttl-tier each delay of a consumer is a queue too. Azure would refuse the rest in the middle of a deployment. Divide the consumers among two systems, each in a namespace of its own.",
    ),
    ...quotas,
  },
  RD720: {
    ...warning(
      "A namespace needs more messaging units",
      "A premium namespace has 1,000 queues and topics for each of its messaging units, and begins with one of them. How many it has is not known when a system is compiled. With too few Azure refuses the rest in the middle of a deployment, so look before, or deploy to a namespace of its own.",
    ),
    ...quotas,
  },
  RD721: {
    ...error(
      "A topic does not take so many subscriptions",
      "A topic has 2,000 subscriptions at most, and each consumer of a source has one. Azure would refuse the rest in the middle of a deployment. Publish to two sources, and divide the consumers among them.",
    ),
    ...quotas,
  },
  RD722: {
    ...error(
      "A topic does not take so many filters",
      "All subscriptions of a topic together have 2,000 SQL filters and 100,000 correlation filters at most. A pattern with a wildcard is a SQL filter, a whole routing key a correlation filter. Azure would refuse the rest in the middle of a deployment. List routing keys where a pattern stands for few, or take a wider pattern.",
    ),
    ...quotas,
  },
  RD723: warning(
    "Dead letters of sessions in one dead queue",
    "Azure refuses to forward the messages of an entity with sessions. Of its dead letters, which have no sessions any more, Microsoft says neither that they are forwarded nor that they are not. If Azure refuses it, the deployment ends at that subscription, and nothing is lost. Try it in a namespace for tests, or let dead letters stay where they died.",
  ),
} as const satisfies Readonly<Record<string, CatalogueEntry>>;
