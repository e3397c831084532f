const light = `
  --paper: #f6f7f9; --card: #ffffff; --sunken: #f3f5f8; --line: #dde2e9; --ink: #1c2733; --soft: #56657a; --link: #1f5f9f;
  --source: #64748b; --source-fill: #eef2f6; --work: #2f6fb3; --work-fill: #e3eefb; --tier: #9a6a0c; --tier-fill: #fdf3dc;
  --dead: #b3443a; --dead-fill: #fbe6e4; --instance: #2f855a; --instance-fill: #e4f3ec;
  --broker: #1f6f4a; --broker-fill: #e1f2e9; --consumer: #855a08; --consumer-fill: #fbf0d5; --nobody: #a33329; --nobody-fill: #fbe4e1;`;

const dark = `
  --paper: #12161c; --card: #1a2029; --sunken: #141a22; --line: #2d3643; --ink: #dde4ec; --soft: #94a3b6; --link: #82b6ee;
  --source: #94a3b8; --source-fill: #252e3a; --work: #6aa6e6; --work-fill: #1b3048; --tier: #d7a648; --tier-fill: #382c14;
  --dead: #e58a80; --dead-fill: #3c2120; --instance: #6cc197; --instance-fill: #173328;
  --broker: #86d0aa; --broker-fill: #173528; --consumer: #e2b762; --consumer-fill: #382c14; --nobody: #f0988e; --nobody-fill: #412220;`;

const page = `
* { box-sizing: border-box; }
html { color-scheme: light dark; scroll-behavior: smooth; scroll-padding-top: 1rem; -webkit-text-size-adjust: 100%; }
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; overflow-wrap: break-word; }
a { color: var(--link); text-decoration: none; }
a:hover { text-decoration: underline; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
h1, h2, h3, h4, h5 { line-height: 1.25; margin: 0; }
h1 { font-size: 1.9rem; letter-spacing: -0.01em; }
h4, .warnings h3 { font-size: 0.78rem; font-weight: 600; letter-spacing: 0.06em; text-transform: uppercase; color: var(--soft); margin-bottom: 0.6rem; }
h5 { font-size: 0.85rem; font-weight: 600; color: var(--soft); margin: 0.9rem 0 0.4rem; }
summary { cursor: pointer; }
summary > :is(h3, h4) { display: inline; }
p { margin: 0 0 0.5rem; }
code { font: 0.88em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; background: var(--sunken); border: 1px solid var(--line); border-radius: 4px; padding: 0.05em 0.35em; overflow-wrap: anywhere; }
dl, dd, dt { margin: 0; }
.page { display: grid; grid-template-columns: 13rem minmax(0, 1fr); gap: 2.5rem; max-width: 84rem; margin: 0 auto; padding: 0 2rem; }
nav { position: sticky; top: 0; align-self: start; max-height: 100vh; overflow-y: auto; padding: 2.4rem 0; font-size: 0.9rem; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav ul ul { margin: 0.25rem 0 1.1rem; border-left: 1px solid var(--line); }
nav ul ul a { display: block; padding: 0.14rem 0 0.14rem 0.8rem; color: var(--soft); }
.filter { display: flex; flex-wrap: wrap; gap: 0.5rem 0.9rem; margin-bottom: 1.1rem; color: var(--soft); }
.filter select { max-width: 100%; font: inherit; color: var(--ink); background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: 0.1rem 0.3rem; }
@supports not selector(:has(*)) { .filter { display: none; } }
nav .home { display: block; font-weight: 700; color: var(--ink); margin-bottom: 1.1rem; }
nav .target { font-weight: 600; }
main { padding: 2.2rem 0 4rem; min-width: 0; }
.lead { max-width: 46rem; color: var(--soft); margin: 0.5rem 0 1.4rem; }
h2.target { font-size: 1.45rem; margin: 3.2rem 0 0.9rem; padding-top: 1.4rem; border-top: 2px solid var(--line); }
.note { color: var(--soft); font-size: 0.87rem; margin: 0.4rem 0 0; max-width: 52rem; }
`;

