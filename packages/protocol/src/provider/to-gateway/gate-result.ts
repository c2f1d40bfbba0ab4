import { type Static, Type } from 'typebox';

export const ProviderGateResultMessage = Type.Object(
  {
    type: Type.Literal('gate.result'),
    gateId: Type.String(),
    callId: Type.String(),
    /** A `ProviderGateDecision`. Anything else still answers the gate, as a deny: read it with `gateDecisionOf`. */
    decision: Type.Optional(Type.Unknown()),
    reason: Type.Optional(Type.String()),
  },
  { $id: 'ProviderGateResultMessage', description: 'Whether a held tool call may run.' },
);
export type ProviderGateResultMessage = Static<typeof ProviderGateResultMessage>;
