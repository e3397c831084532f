import type { DiagnosticCode } from "./catalogue.ts";
import type { ExamplePair } from "./example.ts";
import { auditExamples } from "./examples-audit.ts";
import { changeExamples } from "./examples-change.ts";
import { consumeExamples } from "./examples-consume.ts";
import { consumeRabbitmqExamples } from "./examples-consume-rabbitmq.ts";
import { declarationExamples, readingExamples } from "./examples-declaration.ts";
import { findingExamples } from "./examples-findings.ts";
import { policyExamples } from "./examples-policy.ts";
import { rabbitmqExamples } from "./examples-rabbitmq.ts";
import { scenarioExamples } from "./examples-scenario.ts";
import { servicebusAuditExamples } from "./examples-servicebus-audit.ts";
import { servicebusExamples } from "./examples-servicebus.ts";
import { sqsAuditExamples } from "./examples-sqs-audit.ts";
import { sqsExamples } from "./examples-sqs.ts";
import { sqsOptionsExamples } from "./examples-sqs-options.ts";

/** The file of a stack with this password. */
function stackText(password: string): string {
  return [
    "config:",
    '  redeliver:target: { broker: rabbitmq, version: "4.3" }',
    "  redeliver:vhost: shop",
    "  redeliver:endpoint: https://rabbitmq.example.com",
    "  redeliver:username: deployer",
    `  redeliver:password: ${password}`,
    "",
  ].join("\n");
}

/** For every code something that reports it, and the same without the mistake. Tests run all of them. */
export const examples: Readonly<Record<DiagnosticCode, ExamplePair>> = {
  ...readingExamples,
  ...declarationExamples,
  ...rabbitmqExamples,
  ...scenarioExamples,
  ...auditExamples,
  ...findingExamples,
  ...sqsAuditExamples,
  ...sqsExamples,
  ...consumeExamples,
  ...consumeRabbitmqExamples,
  ...policyExamples,
  ...sqsOptionsExamples,
  ...servicebusExamples,
  ...servicebusAuditExamples,
  ...changeExamples,
  RD301: {
    fires: { kind: "stack", text: stackText("correct-horse-battery-staple") },
    quiet: { kind: "stack", text: stackText("{ secure: v1:bm9uY2U=:Y2lwaGVydGV4dA== }") },
  },
};
