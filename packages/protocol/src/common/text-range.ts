import { type Static, Type } from 'typebox';
import { TextPosition } from './text-position.js';

export const TextRange = Type.Object(
  { start: TextPosition, end: TextPosition },
  { $id: 'TextRange', description: 'A span of text; the end is exclusive.' },
);
export type TextRange = Static<typeof TextRange>;
