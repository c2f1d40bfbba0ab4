import { type Static, Type } from 'typebox';
import { Choice } from '../../schema/define.js';

const lifecycleMembers = { type: Type.Literal('session.lifecycle'), sessionId: Type.String() };

export const ProviderSessionLifecycleMessage = Type.Union(
  [
    Type.Object({ ...lifecycleMembers, state: Choice(['started', 'idle'], { description: 'Where the session is.' }) }),
    Type.Object({
      ...lifecycleMembers,
      state: Type.Literal('shutdown.pending'),
      deadline: Type.Integer({
        minimum: 0,
        description: 'Milliseconds left to clean up and send `shutdown.ready`: a duration, not a point in time.',
      }),
    }),
  ],
  {
    $id: 'ProviderSessionLifecycleMessage',
    description: 'A bound session is ready, has nothing left to do, or is about to end.',
  },
);
export type ProviderSessionLifecycleMessage = Static<typeof ProviderSessionLifecycleMessage>;
