import { type Static, Type } from 'typebox';

export const ProviderGateResultMessage = Type.Object(
  {
    type: Type.Literal('gate.result'),
    gateId: Type.String(),
    callId: Type.String(),
    /** Read it with `gateDecisionOf`. */
    decision: Type.Optional(
      Type.Unknown({ description: '`allow`, `deny` or `context`. Anything else counts as `deny`.' }),
    ),
    reason: Type.Optional(Type.String({ description: 'Why it was denied, or the context for the model.' })),
  },
  { $id: 'ProviderGateResultMessage', description: 'Whether a held tool call may run.' },
);
export type ProviderGateResultMessage = Static<typeof ProviderGateResultMessage>;
