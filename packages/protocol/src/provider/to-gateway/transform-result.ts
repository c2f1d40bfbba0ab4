import { type Static, Type } from 'typebox';

export const ProviderTransformResultMessage = Type.Object(
  {
    type: Type.Literal('transform.result'),
    callId: Type.String(),
    /** Read it with `transformContentOf`. */
    content: Type.Optional(
      Type.Unknown({ description: 'The new text. Anything but a string leaves the section as it was.' }),
    ),
  },
  { $id: 'ProviderTransformResultMessage', description: 'The new text of a section of the system prompt.' },
);
export type ProviderTransformResultMessage = Static<typeof ProviderTransformResultMessage>;
