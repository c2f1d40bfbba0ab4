import { type Static, Type } from 'typebox';
import { SessionInputAnswered } from './session-input-answered.js';
import { SessionInputSkipped } from './session-input-skipped.js';

export const SessionInputAnswer = Type.Union([SessionInputAnswered, SessionInputSkipped], {
  $id: 'SessionInputAnswer',
  description: 'What a person made of a question.',
});
export type SessionInputAnswer = Static<typeof SessionInputAnswer>;
