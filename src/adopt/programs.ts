/** The templates of the programs for an adopted system on one broker. */
export interface ProgramTemplates {
  /** The folder with `Pulumi.yaml`, `index.mjs` and `consumer.mjs`. Their declaration is `shop.yaml`. */
  readonly folder: string;
  /** The place of the system on the broker, which is `/` in `index.mjs`. */
  readonly place: string;
  /** The target as data, without the settings that the draft found. */
  readonly target: object;
}

/**
 * The files around an adopted declaration: its target, Pulumi's two, and a program for each consumer.
 *
 * @param read returns the text of a template
 */
export function programsOf(
  { folder, place, target }: ProgramTemplates,
  system: { readonly name: string; readonly consumers: object },
  { declaration, isImported, options }: ProgramSettings,
  read: (file: string) => string,
): Readonly<Record<string, string>> {
  const template = (file: string, values: Readonly<Record<string, string>>): string =>
    Object.entries(values).reduce(
      (text, [word, value]) => text.replaceAll(`"${word}"`, () => JSON.stringify(value)),
      read(`${folder}/${file}`).replaceAll(`"shop.yaml"`, () => JSON.stringify(declaration)),
    );
  const index = template("index.mjs", { shop: system.name, "/": place });
  const files: Record<string, string> = {
    "target.json": `${JSON.stringify({ ...target, ...options }, null, 2)}\n`,
    "Pulumi.yaml": read(`${folder}/Pulumi.yaml`).replace("name: shop", () => `name: ${JSON.stringify(system.name)}`),
    "index.mjs": isImported ? index.replace(" });", ", imported: true });") : index,
  };
  for (const consumer of Object.keys(system.consumers)) {
    const stem = consumer.replaceAll(/[^\w.-]+/g, "-");
    let name = stem;
    for (let next = 2; Object.hasOwn(files, `consumers/${name}.mjs`); next++) name = `${stem}-${next}`;
    files[`consumers/${name}.mjs`] = template("consumer.mjs", { billing: consumer });
  }
  return files;
}

interface ProgramSettings {
  /** The name of its file, in the same folder. */
  readonly declaration: string;
  /** True if an import takes the resources over before the first deployment. */
  readonly isImported: boolean;
  /** The settings of the target that the draft needs. */
  readonly options: object;
}
