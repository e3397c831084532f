import type { ConsumeMessage, Options } from "amqplib";

/**
 * The ends of messages of these consumers, in the order of their handling. The first one handled was delivered last.
 */
export const endings091 = ["success", "transient", "permanent", "return"] as const;
export type Ending091 = (typeof endings091)[number];

/** The steps of a consumer for a message, in order. */
export type Step =
  | { readonly do: "copy"; readonly copy: Copy }
  | { readonly do: "confirm" }
  | {
      readonly do: "settle";
      readonly by: "ack" | "nack" | "reject";
      readonly requeue: boolean;
      readonly multiple: boolean;
    };

export interface Copy {
  readonly exchange: string;
  readonly routingKey: string;
  readonly body: Buffer;
  readonly options: Options.Publish;
}

export interface Mistake {
  readonly of: Ending091;
  /** The wrong steps in place of the right ones; null if this mistake is impossible there. */
  readonly steps: (right: readonly Step[], message: ConsumeMessage) => readonly Step[] | null;
  /** Done before the handler of the message has ended. */
  readonly isTooSoon?: boolean;
  /** The words of the check about it. */
  readonly caught: RegExp;
}

const keyHeader = "redeliver-original-routing-key";
export const settle = (by: "ack" | "nack" | "reject", requeue = false, multiple = false): Step => ({
  do: "settle",
  by,
  requeue,
  multiple,
});
const instead =
  (...steps: readonly Step[]): Mistake["steps"] =>
  (right) =>
    JSON.stringify(right) === JSON.stringify(steps) ? null : steps;
const isCopied = (steps: readonly Step[]): boolean => steps.some((step) => step.do === "copy");
const only =
  (change: (right: readonly Step[]) => readonly Step[]): Mistake["steps"] =>
  (right) =>
    isCopied(right) ? change(right) : null;
const withCopy = (change: (copy: Copy, message: ConsumeMessage) => Partial<Copy>): Mistake["steps"] => {
  return (right, message) =>
    isCopied(right)
      ? right.map((step) =>
          step.do === "copy" ? { do: "copy", copy: { ...step.copy, ...change(step.copy, message) } } : step,
        )
      : null;
};
const withOptions = (change: (options: Options.Publish) => Options.Publish): Mistake["steps"] =>
  withCopy(({ options }) => ({ options: { ...options, ...change(options) } }));

