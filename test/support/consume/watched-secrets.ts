import { inspect } from "node:util";

import { type ExpectStatic } from "vitest";

import { type CourseRun, routingKeyOfCourse, secret, type Watched } from "./watched-course.ts";
import { isWritten } from "./watched-traces.ts";

/** Also properties that JSON leaves out. */
const shown = (value: unknown): string => inspect(value, { depth: null, showHidden: true, getters: true });

/**
 * No part of a body is in the log, a span or a metric, except for the words of a handler's error in the log. After
 * redaction no part is beside the body of a dead letter either.
 */
export function expectNothingOfBodies(expect: ExpectStatic, watched: Watched): void {
  const { events, spans, letters, redacted, thrown } = watched;
  expect(shown([...thrown]), "what an error hides would be seen").toContain(secret);
  const log = events.map((event) => ("error" in event && thrown.has(event.error) ? { ...event, error: null } : event));
  expect(shown(log)).not.toContain(secret);
  for (const { name, attributes, events: ofSpan, status, links } of spans)
    expect(shown([name, attributes, ofSpan, status, links])).not.toContain(secret);
  for (const { texts } of letters) expect(shown(texts)).not.toContain(secret);
  for (const value of redacted)
    if (value.includes(secret)) expect(value).toMatch(/eve@example.com is unknown|cannot find eve@example.com/);
}

/** If the consumer writes the reason of a death, redaction has changed it. */
export function expectRedacted(expect: ExpectStatic, { contract, letters }: Watched): void {
  const said = JSON.stringify(letters.find(({ name }) => name === "dies")?.texts);
  if (isWritten(contract, "permanent", 1)) expect(said).toContain("cannot find (customer)");
  else expect(said).not.toContain("cannot find");
}

/** The producer's headers, without those of the broker, the contract, or our attempts. */
function published({ name, headers }: CourseRun): Readonly<Record<string, unknown>> {
  const isOurs = (header: string): boolean =>
    /^(x-|redeliver-|DeadLetter)/.test(header) || (header === "traceparent" && name.endsWith("-alone"));
  return Object.fromEntries(Object.entries(headers).filter(([header]) => !isOurs(header)));
}

/** After any retries a handler sees its message as it was published. */
export function expectSameMessage(expect: ExpectStatic, { runs }: Watched): void {
  for (const run of runs) {
    const first = runs.find(({ name }) => name === run.name);
    expect([run.name, run.routingKey, run.id]).toEqual([run.name, routingKeyOfCourse, first?.id]);
    expect([run.name, published(run)]).toEqual([run.name, first === undefined ? {} : published(first)]);
    expect(run.id).toEqual(expect.stringMatching(/./));
  }
}
