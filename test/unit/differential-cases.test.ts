import { expect, test } from "vitest";

import { semanticsVersions, versionRules } from "../../src/brokers/rabbitmq/prove/semantics.ts";
import { coverageOf, courseOf } from "../differential/coverage.ts";
import { regressions } from "../differential/regressions.ts";
import { casesOf } from "../differential/run-batch.ts";

test.for(semanticsVersions.filter((version) => versionRules[version].testedLive))(
  "of the random cases on %s, some depend on each death header, on a forged one and on a chain of tiers",
  (version) => {
    const coverage = coverageOf(casesOf(1, 2_000, version), version);
    expect(Object.entries(coverage).filter(([, cases]) => cases < 3)).toEqual([]);
  },
);

// The live tests run these cases on three versions. The other versions follow their source.
test.for([
  ["with an empty x-death a publisher keeps its own first death on 3.10", ["3.10", "3.12", "3.13.3"]],
  ["with an x-death that is no list, too", ["3.10", "3.12"]],
] as const)("%s: so do %s", ([title, believing]) => {
  const found = regressions.find(({ name }) => name === title) ?? expect.unreachable();
  const keepsForged = semanticsVersions.filter((version) => {
    const place = courseOf(found.differentialCase, version).at(-1)?.[0]?.place;
    return place?.kind === "queue" && place.queue === "@q2";
  });
  expect(keepsForged).toEqual(believing);
});
