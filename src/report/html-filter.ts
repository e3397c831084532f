import { type Markup, markup, nothing, trusted } from "./markup.ts";
import type { TargetReport } from "./target-report.ts";

/** Marks an element of some of all consumers, so that the filter hides it while another one is chosen. */
export function ofConsumers(all: readonly string[], own: readonly string[]): Markup {
  return markup` data-of="${own.map((each) => `c${all.indexOf(each)}`).join(" ")}"`;
}

export function onTarget(target: number): Markup {
  return markup` data-on="t${target}"`;
}

/** Every consumer of a page, in the order of its targets. */
export function consumersOf(reports: readonly TargetReport[]): readonly string[] {
  return [...new Set(reports.flatMap(({ plan }) => plan.consumers.map(({ consumer }) => consumer)))];
}

/** Two lists to choose a consumer and a target. The style sheet alone hides the others, because a page runs no script. */
export function renderFilter(reports: readonly TargetReport[]): Markup {
  const lists = [
    { name: "consumer", mark: "data-of", values: consumersOf(reports).map((text, index) => [`c${index}`, text]) },
    { name: "target", mark: "data-on", values: reports.map(({ target }, index) => [`t${index}`, target]) },
  ].filter(({ values }) => values.length > 1);
  if (lists.length === 0) return nothing;
  const rules = lists.flatMap(({ mark, values }) =>
    values.map(
      ([value]) => `:root:has([value="${value}"]:checked) [${mark}]:not([${mark}~="${value}"]) { display: none; }`,
    ),
  );
  const labels = lists.map(({ name, values }) => {
    const options = values.map(([value = "", text = ""]) => markup`<option value="${value}">${text}</option>`);
    return markup`<label>${name} <select autocomplete="off"><option value="">all</option>${options}</select></label>`;
  });
  return markup`<style>${trusted(rules.join("\n"))}</style><form class="filter">${labels}</form>`;
}
