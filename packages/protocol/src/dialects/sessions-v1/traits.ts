/** The sessions-process protocol, version 1: what its wire can carry. */
import type { DialectTraits } from '../dialect-0.3.js';

/** The wire's own version number: a whole number, of which there was only ever one. */
export const WIRE_VERSION = 1;

export const SESSIONS_V1 = {
  version: '1',
  notifiesEveryone: true,
  answersQuestions: false,
  sendsStoredJson: false,
  needsStates: true,
  waitsForEchoes: true,
} as const satisfies DialectTraits;
