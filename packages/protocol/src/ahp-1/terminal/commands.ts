/** Commands that create and end terminals. */
import { type Static, Type } from 'typebox';
import {
  CreateTerminalParams as CreateParams,
  CreateTerminalResult,
  DisposeTerminalParams as DisposeParams,
  DisposeTerminalResult,
} from '../../terminal/commands.js';
import { withRequestMeta } from '../common/types.js';
import { TerminalClaim } from './state.js';

export { CreateTerminalResult, DisposeTerminalResult };

export const CreateTerminalParams = withRequestMeta(
  Type.Object(
    { ...CreateParams.properties, claim: TerminalClaim },
    { $id: 'CreateTerminalParams', description: 'Creates a terminal under a URI that the client chose.' },
  ),
);
export type CreateTerminalParams = Static<typeof CreateTerminalParams>;

export const DisposeTerminalParams = withRequestMeta(DisposeParams);
export type DisposeTerminalParams = Static<typeof DisposeTerminalParams>;
