import { isEntry } from "../../../foreign/entries.ts";
import { type Named, type Settings, readFilter, ruleKey, settingsOf, wordsOf } from "../compile/differences.ts";
import { type Field, entityFields } from "../compile/fields.ts";
import { subjectsIn } from "../compile/filter.ts";
import { readIsoDuration } from "../compile/iso-duration.ts";
import { type SubscriptionRule, subscriptionPath } from "../compile/topology.ts";
import type { NamedResource } from "./deployment.ts";

/** An entity of a namespace for a comparison. */
export interface FoundEntity extends Named {
  /** Set for an entity that leads into a queue of this consumer. */
  readonly consumer?: string | null;
  readonly settings: Settings;
  readonly rules: readonly SubscriptionRule[];
  /** The settings that a template writes as an expression, or leaves out without a known default. */
  readonly hidden: ReadonlySet<string>;
  readonly unread: readonly string[];
  readonly fixed: { readonly autoDeleteOnIdleMs: number | null; readonly status: unknown };
  /** True if a rule changes messages. */
  readonly hasAction: boolean;
  /** True if the input shows no rule of it. */
  readonly isAssumed: boolean;
}

export function entitiesIn(resources: readonly NamedResource[]): readonly FoundEntity[] {
  const rules = Map.groupBy(
    resources.filter(({ kind }) => kind === "rule"),
    ({ names: [topic = "", name = ""] }) => subscriptionPath({ topic, name }),
  );
  return resources.flatMap(({ kind, names, properties }): FoundEntity[] => {
    if (kind === "namespace" || kind === "rule") return [];
    const [first = "", second = ""] = names;
    const isSubscription = kind === "subscription";
    const [topic, name] = isSubscription ? [first, second] : ["", first];
    const own = isSubscription ? (rules.get(subscriptionPath({ topic, name })) ?? []) : [];
    const read = own.map((each) => ({ name: each.names[2] ?? "", filter: filterOf(each.properties) }));
    const filters = read.map((rule) => [ruleKey(rule.name), wordsOf(rule.filter)] as const);
    const hidden = hiddenIn(kind, properties);
    const autoDelete = properties["autoDeleteOnIdle"];
    return [
      {
        kind,
        name,
        topic,
        settings: { ...settingsOf(kind, properties), ...Object.fromEntries(filters) },
        rules: read.flatMap(bySubjects),
        hidden: new Set(hidden),
        unread: hidden.map((key) => `the setting ${key} of the ${kind} ${names.join("/")} cannot be read`),
        fixed: {
          autoDeleteOnIdleMs: typeof autoDelete === "string" ? (readIsoDuration(autoDelete)?.durationMs ?? null) : null,
          status: properties["status"] ?? "Active",
        },
        isAssumed: own.some((each) => each.isAssumed === true),
        hasAction: own.some(({ properties: { action } }) => isEntry(action) && action["sqlExpression"] !== undefined),
      },
    ];
  });
}

function hiddenIn(kind: Named["kind"], properties: Settings): readonly string[] {
  return entityFields[kind].flatMap(({ arm, own, unsaid }: Field) => {
    const value = properties[arm] ?? unsaid;
    const isHidden = value === undefined || (typeof value === "string" && value.startsWith("["));
    return own !== undefined && isHidden ? [own] : [];
  });
}

/** A rule in SQL that only lists subjects lets in the messages of one correlation filter for each. */
function bySubjects(rule: SubscriptionRule): readonly SubscriptionRule[] {
  const subjects = rule.filter.kind === "sql" ? subjectsIn(rule.filter.expression) : null;
  return (
    subjects?.map((subject): SubscriptionRule => ({ ...rule, filter: { kind: "correlation", subject } })) ?? [rule]
  );
}

/**
 * A rule without a filter lets in everything. A filter that is an expression lets in messages that nobody knows. ARM
 * calls the subject of a message its label.
 */
function filterOf({ filterType, sqlFilter, correlationFilter }: Settings): SubscriptionRule["filter"] {
  const unknown = [filterType, sqlFilter].find((each) => typeof each === "string" && each.startsWith("["));
  if (unknown !== undefined) return readFilter({ sqlExpression: unknown });
  if (filterType === "CorrelationFilter") {
    const { label: subject, properties, ...rest } = isEntry(correlationFilter) ? correlationFilter : {};
    return readFilter({ ...rest, subject, applicationProperties: properties });
  }
  const { sqlExpression = "1=1" } = isEntry(sqlFilter) ? sqlFilter : {};
  return readFilter({ sqlExpression });
}
