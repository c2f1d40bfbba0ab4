import { type Static, Type } from 'typebox';
import { URI } from '../../common/uri.js';
import { TerminalClaim } from './terminal-claim.js';
import { TerminalContentPart } from './terminal-content-part.js';

export const TerminalState = Type.Object(
  {
    title: Type.String(),
    cwd: Type.Optional(URI),
    cols: Type.Optional(Type.Number()),
    rows: Type.Optional(Type.Number()),
    content: Type.Array(TerminalContentPart),
    exitCode: Type.Optional(Type.Number()),
    claim: TerminalClaim,
    supportsCommandDetection: Type.Optional(
      Type.Boolean({ description: 'Whether commands can be told apart in the output.' }),
    ),
  },
  { $id: 'TerminalState', description: 'A terminal: its size, its owner, its output.' },
);
export type TerminalState = Static<typeof TerminalState>;
