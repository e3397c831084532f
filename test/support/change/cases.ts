import type { System } from "../../../src/index.ts";
import { checked } from "../examples.ts";
import type { Deployment } from "./registered.ts";

/** The updates of a person, one after the other, and the end of each. */
export interface ChangeCase {
  readonly name: string;
  readonly before: Deployment;
  readonly steps: readonly ChangeStep[];
}

export interface ChangeStep {
  /** Null for `destroy`. */
  readonly to: Deployment | null;
  readonly skipPreview?: boolean;
  /** True if `pulumi state unprotect --all` comes before it. */
  readonly unprotect?: boolean;
  /** A part of the refusal; null if the update succeeds. */
  readonly refused: RegExp | null;
}

const protection = /protected|marked for protection/;
const inPlace = /cannot be changed in place/;
const inUse = /takes? from the source/;

interface Lines {
  readonly name?: string;
  readonly source?: string;
  readonly kind?: "topic" | "direct";
  readonly consumer?: string;
  readonly attempts?: number;
  readonly delay?: string;
  readonly keys?: readonly string[];
}

/**
 * Every change that is known to have lost messages, and its way back.
 *
 * @param version the broker's own
 * @param delay the delay before each attempt
 */
export function changeCases(version: string, vhost: string, otherVhost: string, delay: string): readonly ChangeCase[] {
  const systemOf = (lines: Lines = {}): System =>
    checked({
      name: lines.name ?? "shop",
      sources: { [lines.source ?? "orders"]: { kind: lines.kind ?? "topic" } },
      consumers: {
        [lines.consumer ?? "billing"]: {
          from: { [lines.source ?? "orders"]: lines.keys ?? ["order.placed", "order.cancelled"] },
          retry: { attempts: lines.attempts ?? 4, backoff: { kind: "constant", delay: lines.delay ?? delay } },
        },
        mail: {
          from: { [lines.source ?? "orders"]: ["order.placed"] },
          retry: { attempts: 3, backoff: { kind: "constant", delay } },
        },
      },
    });
  const hasStaged = version !== "3.10";
  const waits: Deployment = { component: "shop", vhost, system: systemOf(), version, strategy: "waits" };
  const usual: Deployment = hasStaged ? { ...waits, strategy: "staged" } : waits;
  const changed = (lines: Lines): Deployment => ({ ...usual, system: systemOf(lines) });
  const { billing, ...others } = usual.system.consumers;
  const withBilling = (more: object): Deployment => ({
    ...usual,
    system: checked({ ...usual.system, consumers: { ...others, ...more } }),
  });
  const removed = withBilling({});
  const older = version === "4.3" ? "4.0" : "3.10";
  const back: ChangeStep = { to: usual, refused: null };
  const skipped = { skipPreview: true } as const;
  const allowed = { unprotect: true, ...skipped } as const;
  const twice = (name: string, to: Deployment | null): readonly ChangeCase[] => [
    { name: `${name}, without a preview`, before: usual, steps: [{ to, ...skipped, refused: protection }] },
    {
      name: `${name}, unprotected`,
      before: usual,
      steps: [
        { to, ...allowed, refused: null },
        { to: usual, ...allowed, refused: null },
      ],
    },
  ];
  return [
    ...(hasStaged
      ? [
          {
            name: "another strategy, after the protection is removed",
            before: usual,
            steps: [
              { to: waits, unprotect: true, refused: inPlace },
              { to: waits, ...allowed, refused: inPlace },
              back,
            ],
          },
        ]
      : []),
    ...(version === "4.3"
      ? [
          {
            name: "another way of counting attempts",
            before: { ...usual, strategy: "native" as const },
            steps: [
              { to: waits, ...allowed, refused: inPlace },
              { to: { ...usual, strategy: "native" as const }, refused: null },
            ],
          },
        ]
      : []),
    ...(hasStaged
      ? [
          {
            name: `from the target ${older}`,
            before: { ...waits, version: older },
            // From 4.0 on, new waiting queues have one argument more. Between 4.0 and 4.3 they do not differ.
            steps: [
              { to: waits, ...allowed, refused: older === "3.10" ? inPlace : null },
              { to: { ...waits, since: older }, ...allowed, refused: null },
            ],
          },
        ]
      : []),
    ...twice("a consumer removed", removed),
    ...twice("a consumer renamed", changed({ consumer: "invoices" })),
    ...twice("the system renamed", changed({ name: "store" })),
    ...twice("the component renamed", { ...usual, component: "renamed" }),
    ...twice("another virtual host", { ...usual, vhost: otherVhost }),
    ...twice("destroy", null),
    {
      name: "a queue that a removed consumer left behind, for another one",
      before: usual,
      steps: [
        { to: removed, ...allowed, refused: null },
        {
          to: withBilling({ late: { ...billing, queue: "shop.billing" } }),
          ...allowed,
          refused: /belonged to billing/,
        },
        { to: usual, ...allowed, refused: null },
      ],
    },
    {
      name: "a source of another kind",
      before: usual,
      steps: [{ to: changed({ kind: "direct" }), ...allowed, refused: inPlace }, back],
    },
    {
      name: "a source renamed",
      before: usual,
      steps: [{ to: changed({ source: "sales" }), ...allowed, refused: inUse }, back],
    },
    {
      name: "fewer attempts, and more again",
      before: usual,
      steps: [{ to: changed({ attempts: 2 }), refused: null }, back, { to: changed({ attempts: 3 }), refused: null }],
    },
    {
      name: "other delays and keys",
      before: changed({ keys: ["order.placed"] }),
      steps: [
        { to: changed({ keys: ["order.placed", "order.late"], delay: "2s" }), refused: null },
        { to: changed({ keys: ["order.placed"], delay }), refused: null },
      ],
    },
    {
      name: "one attempt in place of several",
      before: usual,
      steps: [{ to: changed({ attempts: 1 }), refused: null }, back],
    },
    {
      name: "fewer attempts, other delays and keys, under waits",
      before: waits,
      steps: [
        { to: { ...waits, system: systemOf({ attempts: 2, delay: "1s", keys: ["order.placed"] }) }, refused: null },
      ],
    },
  ];
}
