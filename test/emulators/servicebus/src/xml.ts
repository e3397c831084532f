/** An element with its content, and its name without the prefix. */
export interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly Element[];
  readonly text: string;
}

interface Open {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: Element[];
  text: string;
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/**
 * Reads the output of the SDK's own writer: elements, attributes, text and the predefined entities.
 *
 * @throws Error for anything else
 */
export function parseXml(xml: string): Element {
  const root: Open = { name: "", attributes: {}, children: [], text: "" };
  const open: Open[] = [root];
  const parts = xml.matchAll(/<\?[^>]*\?>|<(\/?)([\w:.-]+)((?:\s+[\w:.-]+="[^"]*")*)\s*(\/?)>|([^<]+)|(<)/g);
  for (const [part, end, name = "", attributes = "", isEmpty, text, stray] of parts) {
    const current = open.at(-1) ?? root;
    if (stray !== undefined) throw new Error(`this XML cannot be read here: ${xml}`);
    if (text !== undefined) current.text += unescapeXml(text);
    else if (end === "/") {
      const closed = open.pop();
      if (closed?.name !== local(name)) throw new Error(`<${closed?.name}> is closed by ${part}`);
      open.at(-1)?.children.push(closed);
    } else if (name !== "") {
      const element: Open = { name: local(name), attributes: attributesOf(attributes), children: [], text: "" };
      if (isEmpty === "/") current.children.push(element);
      else open.push(element);
    }
  }
  const [document] = root.children;
  if (document === undefined || open.length > 1) throw new Error(`this XML is not complete: ${xml}`);
  return document;
}

export function childOf(element: Element | undefined, name: string): Element | undefined {
  return element?.children.find((each) => each.name === name);
}

export function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

function unescapeXml(text: string): string {
  return text.replaceAll(/&(\w+);/g, (all, name: string) => entities[name] ?? all);
}

function attributesOf(text: string): Readonly<Record<string, string>> {
  const pairs = [...text.matchAll(/([\w:.-]+)="([^"]*)"/g)];
  return Object.fromEntries(pairs.map(([, name = "", value = ""]) => [local(name), unescapeXml(value)]));
}

function local(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}
