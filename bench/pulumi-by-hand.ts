import * as pulumi from "@pulumi/pulumi";
import * as rabbitmq from "@pulumi/rabbitmq";

const vhost = "bench";

interface Queue {
  readonly exchange?: rabbitmq.Exchange;
  readonly key?: string;
  readonly tuning?: Record<string, string>;
  readonly protect: boolean;
  readonly unlimited: boolean;
}

function addQueue(
  parent: pulumi.Resource,
  name: string,
  { exchange, key, tuning, protect, unlimited }: Queue,
  exchangeName?: string,
): rabbitmq.Queue {
  const pattern = `^${name.replaceAll(".", String.raw`\.`)}$`;
  const policy = new rabbitmq.Policy(
    `bench-${name}`,
    {
      name,
      vhost,
      policy: {
        pattern,
        applyTo: "quorum_queues",
        priority: 1000,
        definition: { overflow: "reject-publish", ...tuning },
      },
    },
    { parent, retainOnDelete: true },
  );
  const argumentsJson = JSON.stringify({
    "x-queue-type": "quorum",
    "x-overflow": "reject-publish",
    ...(exchangeName === undefined ? {} : { "x-dead-letter-exchange": exchangeName }),
    ...(key === undefined ? {} : { "x-dead-letter-routing-key": key }),
    ...(exchangeName === undefined ? {} : { "x-dead-letter-strategy": "at-least-once" }),
    ...(unlimited ? { "x-delivery-limit": -1 } : {}),
  });
  return new rabbitmq.Queue(
    `bench-${name}`,
    { name, vhost, settings: { durable: true, autoDelete: false, argumentsJson } },
    {
      parent,
      protect,
      retainOnDelete: true,
      dependsOn: exchange === undefined ? policy : [policy, exchange],
    },
  );
}

function addExchange(
  parent: pulumi.Resource,
  name: string,
  type: string,
  alternate?: rabbitmq.Exchange,
  alternateName?: string,
): rabbitmq.Exchange {
  const settings = { type, durable: true, autoDelete: false };
  return alternate === undefined || alternateName === undefined
    ? new rabbitmq.Exchange(`bench-${name}`, { name, vhost, settings }, { parent })
    : new rabbitmq.Exchange(
        `bench-${name}`,
        {
          name,
          vhost,
          settings: { ...settings, arguments: { "alternate-exchange": alternateName } },
        },
        { parent, dependsOn: alternate },
      );
}

interface Ends {
  readonly source: rabbitmq.Exchange;
  readonly destination: rabbitmq.Queue | rabbitmq.Exchange;
  readonly destinationType?: string;
  readonly routingKey?: string;
  readonly headers?: Record<string, string>;
  readonly dependsOn?: rabbitmq.Binding[];
}

function bind(
  parent: pulumi.Resource,
  name: string,
  { source, destination, destinationType = "queue", routingKey = "", headers, dependsOn }: Ends,
): rabbitmq.Binding {
  return new rabbitmq.Binding(
    `bench-${name}`,
    {
      vhost,
      source: source.name,
      destination: destination.name,
      destinationType,
      routingKey,
      ...(headers === undefined ? {} : { argumentsJson: JSON.stringify(headers) }),
    },
    dependsOn === undefined ? { parent } : { parent, dependsOn },
  );
}

function addDead(
  parent: pulumi.Resource,
  work: string,
): { exchange: rabbitmq.Exchange; queue: rabbitmq.Queue; binding: rabbitmq.Binding } {
  const name = `${work}.dead`;
  const exchange = addExchange(parent, name, "fanout");
  const queue = addQueue(parent, name, { protect: true, unlimited: true });
  return {
    exchange,
    queue,
    binding: bind(parent, `${name}/queue/${name}`, { source: exchange, destination: queue }),
  };
}

type Made = { readonly queue: rabbitmq.Queue; readonly bindings: rabbitmq.Binding[] };

