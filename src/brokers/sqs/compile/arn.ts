/**
 * The parts of an ARN: `arn:<partition>:<service>:<region>:<account>:<resource>`. Source: IAM User Guide, "Amazon
 * Resource Names".
 */
export type Arn = NonNullable<ReturnType<typeof parseArn>>;

/** @returns null if the text is no ARN */
export function parseArn(text: string) {
  const match = /^arn:aws[a-z-]*:([a-z0-9-]+):([a-z0-9-]*):(\d{12}|):(.+)$/.exec(text);
  if (match === null) return null;
  const [, service = "", region = "", account = "", resource = ""] = match;
  return { service, region, account, resource };
}
