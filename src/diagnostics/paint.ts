import { styleText } from "node:util";

/** Colours a text, or returns it as it is. */
export type Paint = (format: Look | readonly Look[], text: string) => string;

type Look = "bold" | "cyan" | "dim" | "green" | "red" | "yellow";

/** Chooses the colours: those of a terminal, the caller's own, or none. */
export function paintFor(colour: boolean | Paint | undefined): Paint {
  if (typeof colour === "function") return colour;
  return colour === true ? inColour : (_, text) => text;
}

export const inColour: Paint = (format, text) => styleText([format].flat(), text, { validateStream: false });
