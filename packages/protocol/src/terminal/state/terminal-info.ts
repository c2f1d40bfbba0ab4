import { type Static, Type } from 'typebox';
import { URI } from '../../common/uri.js';
import { TerminalClaim } from './terminal-claim.js';

export const TerminalInfo = Type.Object(
  { resource: URI, title: Type.String(), claim: TerminalClaim, exitCode: Type.Optional(Type.Number()) },
  { $id: 'TerminalInfo', description: 'A terminal in the catalogue.' },
);
export type TerminalInfo = Static<typeof TerminalInfo>;
