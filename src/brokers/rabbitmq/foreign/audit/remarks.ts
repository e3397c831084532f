import { type Diagnostic, diagnostic } from "../../../../diagnostics/diagnostic.ts";
import { type FindingIn, nameSome, nameText, say } from "../../../../foreign/finding.ts";
import { placeOf } from "../deployment.ts";
import type { IgnoredSetting, SemanticsVersion } from "../../prove/semantics.ts";

/** The sentences about a policy or an exchange. Each is reported by itself. */
interface RemarkSentences {
  readonly about: "policies" | "exchanges";
  readonly value: string | readonly string[] | undefined;
  readonly message: (subject: string) => string;
  readonly notes: (subject: string) => readonly string[];
  readonly help: string;
}

export type WhyIgnored = Exclude<IgnoredSetting["why"], "overridden">;

interface Queues {
  readonly queues: readonly string[];
}

interface Overlap extends Queues {
  readonly winner: string;
  /** The priority of the policy that does not apply, and of the one that applies. */
  readonly priorities: readonly [number, number];
}

interface Lost {
  readonly lost: readonly string[];
  readonly lostOfWinner: readonly string[];
}

const table = {
  RD418: ({ queues }: Queues): RemarkSentences => ({
    about: "policies",
    value: oneOrAll(queues),
    message: (policy) => `the policy ${policy} asks for at-least-once dead-lettering, but the broker does not apply it`,
    notes: () => [
      `these queues: ${nameSome(queues)}`,
      "it applies only with overflow reject-publish and a dead-letter exchange; without them the broker can lose a dead letter",
    ],
    help: "set overflow to reject-publish and a dead-letter exchange in the same policy",
  }),
  RD422: ({ winner, priorities: [own, other], queues }: Overlap, { lost, lostOfWinner }: Lost): RemarkSentences => ({
    about: "policies",
    value: oneOrAll(queues),
    message: (policy) =>
      own === other
        ? `the policies ${nameText(winner)} and ${policy} have the same priority ${other} and match the same queues: RabbitMQ does not define which one applies`
        : `the policy ${policy} has no effect where ${nameText(winner)} applies with priority ${other} over its ${own}`,
    notes: (policy) => {
      const isTie = own === other;
      const both = [
        ...lostText(lost, policy, isTie),
        ...(isTie ? lostText(lostOfWinner, nameText(winner), isTie) : []),
      ];
      return [`policies are not merged: ${both.join(", and ")} to ${nameSome(queues)}`];
    },
    help: "give the queues one policy with all settings, and anchor patterns with ^ and $",
  }),
  RD423: (
    facts: Queues & ({ readonly queueKind: string } | { readonly key: string }),
    evidence:
      | { readonly lost: readonly string[]; readonly canNameQueueType: boolean }
      | { readonly value: unknown; readonly why: WhyIgnored; readonly version: SemanticsVersion },
  ): RemarkSentences => {
    const { queues } = facts;
    const common = { about: "policies", value: oneOrAll(queues) } as const;
    if ("queueKind" in facts && "lost" in evidence) {
      const { queueKind } = facts;
      return {
        ...common,
        message: (policy) => `the policy ${policy} has no effect on ${queueKind} queues`,
        notes: () => [
          `it has a key that ${queueKind} queues do not know, and RabbitMQ ignores such a policy as a whole: ${evidence.lost.join(", ")} not in force for ${nameSome(queues)}`,
        ],
        help: evidence.canNameQueueType
          ? `make a separate policy for each type of queue, with apply-to ${queueKind === "stream" ? "streams" : `${queueKind}_queues`}`
          : "make a separate policy for each type of queue, with a pattern that only those queues match: this version has no apply-to for one type",
      };
    }
    const { key, value, why, version } = { ...facts, ...evidence } as { key: string } & Extract<
      typeof evidence,
      { why: WhyIgnored }
    >;
    return {
      ...common,
      message: (policy) => `the policy ${policy} has the key ${key} without effect`,
      notes: () => [
        `${key} is ${JSON.stringify(value)}; ${whyIgnored[why]} (by the rules of ${version} and later); these queues: ${nameSome(queues)}`,
      ],
      help: "correct the value, add the setting that it needs, or remove the key from the policy",
    };
  },
  RD427: ({ pattern }: { readonly pattern: string }): RemarkSentences => ({
    about: "policies",
    value: pattern,
    message: (policy) => `the pattern of the policy ${policy} cannot be read`,
    notes: () => [
      "the audit treats it as matching nothing, though the broker may read it: a finding about its queues may be wrong or missing",
    ],
    help: "use syntax that most dialects share: ^ $ . * + ? | () [] and a backslash before a literal character",
  }),
  RD435: (
    facts:
      | { readonly mirroring: readonly string[]; readonly others: readonly string[] }
      | { readonly delayed: readonly string[] },
  ): RemarkSentences =>
    "delayed" in facts
      ? {
          about: "exchanges",
          value: facts.delayed,
          message: () =>
            "exchanges of the type x-delayed-message are refused: the plugin does not exist for this version",
          notes: () => [
            `these exchanges: ${nameSome(facts.delayed)}`,
            "the plugin keeps its messages in Mnesia, which 4.3 no longer has; messages that wait in it at the upgrade are lost",
          ],
          help: "let messages wait in queues with a time to live, or use the delayed retry of quorum queues",
        }
      : {
          about: "policies",
          value: facts.mirroring,
          message: (policy) => `the policy ${policy} is refused: this version no longer mirrors classic queues`,
          notes: () => [
            `the broker does not know ${facts.mirroring.join(", ")}, and refuses the policy as a whole, also when definitions are imported`,
            ...(facts.others.length === 0 ? [] : [`its other settings are lost too: ${facts.others.join(", ")}`]),
          ],
          help: `take ${facts.mirroring.join(" and ")} out of the policy; quorum queues are replicated without it`,
        },
  RD437: ({ alternate }: { readonly alternate: string }): RemarkSentences => ({
    about: "exchanges",
    value: alternate,
    message: (exchange) =>
      `the exchange ${exchange} has the alternate exchange ${nameText(alternate)}, which does not exist`,
    notes: () => ["RabbitMQ drops a message without a route there"],
    help: `declare the exchange ${nameText(alternate)} and bind a queue to it`,
  }),
} as const;

/** A fault of a policy or an exchange. */
export type Remark = FindingIn<typeof table>;

export function remarkDiagnostic(virtualHost: string, remark: Remark): Diagnostic {
  const { about, value, message, notes, help } = say<RemarkSentences>(table, remark);
  const name = nameText(remark.subject);
  return diagnostic(remark.code, {
    path: placeOf(virtualHost, about, remark.subject),
    message: message(name),
    value,
    notes: notes(name),
    help,
  });
}

const whyIgnored: Readonly<Record<WhyIgnored, string>> = {
  "wrong-type": "the broker cannot use its value",
  "unknown-to-version": "this version does not know it",
  "not-for-queue-type": "queues of this type do not know it",
  "needs-another-setting": "it needs another setting that is missing",
};

function oneOrAll(queues: readonly string[]): string | readonly string[] | undefined {
  return queues.length === 1 ? queues[0] : queues;
}

function lostText(lost: readonly string[], policy: string, isTie: boolean): string[] {
  const verb = isTie ? "may not apply" : lost.length === 1 ? "does not apply" : "do not apply";
  return lost.length === 0 ? [] : [`${lost.join(", ")} of ${policy} ${verb}`];
}