/** Mistakes with a copy. A person makes them with the copy of a failure and the copy of a dead letter alike. */
const copying: Readonly<Record<string, Omit<Mistake, "of">>> = {
  "is not copied": {
    steps: only((right) => right.slice(-1)),
    caught: /: basic.ack instead of basic.publish, then basic.ack$/,
  },
  "is acknowledged before it is copied": {
    steps: only((right) => right.toReversed()),
    // amqplib sends the frames of several channels in an order of its own.
    caught:
      /: basic.ack(, then basic.publish instead of basic.publish, then basic.ack| before the broker has confirmed the copy)$/,
  },
  "is acknowledged before its copy is confirmed": {
    steps: only((right) => right.filter((step) => step.do !== "confirm")),
    caught: /: basic.ack before the broker has confirmed the copy$/,
  },
  "is copied twice": {
    steps: only((right) => [...right.slice(0, 1), ...right]),
    caught: /: basic.publish, then basic.publish, then basic.ack instead of/,
  },
  "is copied and left": {
    steps: only((right) => right.slice(0, -1)),
    caught: /: basic.publish instead of basic.publish, then/,
  },
  "is copied and put back": {
    steps: only((right) => [...right.slice(0, -1), settle("nack", true)]),
    caught: /: basic.publish, then basic.nack with requeue=true instead of/,
  },
  "is copied to another exchange": {
    steps: withCopy(() => ({ exchange: "shop.orders" })),
    caught: /: the copy goes to the exchange "shop.orders" instead of/,
  },
  "is copied with the key that it came with": {
    steps: withCopy((_, { fields }) => ({ routingKey: fields.routingKey })),
    caught: /: its routing key is order.placed instead of/,
  },
  "is copied without mandatory": { steps: withOptions(() => ({ mandatory: false })), caught: /: mandatory is false$/ },
  "has an expiration on its copy that it should not": {
    steps: withOptions(({ expiration }) => ({ expiration: String(Number(expiration ?? 0) + 600_000) })),
    caught: /: its expiration is \d+ instead of/,
  },
  "has no id on its copy": {
    steps: withOptions(() => ({ messageId: undefined as never })),
    caught: /: the copy has no message id$/,
  },
  "has another id on its copy": {
    steps: withOptions(() => ({ messageId: "another" })),
    caught: /: its messageId is another$/,
  },
  "has another body in its copy": {
    steps: withCopy(({ body }) => ({ body: Buffer.from(`{"wrapped":${body.toString()}}`) })),
    caught: /: its body is \{"wrapped":/,
  },
  "has none of its headers on its copy": {
    steps: withOptions(() => ({ headers: {} })),
    caught: /: its header tenant is undefined instead of a$/,
  },
  "has its CC on its copy": {
    steps: withOptions(() => ({ CC: ["order.copied"] })),
    caught: /: its header CC is order.copied instead of undefined$/,
  },
  "has a copy that a restart of the broker loses": {
    steps: withOptions(() => ({ deliveryMode: 1 })),
    caught: /: its deliveryMode is 1$/,
  },
  "has no content type on its copy": {
    steps: withOptions(() => ({ contentType: undefined as never })),
    caught: /: its contentType is undefined$/,
  },
};

const ofEnding = (of: Ending091, mistakes: Readonly<Record<string, Omit<Mistake, "of">>>): Record<string, Mistake> =>
  Object.fromEntries(Object.entries(mistakes).map(([name, mistake]) => [`a ${of} that ${name}`, { ...mistake, of }]));

const settling = (caught: string): RegExp => new RegExp(`: ${caught} instead of `);

/** The mistakes of a person who writes a consumer by hand, by their names. */
export const mistakes091: Readonly<Record<string, Mistake>> = {
  ...ofEnding("transient", copying),
  ...ofEnding("permanent", copying),
  ...ofEnding("permanent", {
    "has no reason on its dead letter": {
      steps: withOptions(({ headers }) => ({ headers: { ...headers, "dlq-failure-reason": undefined } })),
      caught: /: its header dlq-failure-reason is undefined instead of PERMANENT_FAILURE$/,
    },
    "has another queue on its dead letter": {
      steps: withOptions(({ headers }) => ({ headers: { ...headers, "dlq-original-queue": "shop.shipping" } })),
      caught: /: its header dlq-original-queue is shop.shipping instead of shop.billing$/,
    },
    "has another attempt on its dead letter": {
      steps: withOptions(({ headers }) => ({ headers: { ...headers, "dlq-retry-count": "7" } })),
      caught: /: its header dlq-retry-count is 7$/,
    },
    "is acknowledged": { steps: instead(settle("ack")), caught: settling("basic.ack") },
    "is put back by basic.reject": {
      steps: instead(settle("reject", true)),
      caught: settling("basic.reject with requeue=true"),
    },
    "is put back by basic.nack": {
      steps: instead(settle("nack", true)),
      caught: settling("basic.nack with requeue=true"),
    },
    "is left": { steps: () => [], caught: settling("nothing") },
  }),
  ...ofEnding("transient", {
    "loses the key that it was published with": {
      steps: (right) => {
        const isKept = right.some((step) => step.do === "copy" && keyHeader in (step.copy.options.headers as object));
        return isKept
          ? withOptions(({ headers }) => ({ headers: { ...headers, [keyHeader]: undefined } }))(
              right,
              undefined as never,
            )
          : null;
      },
      caught: /: its header redeliver-original-routing-key is undefined instead of order.placed$/,
    },
    "is acknowledged": { steps: instead(settle("ack")), caught: settling("basic.ack") },
    "is put back by basic.nack": {
      steps: instead(settle("nack", true)),
      caught: settling("basic.nack with requeue=true"),
    },
    "is put back by basic.reject": {
      steps: instead(settle("reject", true)),
      caught: settling("basic.reject with requeue=true"),
    },
    "is rejected for ever": {
      steps: instead(settle("reject", false)),
      caught: settling("basic.reject with requeue=false"),
    },
    "is nacked for ever": { steps: instead(settle("nack", false)), caught: settling("basic.nack with requeue=false") },
    "is left": { steps: () => [], caught: settling("nothing") },
  }),
  ...ofEnding("success", {
    "is acknowledged before it is done": {
      steps: (right) => right,
      isTooSoon: true,
      caught: /: basic.ack before its handler has ended$/,
    },
    "is left": { steps: () => [], caught: settling("nothing") },
    "is acknowledged together with older deliveries": {
      steps: () => [settle("ack", false, true)],
      caught: /^return .*: basic.ack.* instead of basic.nack with requeue=true$/,
    },
    "is nacked": { steps: instead(settle("nack")), caught: settling("basic.nack with requeue=false") },
    "is put back": { steps: instead(settle("reject", true)), caught: settling("basic.reject with requeue=true") },
    "is copied to the dead queue": {
      steps: (right, message) => [copyOf({ exchange: "shop.dead", routingKey: "shop.billing" }, message), ...right],
      caught: /: basic.publish, then basic.ack instead of basic.ack$/,
    },
    "is acknowledged twice": {
      steps: (right) => [...right, ...right],
      caught: /: basic.ack, then basic.ack instead of basic.ack$/,
    },
  }),
  ...ofEnding("return", {
    "is acknowledged": { steps: instead(settle("ack")), caught: settling("basic.ack") },
    "costs an attempt": { steps: instead(settle("reject", true)), caught: settling("basic.reject with requeue=true") },
    "is dead": { steps: instead(settle("nack")), caught: settling("basic.nack with requeue=false") },
  }),
};

function copyOf(to: { readonly exchange: string; readonly routingKey: string }, message: ConsumeMessage): Step {
  return { do: "copy", copy: { ...to, body: message.content, options: { messageId: "copy", mandatory: true } } };
}
