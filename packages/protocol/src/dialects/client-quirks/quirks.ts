/** How clients that people use deviate from the protocol: one file per client, and this list of them. */

import type { ModelView } from '../dialect.js';
import type { Call, Params } from '../dialect-0.3.js';
import { agentHostProtocolUi } from './agent-host-protocol-ui.js';
import type { Spelling } from './names.js';
import { vscode } from './vscode.js';

export interface ClientQuirks {
  /** The spelling that a client uses from the beginning, if its `initialize` shows that it is this client. */
  spelling?(initialize: Params): Spelling | undefined;
  /**
   * The request that the client means. Called for other clients, too, so it must decide by the form of the request
   * alone.
   */
  meant?(call: Call, view: ModelView): Call;
  /** Why an action of this form is refused, in words that help more than naming the first wrong member. */
  refusal?(action: Params): string | undefined;
}

export const CLIENT_QUIRKS: readonly ClientQuirks[] = [vscode, agentHostProtocolUi];
