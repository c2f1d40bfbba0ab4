import { type Static, Type } from 'typebox';

export const ProviderSessionReadyMessage = Type.Object(
  { type: Type.Literal('session.ready'), sessionId: Type.String() },
  {
    $id: 'ProviderSessionReadyMessage',
    description: 'A provider bound to all sessions is ready to be registered in this new one.',
  },
);
export type ProviderSessionReadyMessage = Static<typeof ProviderSessionReadyMessage>;
