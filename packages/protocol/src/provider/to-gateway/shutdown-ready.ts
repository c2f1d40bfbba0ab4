import { type Static, Type } from 'typebox';

export const ProviderShutdownReadyMessage = Type.Object(
  { type: Type.Literal('shutdown.ready'), sessionId: Type.String() },
  { $id: 'ProviderShutdownReadyMessage', description: 'The provider has cleaned up; the session may be torn down.' },
);
export type ProviderShutdownReadyMessage = Static<typeof ProviderShutdownReadyMessage>;