function addStaged(parent: pulumi.Resource, work: string): Made {
  const delays = [1000, 2000, 4000, 8000];
  const key = (attempt: number): string => `redeliver:${work}:attempt:${attempt}`;
  const dead = addDead(parent, work);
  const again = addExchange(parent, `${work}.again`, "fanout");
  const first = addExchange(parent, `${work}.attempts.first`, "fanout");
  const past = addExchange(parent, `${work}.attempts.past`, "topic", first, `${work}.attempts.first`);
  const retry = addExchange(parent, `${work}.attempts`, "direct", past, `${work}.attempts.past`);
  const failed = addExchange(parent, `${work}.failed`, "headers", dead.exchange, `${work}.dead`);
  const tiers = delays.map((delay, index) =>
    addQueue(
      parent,
      `${work}.attempt.${index + 2}`,
      {
        exchange: again,
        key: key(index + 2),
        tuning: { "message-ttl": String(delay) },
        protect: false,
        unlimited: true,
      },
      `${work}.again`,
    ),
  );
  const queue = addQueue(
    parent,
    work,
    { exchange: failed, tuning: { "delivery-limit": "2" }, protect: true, unlimited: false },
    `${work}.failed`,
  );
  const bindings = [
    dead.binding,
    bind(parent, `${work}.attempts.first/queue/${work}.attempt.2`, {
      source: first,
      destination: tiers[0] as rabbitmq.Queue,
    }),
    bind(parent, `${work}.attempts.past/queue/${work}.dead`, {
      source: past,
      destination: dead.queue,
      routingKey: `redeliver:${work.slice(0, work.lastIndexOf("."))}.*`,
    }),
  ];
  for (let attempt = 2; attempt < 5; attempt++) {
    bindings.push(
      bind(parent, `${work}.attempts/queue/${work}.attempt.${attempt + 1}/${key(attempt)}`, {
        source: retry,
        destination: tiers[attempt - 1] as rabbitmq.Queue,
        routingKey: key(attempt),
      }),
    );
  }
  bindings.push(
    bind(parent, `${work}.failed/exchange/${work}.attempts/x-match=all-with-x/x-last-death-reason=rejected`, {
      source: failed,
      destination: retry,
      destinationType: "exchange",
      headers: { "x-match": "all-with-x", "x-last-death-reason": "rejected" },
    }),
    bind(parent, `${work}.again/queue/${work}`, { source: again, destination: queue }),
  );
  return { queue, bindings };
}

function addNative(parent: pulumi.Resource, work: string): Made {
  const dead = addDead(parent, work);
  const tuning = {
    "delivery-limit": "3",
    "delayed-retry-type": "failed",
    "delayed-retry-min": "10000",
    "delayed-retry-max": "30000",
  };
  const queue = addQueue(
    parent,
    work,
    { exchange: dead.exchange, tuning, protect: true, unlimited: false },
    `${work}.dead`,
  );
  return { queue, bindings: [dead.binding] };
}

type Waits = { readonly again: rabbitmq.Exchange; readonly bindings: rabbitmq.Binding[] };

function addSharedWaits(parent: pulumi.Resource): Waits {
  const exchange = addExchange(parent, "bench.wait.undeliverable", "fanout");
  const end = addQueue(parent, "bench.wait.undeliverable", { protect: false, unlimited: true });
  const bindings = [
    bind(parent, "bench.wait.undeliverable/queue/bench.wait.undeliverable", {
      source: exchange,
      destination: end,
    }),
  ];
  const again = addExchange(parent, "bench.wait.again", "direct", exchange, "bench.wait.undeliverable");
  for (const delay of [36_000, 108_000]) {
    const name = `bench.wait.${delay}ms`;
    const source = addExchange(parent, name, "fanout");
    const destination = addQueue(
      parent,
      name,
      {
        exchange: again,
        tuning: { "message-ttl": String(delay) },
        protect: false,
        unlimited: true,
      },
      "bench.wait.again",
    );
    bindings.push(bind(parent, `${name}/queue/${name}`, { source, destination }));
  }
  return { again, bindings };
}

function addWaiting(parent: pulumi.Resource, work: string, waits: Waits): Made {
  const dead = addDead(parent, work);
  const queue = addQueue(
    parent,
    work,
    { exchange: dead.exchange, tuning: { "delivery-limit": "2" }, protect: true, unlimited: false },
    `${work}.dead`,
  );
  const back = [2, 3].map((attempt) => {
    const routingKey = `redeliver:${work}:attempt:${attempt}`;
    return bind(parent, `bench.wait.again/queue/${work}/${routingKey}`, {
      source: waits.again,
      destination: queue,
      routingKey,
    });
  });
  return { queue, bindings: [...waits.bindings, dead.binding, ...back] };
}

/**
 * The program that somebody would write by hand for the consumers of `bench/pulumi.ts`: a function for each policy and a
 * loop. Its resources have the same names, inputs and options as those of RetryTopology.
 */
export function withLoop(names: readonly string[]): () => void {
  return () => {
    // The same type and name as the component's, so that both programs register the same URNs.
    const parent = new pulumi.ComponentResource("redeliver:index:RetryTopology", "bench");
    const orders = addExchange(parent, "bench.orders", "topic");
    const waits = addSharedWaits(parent);
    for (const [index, name] of names.entries()) {
      const work = `bench.${name}`;
      const { queue, bindings } =
        index % 3 === 0
          ? addStaged(parent, work)
          : index % 3 === 1
            ? addNative(parent, work)
            : addWaiting(parent, work, waits);
      for (const routingKey of [`${name}.placed`, `${name}.cancelled`]) {
        bind(parent, `bench.orders/queue/${work}/${routingKey}`, {
          source: orders,
          destination: queue,
          routingKey,
          dependsOn: bindings,
        });
      }
    }
  };
}
