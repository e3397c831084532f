import type { System } from "../../../src/index.ts";
import { checked } from "../examples.ts";
import type { Deployment } from "./registered.ts";

/** What a person does, one update after the other, and how each of them ends. */
export interface ChangeCase {
  readonly name: string;
  readonly before: Deployment;
  readonly steps: readonly ChangeStep[];
}

export interface ChangeStep {
  /** Null for `destroy`. */
  readonly to: Deployment | null;
  readonly skipPreview?: boolean;
  /** Whether `pulumi state unprotect --all` comes before it. */
  readonly unprotect?: boolean;
  /** Part of what is said where it is refused; null where it goes through. */
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
 * Every change that a person is known to have lost messages by, and its way back.
 *
 * @param version the broker's own
 * @param delay how long each attempt waits
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
  const staged: Deployment = { component: "shop", vhost, system: systemOf(), version, strategy: "staged" };
  const waits: Deployment = { ...staged, strategy: "waits" };
  const changed = (lines: Lines): Deployment => ({ ...staged, system: systemOf(lines) });
  const { billing: _, ...others } = staged.system.consumers;
  const removed: Deployment = { ...staged, system: checked({ ...staged.system, consumers: others }) };
  const older = version === "4.3" ? "4.0" : "3.10";
  const back: ChangeStep = { to: staged, refused: null };
  const skipped = { skipPreview: true } as const;
  const allowed = { unprotect: true, ...skipped } as const;
  const twice = (name: string, to: Deployment | null): readonly ChangeCase[] => [
    { name: `${name}, without a preview`, before: staged, steps: [{ to, ...skipped, refused: protection }] },
    {
      name: `${name}, unprotected`,
      before: staged,
      steps: [
        { to, ...allowed, refused: null },
        { to: staged, ...allowed, refused: null },
      ],
    },
  ];
  return [
    {
      name: "another strategy, as people were told to do it",
      before: staged,
      // Up to 3.12 the work queue is the same under both, so there nothing stands in the way.
      steps:
        version === "3.10"
          ? [
              { to: waits, ...allowed, refused: null },
              { to: staged, ...allowed, refused: null },
            ]
          : [{ to: waits, unprotect: true, refused: inPlace }, { to: waits, ...allowed, refused: inPlace }, back],
    },
    ...(version === "4.3"
      ? [
          {
            name: "another way of counting attempts",
            before: { ...staged, strategy: "native" as const },
            steps: [
              { to: waits, ...allowed, refused: inPlace },
              { to: { ...staged, strategy: "native" as const }, refused: null },
            ],
          },
        ]
      : []),
    ...(version === "3.10"
      ? []
      : [
          {
            name: `from the target ${older}`,
            before: { ...staged, version: older },
            // From 4.0 on waiting queues have one argument more; between 4.0 and 4.3 nothing differs.
            steps: [{ to: staged, ...allowed, refused: older === "3.10" ? inPlace : null }],
          },
        ]),
    ...twice("a consumer removed", removed),
    ...twice("a consumer renamed", changed({ consumer: "invoices" })),
    ...twice("the system renamed", changed({ name: "store" })),
    ...twice("the component renamed", { ...staged, component: "renamed" }),
    ...twice("another virtual host", { ...staged, vhost: otherVhost }),
    ...twice("destroy", null),
    {
      name: "a source of another kind",
      before: staged,
      steps: [{ to: changed({ kind: "direct" }), ...allowed, refused: inPlace }, back],
    },
    {
      name: "a source renamed",
      before: staged,
      steps: [{ to: changed({ source: "sales" }), ...allowed, refused: inUse }, back],
    },
    {
      name: "fewer attempts, and more again",
      before: staged,
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
      before: staged,
      // Up to 3.12 only what is left over is protected.
      steps: [
        { to: changed({ attempts: 1 }), ...skipped, refused: version === "3.10" ? protection : inPlace },
        version === "3.10" ? { to: changed({ attempts: 1 }), ...allowed, refused: null } : back,
      ],
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
