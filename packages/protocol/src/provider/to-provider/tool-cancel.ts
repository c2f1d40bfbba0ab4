import { type Static, Type } from 'typebox';

export const ProviderToolCancelMessage = Type.Object(
  {
    type: Type.Literal('tool.cancel'),
    id: Type.String({ description: 'The call to stop.' }),
    sessionId: Type.String(),
    reason: Type.String({ description: 'For people and logs, such as `timeout` or `interrupted`.' }),
  },
  { $id: 'ProviderToolCancelMessage', description: 'Stop this call and answer it with the code CANCELLED.' },
);
export type ProviderToolCancelMessage = Static<typeof ProviderToolCancelMessage>;
