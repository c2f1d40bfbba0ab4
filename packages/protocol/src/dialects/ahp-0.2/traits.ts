/** AHP 0.2.0: what its wire can carry. */
import type { DialectTraits } from '../dialect-0.3.js';

export const AHP_0_2 = {
  version: '0.2.0',
  notifiesEveryone: false,
  answersQuestions: true,
  sendsStoredJson: true,
  needsStates: false,
  waitsForEchoes: false,
} as const satisfies DialectTraits;
