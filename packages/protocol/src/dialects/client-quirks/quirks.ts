/** What clients that people run do beside the letter of the protocol: one file for each client, and this list of them. */

import type { ModelView } from '../dialect.js';
import type { Call, Params } from '../dialect-0.3.js';
import { agentHostProtocolUi } from './agent-host-protocol-ui.js';
import type { Spelling } from './names.js';
import { vscode } from './vscode.js';

export interface ClientQuirks {
  /** How the client spells from the beginning, when its `initialize` shows that it is this client. */
  spelling?(initialize: Params): Spelling | undefined;
  /** The request that the client means. Also asked for other clients, so it goes by the shape of the request alone. */
  meant?(call: Call, view: ModelView): Call;
  /** Why an action of this shape cannot be taken, in words that help more than the first member that is wrong. */
  refusal?(action: Params): string | undefined;
}

export const CLIENT_QUIRKS: readonly ClientQuirks[] = [vscode, agentHostProtocolUi];
