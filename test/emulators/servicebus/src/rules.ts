import { ManagementError } from "./description.ts";
import { limits } from "./limits.ts";
import { readSqlFilter, type RuleFilter } from "./redeliver.ts";
import type { Rule } from "./registry.ts";
import { childOf, type Element, escapeXml } from "./xml.ts";

export const everything: RuleFilter = { kind: "true" };

/**
 * The rule of a description. It refuses a filter that the semantics does not know, so that no test passes with a
 * wrongly read filter.
 *
 * @throws ManagementError
 */
export function ruleOf(description: Element): Rule {
  const action = childOf(description, "Action");
  if (action !== undefined && action.attributes["type"] !== "EmptyRuleAction") throw notEmulated("a rule's action");
  return { filter: filterOf(childOf(description, "Filter")), createdAt: new Date() };
}

function filterOf(filter: Element | undefined): RuleFilter {
  switch (filter?.attributes["type"]) {
    case undefined:
    case "TrueFilter":
      return everything;
    case "FalseFilter":
      return { kind: "false" };
    case "SqlFilter": {
      const expression = childOf(filter, "SqlExpression")?.text ?? "";
      if (expression.length > limits.filterLength.most)
        throw new ManagementError(400, `The filter is longer than ${limits.filterLength.most} characters.`);
      if (filter.children.some(({ name }) => name !== "SqlExpression")) throw notEmulated("a filter with parameters");
      if (readSqlFilter(expression) === null) throw notEmulated(`the filter ${expression}`);
      return { kind: "sql", expression };
    }
    case "CorrelationFilter": {
      const [label, ...others] = filter.children;
      if (label?.name !== "Label" || others.length > 0)
        throw notEmulated("a correlation with anything but the subject");
      return { kind: "correlation", subject: label.text };
    }
    default:
      throw notEmulated(`a ${filter?.attributes["type"]}`);
  }
}

function notEmulated(what: string): ManagementError {
  return new ManagementError(400, `The emulator does not know ${what}.`);
}

/** A rule in the form of the management API. */
export function ruleXml(name: string, { filter, createdAt }: Rule): string {
  const action = '<Action i:type="EmptyRuleAction"/>';
  const created = `<CreatedAt>${createdAt.toISOString()}</CreatedAt>`;
  return `${filterXml(filter)}${action}${created}<Name>${escapeXml(name)}</Name>`;
}

function filterXml(filter: RuleFilter): string {
  switch (filter.kind) {
    case "true":
      return '<Filter i:type="TrueFilter"><SqlExpression>1=1</SqlExpression></Filter>';
    case "false":
      return '<Filter i:type="FalseFilter"><SqlExpression>1=0</SqlExpression></Filter>';
    case "correlation":
      return `<Filter i:type="CorrelationFilter"><Label>${escapeXml(filter.subject)}</Label></Filter>`;
    case "sql":
      return `<Filter i:type="SqlFilter"><SqlExpression>${escapeXml(filter.expression)}</SqlExpression></Filter>`;
  }
}
