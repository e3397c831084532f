import { Queue as ServicebusQueue } from "@pulumi/azure-native/servicebus/queue.js";
import { Subscription } from "@pulumi/azure-native/servicebus/subscription.js";
import { Topic } from "@pulumi/azure-native/servicebus/topic.js";
import { Provider as AwsProvider } from "@pulumi/aws/provider.js";
import { Queue as SqsQueue } from "@pulumi/aws/sqs/queue.js";
import { ComponentResource } from "@pulumi/pulumi";
import { Exchange } from "@pulumi/rabbitmq/exchange.js";
import { Policy } from "@pulumi/rabbitmq/policy.js";
import { Provider } from "@pulumi/rabbitmq/provider.js";
import { Queue } from "@pulumi/rabbitmq/queue.js";
import { VHost } from "@pulumi/rabbitmq/vhost.js";
import { describe, expect, test } from "vitest";

import { firstPreviewOf } from "../support/first-preview.ts";
import { foundInProcess } from "../support/policy-in-process.ts";
import { type ProgramRun, runProgram } from "../support/pulumi.ts";

// Two places hold resources of the same names. Only one place has faults, and findings must name that one.

const places = ["one", "two"] as const;
type Place = (typeof places)[number];

interface Scenario {
  readonly what: string;
  readonly rule: string;
  /** The name of each place in findings. */
  readonly called: Readonly<Record<Place, string>>;
  /** Makes all resources of one place. Their names begin with the name of the place. */
  readonly fill: (place: Place, isWrong: boolean) => void;
  /** The run that the pack judges. By default it is the program's outputs. */
  readonly shown?: (run: ProgramRun) => ProgramRun;
}

const quorum = (given: object): { durable: boolean; argumentsJson: string } => ({
  durable: true,
  argumentsJson: JSON.stringify({ "x-queue-type": "quorum", ...given }),
});
const toDead = { "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead" };
const rabbitmqUser = { endpoint: "https://rabbitmq.example.com", username: "deployer", password: "x" };

/** An exchange and three queues. Wrong queues have no dead-letter exchange. */
function fillVirtualHost(place: Place, isWrong: boolean, where: { readonly vhost?: string }, options: object): void {
  const settings = { type: "topic", durable: true };
  void new Exchange(`${place}-exchange`, { ...where, name: "orders", settings }, options);
  void new Queue(`${place}-dead`, { ...where, name: "dead", settings: quorum({ "x-delivery-limit": -1 }) }, options);
  for (const name of ["orders", "mail"]) {
    void new Queue(`${place}-${name}`, { ...where, name, settings: quorum(isWrong ? {} : toDead) }, options);
  }
}

/** A queue and its dead-letter queue. In the wrong place, nothing names the second one. */
function fillRegion(place: Place, isWrong: boolean, given: { readonly region?: string }, options: object): void {
  const numbers = { visibilityTimeoutSeconds: 30, messageRetentionSeconds: 345_600, sqsManagedSseEnabled: true };
  const dead = new SqsQueue(
    `${place}-dead`,
    { ...given, ...numbers, name: "orders-dead", messageRetentionSeconds: 1_209_600 },
    options,
  );
  const redrive = dead.arn.apply((deadLetterTargetArn) => JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 5 }));
  const wrong = isWrong ? {} : { redrivePolicy: redrive };
  void new SqsQueue(`${place}-orders`, { ...given, ...numbers, name: "orders", ...wrong }, options);
}

const vhosts: Readonly<Record<Place, { readonly vhost?: string }>> = { one: {}, two: { vhost: "orders" } };

