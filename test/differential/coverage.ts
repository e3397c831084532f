import { type MessageState, semanticsOf, type SemanticsVersion } from "../../src/brokers/rabbitmq/prove/semantics.ts";
import { actionable, circumstancesOf, only, predict, settle } from "./predict.ts";
import { deathHeaderNames, type DifferentialCase } from "./topologies.ts";

/**
 * Counts the cases that can show a wrong rule. A case counts for a header only if its course depends on the value that
 * a binding asks for.
 */
export function coverageOf(cases: readonly DifferentialCase[], version: SemanticsVersion) {
  const headers = deathHeaderNames.flatMap((name) => [`asks for ${name}`, `asks for a forged ${name}`]);
  const counts = new Map(["expires in three queues", ...headers].map((feature) => [feature, 0]));
  const note = (feature: string): unknown => counts.set(feature, (counts.get(feature) ?? 0) + 1);
  for (const each of cases) {
    const course = courseOf(each, version);
    const published = each.publication.headers ?? {};
    const expiries = course.flat().map(({ deaths }) => deaths.filter(({ reason }) => reason === "expired").length);
    if (published["x-death"] === undefined && Math.max(0, ...expiries) >= 3) note("expires in three queues");
    const asked = new Set(each.topology.bindings.flatMap((binding) => Object.keys(binding.arguments)));
    for (const name of deathHeaderNames.filter((header) => asked.has(header))) {
      const others = [undefined, "another"].map((value) => courseOf(asking(each, name, value), version));
      if (others.every((other) => placesIn(other) === placesIn(course))) continue;
      note(`asks for ${name}`);
      if (published[name] !== undefined) note(`asks for a forged ${name}`);
    }
  }
  return Object.fromEntries(counts);
}

type Course = readonly (readonly MessageState[])[];

/** The copies after the publication and after each action, without those whose course cannot be compared. */
export function courseOf({ topology, publication, actions }: DifferentialCase, version: SemanticsVersion): Course {
  const semantics = semanticsOf(topology, version);
  const course: (readonly MessageState[])[] = [];
  let next = settle(semantics, only(semantics.publish(publication, circumstancesOf(semantics))));
  for (const action of [...actions, undefined]) {
    if (next === null) break;
    course.push(next.copies);
    const candidates = actionable(next.copies);
    const copy = candidates[(action?.pick ?? 0) % candidates.length];
    if (action === undefined || copy === undefined) break;
    next = predict(semantics, next.copies, copy, action);
  }
  return course;
}

function placesIn(course: Course): string {
  return JSON.stringify(course.map((copies) => copies.map(({ place }) => place)));
}

/** The case with another value in place of the one that its bindings ask for, or with none. */
function asking(each: DifferentialCase, name: string, value: string | undefined): DifferentialCase {
  const bindings = each.topology.bindings.map((binding) => {
    const { [name]: asked, ...others } = binding.arguments;
    return {
      ...binding,
      arguments: asked === undefined || value === undefined ? others : { ...others, [name]: value },
    };
  });
  return { ...each, topology: { ...each.topology, bindings } };
}
