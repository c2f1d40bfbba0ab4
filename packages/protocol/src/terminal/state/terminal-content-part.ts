import { type Static, Type } from 'typebox';
import { TerminalCommandPart } from './terminal-command-part.js';
import { TerminalUnclassifiedPart } from './terminal-unclassified-part.js';

export const TerminalContentPart = Type.Union([TerminalUnclassifiedPart, TerminalCommandPart], {
  $id: 'TerminalContentPart',
  description: 'A piece of what a terminal shows.',
});
export type TerminalContentPart = Static<typeof TerminalContentPart>;
