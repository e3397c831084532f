import type { Diagnostic } from "../../../diagnostics/diagnostic.ts";
import { type Quota, beyond } from "../../../contract/quota.ts";
import { bytesIn } from "../compile/quotas.ts";
import type { SqsTopology } from "../compile/topology.ts";
import { exportCloudFormation } from "./export.ts";

const source = 'CloudFormation User Guide, "Understand CloudFormation quotas"';
const help = "divide the consumers among two systems, or deploy with Pulumi, which has no such limit";

const quotas = {
  resources: { code: "RD219", what: "resources", most: 500, source, help },
  outputs: { code: "RD219", what: "outputs", most: 200, source, help },
  // AWS writes "1 MB". This is the smaller of its two meanings.
  bytes: { code: "RD219", what: "bytes", most: 1_000_000, source, help },
  inlineBytes: {
    code: "RD220",
    what: "bytes",
    most: 51_200,
    unless: "unless it lies in a bucket",
    source: `${source}, of a template that is part of the request`,
    help: "name a bucket for it: aws cloudformation deploy --s3-bucket …",
  },
} satisfies Readonly<Record<string, Quota>>;

/**
 * Finds the limits of CloudFormation that a template exceeds: those of every template, or else those of a template
 * inside a request.
 */
export function diagnoseTemplate(topology: SqsTopology): Diagnostic[] {
  const template = exportCloudFormation(topology);
  const problem = (quota: Quota, count: number): Diagnostic[] =>
    beyond(quota, count, ["consumers"], "the template would have");
  // As the command line writes it.
  const bytes = bytesIn(template, 2);
  const never = [
    ...problem(quotas.resources, Object.keys(template.Resources).length),
    ...problem(quotas.outputs, Object.keys(template.Outputs).length),
    ...problem(quotas.bytes, bytes),
  ];
  return never.length > 0 ? never : problem(quotas.inlineBytes, bytes);
}
