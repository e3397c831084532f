/**
 * The exports of `sqs-emulators.mjs` that tests use. That file is plain JavaScript, because it runs before anything is
 * installed.
 */
export const elasticMqVersion: string;
export const motoVersion: string;
export const elasticMqFolder: string;
export const motoPython: string;