const tables = `
table { width: 100%; border-collapse: collapse; font-size: 0.92rem; }
caption { text-align: left; color: var(--soft); font-size: 0.87rem; padding-bottom: 0.5rem; }
th, td { text-align: left; vertical-align: top; padding: 0.5rem 0.9rem 0.5rem 0; border-bottom: 1px solid var(--line); }
tbody tr:last-child > * { border-bottom: 0; }
thead th { font-size: 0.78rem; font-weight: 600; color: var(--soft); padding-top: 0; white-space: nowrap; }
tbody th { font-weight: 600; white-space: nowrap; }
.overview { background: var(--card); border: 1px solid var(--line); border-radius: 10px; border-spacing: 0; border-collapse: separate; }
.overview th, .overview td { padding: 0.7rem 0.8rem; }
.overview tbody th { white-space: normal; }
.promises th, .promises td { padding-top: 0.38rem; padding-bottom: 0.38rem; }
.contract td:nth-child(2) { width: 56%; }
.contract ol { margin: 0; padding-left: 1.3rem; }
.contract p { margin: 0; }
.contract details + details { margin-top: 0.3rem; }
.contract summary { cursor: pointer; color: var(--soft); }
.contract details details { margin-left: 1.1rem; }
.contract details ol, .contract details p { margin: 0.3rem 0 0.6rem; }
.operation { font-weight: 600; }
.flag { display: inline-block; color: var(--soft); font-size: 0.86rem; margin-left: 0.35rem; overflow-wrap: anywhere; }
.flag:not(:last-child)::after { content: " ·"; }
.keeper, .strategy, .warned { display: inline-block; border-radius: 999px; padding: 0.02rem 0.6rem; font-size: 0.82rem; font-weight: 600; white-space: nowrap; }
.keeper.broker { color: var(--broker); background: var(--broker-fill); }
.keeper.consumer { color: var(--consumer); background: var(--consumer-fill); }
.keeper.nobody { color: var(--nobody); background: var(--nobody-fill); }
.strategy { color: var(--link); background: var(--work-fill); }
.warned { color: var(--tier); border: 1px solid var(--tier); padding: 0 0.5rem; }
.tally { display: flex; flex-wrap: wrap; gap: 0.25rem; margin-top: 0.35rem; }
.tally > * { font-size: 0.75rem; font-weight: 500; }
`;

const cards = `
.card { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 1.5rem 1.7rem 1.7rem; margin: 1.4rem 0 0; scroll-margin-top: 1rem; }
.card + h3 { margin-top: 2.2rem; }
.card > details > summary { margin-left: -0.3rem; }
.card h3 { font-size: 1.3rem; margin-right: 0.5rem; }
.body { scroll-margin-top: 5rem; }
.elsewhere { font-size: 0.87rem; color: var(--soft); margin: 0.3rem 0 0; }
.elsewhere a { margin-left: 0.5rem; }
.card section { margin-top: 1.6rem; }
.card section summary { margin-bottom: 0.6rem; }
.facts { display: flex; flex-wrap: wrap; gap: 0.7rem 2rem; margin-bottom: 0.8rem; }
.facts dt, .passed-over dt { font-size: 0.8rem; color: var(--soft); }
.facts dd { font-weight: 600; font-variant-numeric: tabular-nums; }
.facts .wide { flex-basis: 100%; }
.facts .wide dd { font-weight: 400; }
.passed-over dt { font-weight: 600; color: var(--ink); }
.passed-over dd { color: var(--soft); font-size: 0.9rem; margin-bottom: 0.6rem; }
.warnings { border-left: 3px solid var(--tier); background: var(--tier-fill); border-radius: 0 8px 8px 0; padding: 0.8rem 1.1rem; }
.warnings h3 { color: var(--tier); margin-bottom: 0.3rem; }
.warnings a { text-decoration: underline; }
.warnings ul { list-style: none; margin: 0; padding: 0; }
.warnings li + li { margin-top: 0.7rem; }
.warnings p { margin: 0.2rem 0 0; font-size: 0.9rem; }
.warnings code { background: none; border: 0; padding: 0; color: var(--soft); }
.scroll { overflow-x: auto; }
.graph, .strip { container-type: inline-size; }
.hint { display: none; color: var(--soft); font-size: 0.87rem; margin: 0.4rem 0 0; }
@container (max-width: 599px) { .strip .hint { display: block; } }
@container (max-width: 607px) { .wide .hint { display: block; } }
@container (max-width: 319px) { .medium .hint { display: block; } }
.whole { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 0.9rem 1.7rem; margin-top: 1.2rem; }
.whole summary { cursor: pointer; font-weight: 600; }
`;