const scenarios: readonly Scenario[] = [
  {
    what: "virtual hosts of RabbitMQ, one of them said by nothing, the other called as a queue is",
    rule: "rabbitmq-dead-letter-exchange",
    called: { one: 'vhosts["/"]', two: "vhosts.orders" },
    fill: (place, isWrong) => {
      if (place === "two") void new VHost("two-vhost", { name: "orders" });
      fillVirtualHost(place, isWrong, vhosts[place], {});
    },
  },
  {
    what: "virtual hosts of RabbitMQ, with policies of one name",
    rule: "rabbitmq-policy-overlap",
    called: { one: 'vhosts["/"].policies.orders', two: "vhosts.orders.policies.orders" },
    fill: (place, isWrong) => {
      fillVirtualHost(place, false, vhosts[place], {});
      const pattern = isWrong ? "^(orders|mail)$" : "^nothing$";
      for (const [name, priority, limit] of [
        ["orders", 1, "5"],
        ["others", 2, "7"],
      ] as const) {
        const policy = { pattern, applyTo: "queues", priority, definition: { "delivery-limit": limit } };
        void new Policy(`${place}-${name}`, { vhost: "/", ...vhosts[place], name, policy });
      }
    },
  },
  {
    what: "brokers, whose providers have one name in two components",
    rule: "rabbitmq-dead-letter-exchange",
    called: { one: "main", two: "main" },
    fill: (place, isWrong) => {
      const parent = new ComponentResource(`shop:index:${place}`, place);
      fillVirtualHost(place, isWrong, {}, { provider: new Provider("main", rabbitmqUser, { parent }) });
    },
  },
  {
    what: "regions of AWS",
    rule: "sqs-dead-letter-queue",
    called: { one: "regions.eu-west-1.queues", two: "regions.us-east-1.queues" },
    fill: (place, isWrong) => fillRegion(place, isWrong, { region: place === "one" ? "eu-west-1" : "us-east-1" }, {}),
  },
  {
    what: "regions of AWS, in the first preview",
    rule: "sqs-dead-letter-queue",
    called: { one: 'regions["eu-west-1 of default-', two: 'regions["us-east-1 of default-' },
    fill: (place, isWrong) => fillRegion(place, isWrong, { region: place === "one" ? "eu-west-1" : "us-east-1" }, {}),
    shown: firstPreviewOf,
  },
  {
    what: "accounts of AWS, in the first preview",
    rule: "sqs-dead-letter-queue",
    called: { one: 'regions["not-known-yet of aws-one-', two: 'regions["not-known-yet of aws-two-' },
    fill: (place, isWrong) => fillRegion(place, isWrong, {}, { provider: new AwsProvider(`aws-${place}`) }),
    shown: firstPreviewOf,
  },
  {
    what: "namespaces of Service Bus, and topics with a subscription of one name",
    rule: "servicebus-delivery-count",
    called: { one: "namespaces.one", two: "namespaces.two" },
    fill: (place, isWrong) => {
      const [common, maxDeliveryCount] = [{ resourceGroupName: "shop", namespaceName: place }, isWrong ? 1 : 10];
      void new ServicebusQueue(`${place}-orders`, { ...common, queueName: "orders", maxDeliveryCount });
      for (const topicName of ["orders-placed", "orders-paid"]) {
        void new Topic(`${place}-${topicName}`, { ...common, topicName });
        const own = { ...common, topicName, subscriptionName: "orders", maxDeliveryCount };
        void new Subscription(`${place}-${topicName}-orders`, own);
      }
    },
  },
];

const runs = scenarios.flatMap((scenario) =>
  places.flatMap((wrong) =>
    [places, places.toReversed()].map((inOrder) => ({ ...scenario, wrong, inOrder, first: inOrder[0] })),
  ),
);

describe("a finding about one of two resources", () => {
  test.each(runs)("$what: $wrong is wrong, $first is made first", async (given) => {
    const { rule, called, fill, shown, wrong, inOrder } = given;
    const run = await runProgram(() => {
      for (const place of inOrder) fill(place, place === wrong);
    });
    if (run.error !== undefined) throw run.error;
    const options = { rules: { "queue-protection": { include: ["nothing"] } } };
    const found = await foundInProcess(shown === undefined ? run : shown(run), options);
    expect(found.length).toBeGreaterThan(0);
    for (const each of found) {
      expect(each.rule, each.message).toBe(rule);
      expect(each.urn, each.message).toMatch(new RegExp(`::${wrong}-[\\w-]+$`));
      expect(each.message).toMatch(/^at (.*), by the rules of/m);
      expect(each.message).toContain(called[wrong]);
    }
  });
});
