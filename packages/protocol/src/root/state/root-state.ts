import { type Static, Type } from 'typebox';
import { RootConfigState } from '../../common/config-state.js';
import { TerminalInfo } from '../../terminal/state/terminal-info.js';
import { AgentInfo } from './agent-info.js';

export const RootState = Type.Object(
  {
    agents: Type.Array(AgentInfo),
    activeSessions: Type.Optional(Type.Number({ description: 'How many sessions are not disposed.' })),
    terminals: Type.Optional(Type.Array(TerminalInfo)),
    config: Type.Optional(RootConfigState),
  },
  { $id: 'RootState', description: 'What every client may know without opening a session.' },
);
export type RootState = Static<typeof RootState>;
