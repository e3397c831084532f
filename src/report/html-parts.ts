import { type Part, partsOf, renderCard } from "./html-consumer.ts";
import { consumersOf, ofConsumers } from "./html-filter.ts";
import { type Markup, markup, trusted } from "./markup.ts";
import type { Anchors, TargetReport } from "./target-report.ts";

/**
 * The cards of all consumers on a target, and then the parts that several of them have alike.
 *
 * @param isBrief true if the page would be too large with all parts
 */
export async function renderConsumers(
  reports: readonly TargetReport[],
  target: number,
  anchors: Anchors,
  isBrief: boolean,
): Promise<Markup> {
  const report = reports[target];
  const own = report?.plan.consumers.map((plan) => partsOf(report, plan)) ?? [];
  // A page of many cards has a part once if several consumers have it alike, and no picture of a single one.
  const isShared = isBrief || reports.flatMap(({ plan }) => plan.consumers).length > 60;
  const groups = Map.groupBy(isShared ? own.flat() : [], ({ key }) => key);
  const alike = [...groups.values()].filter(({ length }) => length > 1);
  const idOf = (group: Part[]): string => `${anchors.target(target)}--alike-${alike.indexOf(group) + 1}`;
  const titleOf = (group: Part[]): string => `${group[0]?.title} of ${group.length} consumers`;
  const contentOf = async (part: Part, isAlone: boolean): Promise<Markup> => {
    const isWhole = !isShared || !isAlone || part.draw === undefined;
    if (isWhole && !isBrief) return part.draw?.() ?? part.content;
    const file = { Topology: "graph.svg", Contract: "compiled.json" }[String(part.title)];
    // Each picture has its text for screen readers.
    if (file === undefined) return trusted(part.content.markup.replaceAll(figures, "<p>$1</p>"));
    const link = markup`<p>All of it is in <a href="${report?.target.replace("@", "-") ?? ""}/${file}">${file}</a>.</p>`;
    return isBrief ? link : markup`${part.content}${link}`;
  };
  const rendered: Markup[] = [];
  for (const parts of own) {
    const consumer = parts[0]?.consumer ?? "";
    const sections: Markup[] = [];
    for (const part of parts) {
      const id = `${anchors.consumer(target, consumer)}--${part.title.toLowerCase()}`;
      const group = groups.get(part.key) ?? [part];
      const link = markup`<p><a href="#${idOf(group)}">${titleOf(group)}</a>: only names differ.</p>`;
      sections.push(renderSection(id, part.title, group.length > 1 ? link : await contentOf(part, true)));
    }
    rendered.push(renderCard(reports, target, consumer, anchors, sections));
  }
  if (alike.length > 0) rendered.push(markup`<h3>Alike for several consumers</h3>`);
  for (const group of alike) {
    const consumers = group.map(({ consumer }) => consumer);
    const note = markup`<p class="note">The names are those of ${consumers[0] ?? ""}.</p>`;
    const content = markup`${note}${await contentOf(group[0] as Part, false)}`;
    const section = renderSection(idOf(group), titleOf(group), content);
    rendered.push(markup`<article class="card"${ofConsumers(consumersOf(reports), consumers)}>${section}</article>`);
  }
  return markup`${rendered}`;
}

const figures = /<figure.*?<svg [^>]*?aria-label="([^"]*)".*?<\/figure>/gs;

function renderSection(id: string, title: string, content: Markup): Markup {
  return markup`<section id="${id}"><details open><summary><h4>${title}</h4></summary>${content}</details></section>
`;
}