const drawings = `
.graph, .strip { margin: 0; }
.graph svg { display: block; max-width: 100%; height: auto; margin: 0 auto; }
.wide svg { min-width: 608px; }
.medium svg { min-width: 320px; }
.graph text { white-space: pre; font-family: Arial, Helvetica, "Liberation Sans", sans-serif; }
.graph .graph > polygon { fill: none; }
.graph .cluster path { fill: var(--sunken); stroke: var(--line); }
.graph .cluster text { fill: var(--soft); }
.graph .node text { fill: var(--ink); }
${["source", "work", "tier", "dead", "instance"]
  .map(
    (kind) =>
      `.graph .node.${kind} :is(path, polygon, polyline) { fill: var(--${kind}-fill); stroke: var(--${kind}); }`,
  )
  .join("\n")}
${[
  ["publish", "source"],
  ["retry", "tier"],
  ["due", "work"],
  ["dead", "dead"],
]
  .map(
    ([edge, colour]) =>
      `.graph .edge.${edge} :is(path, polygon) { stroke: var(--${colour}); } .graph .edge.${edge} :is(polygon, text) { fill: var(--${colour}); } .key .${edge} { --key: var(--${colour}); }`,
  )
  .join("\n")}
.key { list-style: none; display: flex; flex-wrap: wrap; gap: 0.2rem 1.2rem; margin: 0.6rem 0 0; padding: 0; font-size: 0.82rem; color: var(--soft); }
.key li::before { content: ""; display: inline-block; width: 1.5rem; border-top: 2px solid var(--key); vertical-align: 0.28em; margin-right: 0.45rem; }
.key .retry::before { border-top-style: dashed; }
.timeline { display: block; min-width: 600px; font: 12px system-ui, -apple-system, "Segoe UI", Roboto, Arial, sans-serif; font-variant-numeric: tabular-nums; }
.timeline text { text-anchor: middle; fill: var(--soft); }
.timeline .axis { stroke: var(--work); stroke-width: 2; }
.timeline .axis.after { stroke: var(--dead); stroke-width: 1.5; stroke-dasharray: 2 5; }
.timeline .jitter { fill: var(--tier); opacity: 0.24; }
.timeline .mark { fill: var(--work); }
.timeline .number { fill: var(--card); font-weight: 700; }
.timeline .due { fill: var(--ink); font-weight: 600; }
.timeline .dead { fill: var(--dead); }
.timeline .cross { stroke: var(--card); stroke-width: 2.2; stroke-linecap: round; }
`;

const narrow = `
@media (max-width: 70rem) {
  .page { display: block; padding: 0 1.2rem; }
  nav { position: static; max-height: 40vh; padding: 1.2rem 0 0; }
  nav .home { margin-bottom: 0.5rem; }
  nav > ul > li { display: flex; flex-wrap: wrap; gap: 0 0.9rem; }
  nav ul ul { display: contents; }
  nav ul ul a { padding: 0.1rem 0; }
  main { padding-top: 1.2rem; }
}
@media (max-width: 44rem) {
  .card { padding: 1.1rem 1rem 1.2rem; }
  .whole { padding: 0.8rem 1rem; }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  table, caption, tbody, tr, th, td { display: block; }
  tr { padding: 0.6rem 0; border-bottom: 1px solid var(--line); }
  tbody tr:last-child { border-bottom: 0; }
  th, td, .overview th, .overview td { border: 0; padding: 0.1rem 0; white-space: normal; }
  .overview { padding: 0.7rem 1rem 0; }
  .overview td { display: grid; grid-template-columns: 9.5rem minmax(0, 1fr); gap: 0 0.6rem; }
  .overview td::before { content: attr(data-label); color: var(--soft); font-size: 0.85rem; grid-row: span 2; }
  .overview td > .strategy { justify-self: start; }
  .contract td:nth-child(2) { width: auto; }
  .promises tr { display: grid; grid-template-columns: auto 1fr; gap: 0 0.7rem; }
  .promises td:last-child { grid-column: 1 / -1; }
  .contract td:last-child { color: var(--soft); }
}
@page { margin: 14mm; }
@media print {
  :root {${light} --paper: #ffffff; }
  body { font-size: 10.5pt; }
  .page { display: block; max-width: none; padding: 0; }
  nav, .elsewhere, .hint { display: none; }
  .card { border: 0; border-top: 1px solid var(--line); border-radius: 0; padding: 1rem 0 0; }
  .graph svg, .timeline { min-width: 0; }
  h2, h3, h4, h5, thead { break-after: avoid; }
  tr, figure, .warnings, .timeline, .facts { break-inside: avoid; }
  details::details-content { content-visibility: visible; block-size: auto; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
`;

/** The style sheet of the report: two sets of colours, and the looks of the page's parts in either. */
export const htmlStyle: string = `
:root {${light} }
@media (prefers-color-scheme: dark) { :root {${dark} } }
${page}${tables}${cards}${drawings}${narrow}`;
