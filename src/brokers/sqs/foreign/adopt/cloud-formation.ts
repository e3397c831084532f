import type { Unsaid } from "../../../../adopt/found.ts";
import { baseOf } from "./dead-queues-apart.ts";

/**
 * Queues with a name of the form that CloudFormation makes: the stack, the resource and twelve random characters. CDK has
 * the same. The stack goes on to own them. Source: AWS CloudFormation User Guide, "Name type".
 */
export function ofCloudFormation(name: string): readonly Unsaid[] {
  const [, suffix = ""] = /^[A-Za-z][A-Za-z0-9-]*-[A-Za-z0-9]+-([A-Za-z0-9]{12,13})$/.exec(baseOf(name)) ?? [];
  if (!/[A-Z]/.test(suffix) || !/[a-z0-9]/.test(suffix)) return [];
  const fact =
    "by the name a stack of CloudFormation or CDK made it, and deletes it with the stack. Before another tool takes it over, give it DeletionPolicy: Retain, deploy that, and take it out of the template";
  return [{ place: name, fact }];
}
