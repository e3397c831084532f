import rhea, { type Message } from "rhea";

import { withProperties } from "./content.ts";
import { propertiesOf } from "./death.ts";
import { type Description, durationOf, type EntityKind, isTrue, ManagementError } from "./description.ts";
import { servicebusLimits, type Sku } from "./redeliver.ts";
import type { Refusal, Settlement } from "./settlement.ts";

const quotas = 'Service Bus documentation, "Service Bus quotas"';
const tiers = 'Service Bus documentation, "Service Bus Premium and Standard messaging tiers"';

/** Every number that makes the emulator refuse, with its source. */
export const limits = {
  /**
   * Including all properties. The client for .NET reads it off the link. Sources: quotas; azure-service-bus issue 697,
   * "262144 bytes".
   */
  messageBytes: { basic: 262_144, standard: 262_144, premium: 104_857_600 },
  /**
   * Of an entity of the premium tier without `MaxMessageSizeInKilobytes`. Source: `QueueProperties` of .NET;
   * azure-sdk-for-net issue 43187.
   */
  premiumKilobytes: { least: 1_024, most: 102_400, source: tiers },
  /**
   * Only the premium tier allows to set it; the others report theirs. Source: terraform-provider-azurerm issue 28576.
   */
  otherKilobytes: { least: 256, most: 256 },
  /** Of a batch of the premium tier, even with larger messages. Sources: quotas; azure-sdk-for-net issue 25381. */
  batchBytes: { basic: 262_144, standard: 262_144, premium: 1_048_576 },
  /**
   * The largest request that the management link answers. It gives no answer to a larger one. Sources:
   * azure-service-bus issues 697 and 740, azure-sdk-for-js issue 23623, azure-sdk-for-python issue 38189.
   */
  requestBytes: { basic: 262_144, standard: 262_144, premium: 1_048_576 },
  /** Of the name of an application property, and of its value. */
  propertyBytes: { most: servicebusLimits.propertyBytes, source: quotas },
  /** Of all properties of a message together. */
  propertiesBytes: { most: servicebusLimits.propertiesBytes, source: quotas },
  messageId: { most: servicebusLimits.messageIdLength, source: quotas },
  sessionId: { most: 128, source: quotas },
  /** Of the reason or the description of a dead letter. */
  deathText: {
    most: servicebusLimits.deadLetterTextLength,
    source: "azure-sdk-for-net, `Constants.MaxDeadLetterReasonLength`",
  },
  duplicateDetectionMs: {
    least: servicebusLimits.leastDuplicateDetectionMs,
    most: servicebusLimits.duplicateDetectionMs,
    source: 'Service Bus documentation, "Duplicate message detection"',
  },
  autoDeleteOnIdleMs: { least: 300_000, source: "azure-service-bus issue 306, the minimum duration" },
  filterLength: { most: servicebusLimits.filterLength, source: quotas },
} as const;

/**
 * Settings that the basic tier refuses. Sources: the pricing page of Service Bus; MassTransit issue 657 and
 * terraform-provider-azurerm issue 27285.
 */
const notOnBasic: readonly (keyof Description)[] = ["ForwardTo", "ForwardDeadLetteredMessagesTo", "AutoDeleteOnIdle"];

function argument(description: string): Refusal {
  return { condition: "com.microsoft:argument-error", description };
}

/** The most bytes of an entity's messages. */
export function messageBytesOf(sku: Sku, description: Description): number {
  if (sku !== "premium") return limits.messageBytes[sku];
  return Number(description["MaxMessageSizeInKilobytes"] ?? limits.premiumKilobytes.least) * 1_024;
}

/**
 * The reason to refuse a message for its content; null for none. The service names no condition of its own for too many
 * properties: it uses the one for other arguments.
 */
