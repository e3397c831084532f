/**
 * Exit codes for the shell. `fine`; `refused`: the declaration; `usage`: wrong usage, or the output has no reader;
 * `internal`: a mistake in Redeliver; `incomplete`: a part could not be looked at.
 */
export const exitCodes = Object.freeze({ fine: 0, refused: 1, usage: 2, internal: 3, incomplete: 4 });
