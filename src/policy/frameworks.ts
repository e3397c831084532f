/** A best practice that others have published, as Pulumi shows it beside a policy and counts it in its reports. */
export type Framework = ReturnType<typeof wellArchitected>;

/** Its practices for retries and queues hold on any broker. Source: appendix "Questions and best practices". */
function wellArchitected(reference: string, specification: string) {
  return Object.freeze({
    name: "AWS Well-Architected Framework",
    version: "2024-06-27",
    /** The number of the practice. */
    reference,
    specification,
  });
}

export const limitedRetries = wellArchitected("REL05-BP03", "Control and limit retry calls");
/** It warns of queues without dead-letter queues, and of dead-letter queues without alarms. */
export const watchedQueues = wellArchitected("REL05-BP04", "Fail fast and limit queues");
export const idempotence = wellArchitected("REL04-BP04", "Make mutating operations idempotent");
export const testedChanges = wellArchitected("OPS05-BP02", "Test and validate changes");
export const knownOwners = wellArchitected("OPS02-BP01", "Resources have identified owners");
export const encryptionAtRest = wellArchitected("SEC08-BP02", "Enforce encryption at rest");
export const controlledAccess = wellArchitected("SEC08-BP04", "Enforce access control");
