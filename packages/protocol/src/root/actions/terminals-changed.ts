import { type Static, Type } from 'typebox';
import { TerminalInfo } from '../../terminal/state/terminal-info.js';

export const RootTerminalsChangedAction = Type.Object(
  { type: Type.Literal('root/terminalsChanged'), terminals: Type.Array(TerminalInfo) },
  { $id: 'RootTerminalsChangedAction', description: 'The terminal catalogue changed; carries the full list.' },
);
export type RootTerminalsChangedAction = Static<typeof RootTerminalsChangedAction>;
