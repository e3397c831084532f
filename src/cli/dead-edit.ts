import { editLetters } from "../dead-letters/edit.ts";
import { type Editor, isSchema } from "../operate/edit.ts";
import { atDesk } from "./dead-journal.ts";
import { type TakingOptions, answerTaken, orderOf } from "./dead-take-out.ts";
import { exitCodes } from "./exit-codes.ts";
import { exportOf, importModule, tell } from "./load-declaration.ts";
import { print } from "./output.ts";
import { refuse, usage } from "./refuse.ts";

export interface EditOptions extends TakingOptions {
  readonly with: string;
  readonly backup?: string;
  readonly generations?: number;
}

const doing = "be edited and sent again";

/** Changes letters and sends them again, or shows the differences. */
export async function editCommand(file: string | undefined, options: EditOptions): Promise<number> {
  const { confirm, backup, generations, json, with: module } = options;
  if (confirm !== undefined && backup === undefined)
    return usage("name a file for the originals with --backup", options);
  const loaded = await importModule(module);
  if (!loaded.ok) return refuse(loaded.diagnostics, options, { file: module }, exitCodes.usage);
  const edit = exportOf(loaded.value);
  const { schema = null } = loaded.value;
  if (typeof edit !== "function") return usage(`${module} has no function as its default export`, options);
  if (schema !== null && !isSchema(schema)) return usage(`the schema of ${module} is no Standard Schema`, options);
  const editor = { edit: edit as Editor["edit"], schema };
  // The function may never return, and the thread that supervises the command names the letter then.
  const calling = (letter: string | null): void =>
    tell(letter === null ? { kind: "imported" } : { kind: "importing", file: module, letter });
  return atDesk(file, options, async (desk) => {
    const order = { ...orderOf(options), editor, backup, generations, calling };
    const edited = await editLetters(desk, order);
    if (edited.taken !== null) return answerTaken(options, edited, doing);
    const { plan, sample } = edited;
    if (json === true) return print({ ...plan, sample });
    const { renderTaking } = await import("../report/dead-taking.ts");
    const shown = sample.flatMap(({ id, differences }) => [id, ...differences.map((line) => `  ${line}`)]);
    return print([...shown, renderTaking(plan, doing)].join("\n"));
  });
}
