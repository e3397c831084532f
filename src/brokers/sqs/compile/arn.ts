/**
 * The parts of an ARN: `arn:<partition>:<service>:<region>:<account>:<resource>`. Source: IAM User Guide, "Amazon
 * Resource Names".
 */
export type Arn = NonNullable<ReturnType<typeof parseArn>>;

/** True for the name of a resource that others own. No name of SQS or SNS has a colon in it. */
export function isArn(name: string): boolean {
  return name.startsWith("arn:");
}

/** The region of a topic that others own, or null for one of the system's own. */
export function regionOf(name: string): string | null {
  return parseArn(name)?.region ?? null;
}

/** @returns null if the text is no ARN */
export function parseArn(text: string) {
  const match = /^arn:aws[a-z-]*:([a-z0-9-]+):([a-z0-9-]*):(\d{12}|):(.+)$/.exec(text);
  if (match === null) return null;
  const [, service = "", region = "", account = "", resource = ""] = match;
  return { service, region, account, resource };
}
