import { type Static, Type } from 'typebox';
import { URI } from '../../common/uri.js';

export const TerminalCwdChangedAction = Type.Object(
  { type: Type.Literal('terminal/cwdChanged'), cwd: URI },
  { $id: 'TerminalCwdChangedAction', description: 'The shell is in another folder.' },
);
export type TerminalCwdChangedAction = Static<typeof TerminalCwdChangedAction>;