export function contentRefusal(content: Message, mostBytes: number): Refusal | null {
  if (bytesOf(content) > mostBytes)
    return {
      condition: "amqp:link:message-size-exceeded",
      description: `The message is larger than is currently allowed (${mostBytes} bytes).`,
    };
  if (String(content.message_id ?? "").length > limits.messageId.most)
    return argument(`The id of a message has more than ${limits.messageId.most} characters.`);
  if ((content.group_id ?? "").length > limits.sessionId.most)
    return argument(`The id of a session has more than ${limits.sessionId.most} characters.`);
  return propertiesRefusal(content);
}

function propertiesRefusal(content: Message): Refusal | null {
  const { most } = limits.propertyBytes;
  const long = Object.entries(content.application_properties ?? {}).find(([name, value]) =>
    [name, value].some((each) => typeof each === "string" && Buffer.byteLength(each) > most),
  );
  if (long !== undefined) return argument(`The property ${long[0].slice(0, 50)} is larger than ${most} bytes.`);
  if (bytesOf({ ...content, body: rhea.message.data_section(Buffer.alloc(0)) }) <= limits.propertiesBytes.most)
    return null;
  return argument(`The properties of the message are larger than ${limits.propertiesBytes.most} bytes.`);
}

export function bytesOf(content: Message): number {
  return rhea.message.encode(content).length;
}

/**
 * The reason to refuse a settlement's change of a message. No source tells the service's reaction; a refusal is the
 * worse possibility.
 */
export function settlementRefusal(content: Message, settlement: Settlement): Refusal | null {
  const properties = propertiesOf(settlement);
  if (Object.keys(properties).length === 0) return null;
  const texts = ["DeadLetterReason", "DeadLetterErrorDescription"].map((name) => String(properties[name] ?? ""));
  if (texts.some((text) => text.length > limits.deathText.most))
    return argument(`The reason or the description of a dead letter is longer than ${limits.deathText.most}.`);
  return propertiesRefusal(withProperties(content, properties));
}

/**
 * Checks the given settings of an entity.
 *
 * @param given without the values that the service would fill in
 * @throws ManagementError if a namespace of the tier would refuse it
 */
export function checkDescription(sku: Sku, kind: EntityKind, given: Description): void {
  const refuse = (why: string): never => {
    throw new ManagementError(400, `SubCode=40000. ${why}`);
  };
  if (sku === "basic") {
    if (kind !== "queue") refuse(`A namespace of the Basic tier has no ${kind}.`);
    const named = notOnBasic.find((name) => (given[name] ?? "") !== "");
    if (named !== undefined) refuse(`The property '${named}' cannot be set, since the namespace is of the Basic tier.`);
    for (const name of ["RequiresSession", "RequiresDuplicateDetection"])
      if (isTrue(given, name)) refuse(`'${name}' cannot be true, since the namespace is of the Basic tier.`);
    // Source: azure-service-bus issue 306.
    if ("DefaultMessageTimeToLive" in given && durationOf(given, "DefaultMessageTimeToLive") > 14 * 86_400_000)
      refuse("'DefaultMessageTimeToLive' must be between 00:00:01 and 14.00:00:00 in the Basic tier.");
  }
  const kilobytes = given["MaxMessageSizeInKilobytes"];
  if (kilobytes !== undefined) {
    const { least, most } = sku === "premium" ? limits.premiumKilobytes : limits.otherKilobytes;
    if (!(Number(kilobytes) >= least && Number(kilobytes) <= most))
      refuse(`MaxMessageSizeInKilobytes is between ${least} and ${most} in this tier.`);
  }
  const window = "DuplicateDetectionHistoryTimeWindow";
  const { least, most } = limits.duplicateDetectionMs;
  if (window in given && (durationOf(given, window) < least || durationOf(given, window) > most))
    refuse(`${window} is between 20 seconds and 7 days.`);
  if ("AutoDeleteOnIdle" in given && durationOf(given, "AutoDeleteOnIdle") < limits.autoDeleteOnIdleMs.least)
    refuse("AutoDeleteOnIdle is 5 minutes or more.");
}
