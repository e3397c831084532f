import { brokerOf } from "../src/brokers/index.ts";
import { renderDiagnostics } from "../src/index.ts";
import { renderSvg } from "../src/report/svg.ts";
import { type Priced, constantDelay, onServiceBus, onSqs, systemOf } from "./costs-page.ts";

/** A picture of each strategy, with one consumer. */
export const pictures = [...constantDelay, ...onSqs, ...onServiceBus].map((priced) => ({
  file: `docs/pictures/${priced.target.strategy}.svg`,
  text: async (): Promise<string> => pictureOf(priced),
}));

async function pictureOf(priced: Priced): Promise<string> {
  const { planned, wanted } = systemOf(priced, ["billing"]);
  const { compile, graphOf } = brokerOf(wanted);
  const compiled = compile(planned, wanted);
  if (!compiled.ok) throw new Error(renderDiagnostics(compiled.diagnostics));
  return `${(await renderSvg(graphOf(compiled.value))).trimEnd()}\n`;
}
