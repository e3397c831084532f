import type { CatalogueEntry } from "./catalogue-entry.ts";
import { error } from "./catalogue-entry.ts";

/** RD8xx: why a consumer does not begin. */
export const consumeCatalogue = {
  RD801: error(
    "No such consumer",
    "The declaration has no consumer of this name, so there is no contract to keep and no queue to take from. Names are case-sensitive. Name one of those that the note lists, or declare it and deploy before it is run.",
  ),
  RD802: error(
    "Options that a consumer cannot be run with",
    "What was given to consume is checked before anything is connected, and an option that nobody knows is refused and not passed over: a mistyped concurrency would otherwise be found in production. All that is wrong is named at once. Values of a connection are not repeated, since there are passwords among them.",
  ),
  RD803: error(
    "The client library is missing",
    "Redeliver speaks to a broker through the client library that people use with it anyway, and installs none of them. Install the one that the message names, beside redeliver.",
  ),
  RD804: error(
    "No connection to the broker",
    "Nothing answers at the address, or what answers is no such broker. A consumer that starts says so at once and ends, since the address may be wrong. One that was connected before connects again by itself, with growing pauses.",
  ),
  RD805: error(
    "Something that was compiled is not deployed",
    "The consumer's messages come through these queues and exchanges, and one of them is missing. A copy that is published to an exchange that does not exist has nowhere to go, and without its dead queue a message that dies has no place to end. Deploy the system first, into the virtual host that the consumer connects to.",
  ),
  RD806: error(
    "The broker is not the target",
    "The consumer was compiled for another version, and for the one that answers something else comes out: other queues, other operations, or nothing at all. Used there it would lose count, retry too early or for ever: up to 4.2 the arguments of delayed retry are taken without a word and ignored. A version for which the same comes out is accepted, and logged.",
    "quorum-queues",
  ),
  RD807: error(
    "No permission",
    "The broker does not let this user in, or not into this virtual host, or not read from the work queue, or not write to an exchange that the contract publishes copies to, or not make the queue that each instance has. Without the permission to write the first message that needs a copy would be tried for ever, and so would all that come after it. Whether a user may publish is asked with a message in a transaction that is never committed, so nothing is published; whether SQS lets one delete, hide or send is asked with a receipt that no queue has given, or with a batch of no messages, and whether it lets one receive by the first receive, which waits for nothing, and whose messages are handled. From 4.3 on a passive declaration takes some permission for what it names, and to compare arguments without a managementUrl takes the permission to configure; without these the consumer runs, and logs what it could not compare.",
    "access-control",
  ),
  RD808: error(
    "What is deployed differs from what was compiled",
    "A queue, an exchange or the policy in force has other values than the declaration compiles to. With another delivery limit the attempts are others, with another dead-letter exchange messages end elsewhere, or nowhere. The notes show both values of all that differs, and where the broker compares by itself, because no managementUrl is given, of the first thing that differs; deploy again, or run the consumer from the declaration that is deployed. Arguments of a queue cannot be changed, so where those differ, the strategy or the version that is deployed has to be named in the target.",
    "policies",
  ),
  RD809: error(
    "The consumer is a function of Lambda",
    "The target says that Lambda receives this consumer's messages. A program that receives from the same queue would take a part of them away from the function, with other code, and each receive counts. Run the consumer in one place: in the function, or here.",
  ),
  RD810: error(
    "Bindings differ from what was compiled",
    "Between the exchanges and queues that were deployed a binding is missing, or there is one too many. A work queue that is not bound to its source gets nothing, and a message that dies where nothing leads on is lost, or held back with everything behind it. A binding that leads out of the consumer's own retries makes a second message of each one that passes there. Sources and dead letters may be bound to more queues, and these are not looked at.",
    "dlx",
  ),
} as const satisfies Readonly<Record<string, CatalogueEntry>>;
