/** AHP 0.3.0, the tagged 0.2.0 plus `systemMessageTransform`: what its wire can carry. */
import type { DialectTraits } from '../dialect-0.3.js';

export const AHP_0_3 = {
  version: '0.3.0',
  notifiesEveryone: false,
  answersQuestions: true,
  sendsStoredJson: true,
  needsStates: false,
  waitsForEchoes: false,
} as const satisfies DialectTraits;
