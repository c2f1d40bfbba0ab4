import { type Static, Type } from 'typebox';
import { ProviderJsonObject } from '../parts/json-object.js';

export const ProviderGateCheckMessage = Type.Object(
  {
    type: Type.Literal('gate.check'),
    gateId: Type.String(),
    callId: Type.String({ description: 'Comes back with the answer.' }),
    sessionId: Type.String(),
    tool: Type.String(),
    args: ProviderJsonObject,
  },
  { $id: 'ProviderGateCheckMessage', description: 'A call waits at a gate; answer with `gate.result`.' },
);
export type ProviderGateCheckMessage = Static<typeof ProviderGateCheckMessage>;
