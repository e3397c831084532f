import { Document, isMap, isScalar, Scalar } from "yaml";

import type { DraftDeclaration } from "./declare-found.ts";
import { groupedByFact, type Unsaid } from "./found.ts";

/**
 * Writes a declaration as YAML. A comment before each value says where it was inferred from, and a comment at the end
 * has the facts that the declaration cannot say.
 */
export function writeYaml({ system, comments }: DraftDeclaration, unsaid: readonly Unsaid[]): string {
  const document = new Document(system);
  for (const { path, text } of comments) {
    const parent = document.getIn(path.slice(0, -1), true);
    if (!isMap(parent)) continue;
    const pair = parent.items.find(({ key }) => (isScalar(key) ? key.value : key) === path.at(-1));
    if (pair === undefined) continue;
    const key = isScalar(pair.key) ? pair.key : new Scalar(pair.key);
    key.commentBefore = wrapped(text);
    pair.key = key;
  }
  document.commentBefore = wrapped(
    "Inferred by redeliver adopt. Each comment names the resource and the argument behind a value.",
  );
  if (unsaid.length > 0) {
    const lines = groupedByFact(unsaid).map(({ place, fact }) => wrapped(`- ${place}: ${fact}`, "  "));
    document.comment = [" This declaration cannot say:", ...lines].join("\n");
  }
  return document.toString({ lineWidth: 120 });
}

const width = 110;

/** Lines of a comment. A name may contain a line break, which would end the comment. */
function wrapped(text: string, indent = ""): string {
  const lines = [""];
  for (const word of JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').split(" ")) {
    const line = lines.at(-1) ?? "";
    if (line !== "" && line.length + word.length > width) lines.push(`${indent}${word}`);
    else lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
  }
  return lines.map((line) => ` ${line}`).join("\n");
}
