import { type Beside, loss } from "../../drift.ts";
import type { RabbitmqCompiled } from "../compile/compile.ts";
import { type Difference, internal } from "../compile/differences.ts";
import { publicationsOf } from "../compile/publications.ts";

/** The effect of an exchange that became internal. The broker still dead-letters through it. */
export function refusalOf({ name, settings }: Difference, { topology, contracts }: RabbitmqCompiled): Beside {
  const isPublishedTo =
    topology.exchanges.some((each) => each.name === name && each.role === "source") ||
    contracts.some((each) => publicationsOf(each).some(({ exchange }) => exchange === name));
  return isPublishedTo && settings.some(({ key }) => key === internal)
    ? loss(`the broker refuses messages that programs publish to ${name}`)
    : null;
}
