import { styleText } from "node:util";

/** Colours a text, or returns it as it is. */
export type Paint = (format: Parameters<typeof styleText>[0], text: string) => string;

/** Chooses the colours: those of a terminal, the caller's own, or none. */
export function paintFor(colour: boolean | Paint | undefined): Paint {
  if (typeof colour === "function") return colour;
  return colour === true ? inColour : (_, text) => text;
}

export const inColour: Paint = (format, text) => styleText(format, text, { validateStream: false });
