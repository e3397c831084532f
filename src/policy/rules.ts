import { brokers } from "../brokers/index.ts";
import type { ChangeRule } from "./change.ts";
import { type DeclarationRule, declarationRules } from "./declaration-rules.ts";
import type { BrokerRule } from "./rule.ts";
import { stackRules } from "./stack-rules.ts";

export type Rule = DeclarationRule | ChangeRule | BrokerRule;

export const rules: readonly Rule[] = Object.freeze([
  ...Object.values(declarationRules),
  ...Object.values(stackRules),
  ...Object.values(brokers).flatMap((broker) => Object.values<BrokerRule>(broker.rules)),
]);
