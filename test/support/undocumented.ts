import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import ts from "typescript";

const root = join(import.meta.dirname, "../..");

/** The entries of the package, as files of the source. */
function entries(): string[] {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    readonly exports: Readonly<Record<string, string | { readonly types: string }>>;
  };
  return Object.values(exports).flatMap((entry) =>
    typeof entry === "string" ? [] : [join(root, entry.types.replace(/^\.\/dist\/(.*)\.d\.ts$/, "src/$1.ts"))],
  );
}

/** The properties without a docstring in the types that a user of the package can name, as `file: Type.property`. */
export function undocumented(): string[] {
  const { config } = ts.readConfigFile(join(root, "tsconfig.json"), (file) => readFileSync(file, "utf8")) as {
    readonly config: object;
  };
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: entries() }, ts.sys, root);
  const program = ts.createProgram(entries(), options);
  const checker = program.getTypeChecker();
  const found = new Set<string>();
  for (const entry of entries()) {
    const source = program.getSourceFile(entry);
    const module = source === undefined ? undefined : checker.getSymbolAtLocation(source);
    if (module === undefined) throw new Error(`${entry} has no exports`);
    for (const each of checker.getExportsOfModule(module)) {
      const symbol = (each.flags & ts.SymbolFlags.Alias) === 0 ? each : checker.getAliasedSymbol(each);
      for (const declaration of symbol.declarations ?? []) visit(declaration, symbol.name, found);
    }
  }
  return [...found].toSorted();
}

/** Adds each property below a declaration. Zod and other libraries write none of these themselves. */
function visit(node: ts.Node, owner: string, found: Set<string>): void {
  if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node) || ts.isTypeLiteralNode(node)) walk(node);
  function walk(parent: ts.Node): void {
    ts.forEachChild(parent, (child) => {
      if (ts.isPropertySignature(child) || ts.isMethodSignature(child)) {
        const name = child.name.getText();
        // A tag of a union says no more than its name.
        const isTag = ["kind", "type"].includes(name) && child.type !== undefined && ts.isLiteralTypeNode(child.type);
        if (!isTag && ts.getJSDocCommentsAndTags(child).length === 0)
          found.add(`${relative(root, child.getSourceFile().fileName)}: ${owner}.${name}`);
      }
      walk(child);
    });
  }
}
