/**
 * agent-host-protocol-ui confirms tool calls with `confirmed: true` or `false`, and names neither the turn nor the
 * decision [UP-202]. The host must not guess who decided what, so it refuses, and says what is missing. The client also
 * leaves out what the host can fill in, the `duration` of a stopped turn and the `id` of a waiting message; the host
 * does that for every client.
 *
 * Remove it when the client sends `turnId` and `approved`.
 */
import type { ClientQuirks } from './quirks.js';

export const agentHostProtocolUi: ClientQuirks = {
  refusal: ({ type, confirmed, approved }) =>
    type === 'chat/toolCallConfirmed' && typeof confirmed === 'boolean' && approved === undefined
      ? 'chat/toolCallConfirmed needs turnId, and approved: true or false; confirmed says how that was decided, as in "user-action"'
      : undefined,
};
