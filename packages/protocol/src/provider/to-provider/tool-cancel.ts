import { type Static, Type } from 'typebox';

export const ProviderToolCancelMessage = Type.Object(
  {
    type: Type.Literal('tool.cancel'),
    id: Type.String(),
    sessionId: Type.String(),
    /** For people and logs, such as `timeout` or `interrupted`. */
    reason: Type.String(),
  },
  { $id: 'ProviderToolCancelMessage', description: 'Stop this call and answer it with the code CANCELLED.' },
);
export type ProviderToolCancelMessage = Static<typeof ProviderToolCancelMessage>;
