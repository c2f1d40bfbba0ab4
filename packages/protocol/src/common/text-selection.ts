import { type Static, Type } from 'typebox';
import { TextRange } from './text-range.js';

export const TextSelection = Type.Object(
  { range: TextRange },
  { $id: 'TextSelection', description: 'What a person has selected in a text resource.' },
);
export type TextSelection = Static<typeof TextSelection>;
