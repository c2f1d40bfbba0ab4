/** What the four updates of a registration have in common: how they are answered, and where they apply. */
import { Type } from 'typebox';

export const updateMembers = {
  requestId: Type.Optional(
    Type.String({
      description:
        'Echoed in `ack` or `error`. Providers should send it; without one the answer cannot be told apart from others.',
    }),
  ),
  sessionId: Type.Optional(Type.String({ description: 'Every bound session when absent.' })),
};
