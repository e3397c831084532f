/**
 * Exit codes for the shell. `fine`; `refused`: the declaration; `usage`: wrong usage, or the output has no reader;
 * `incomplete`: a part was not looked at or not done; `internal`: a mistake in Redeliver.
 */
export const exitCodes = Object.freeze({ fine: 0, refused: 1, usage: 2, incomplete: 3, internal: 4 });
