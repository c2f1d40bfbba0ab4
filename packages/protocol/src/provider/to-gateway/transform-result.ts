import { type Static, Type } from 'typebox';

export const ProviderTransformResultMessage = Type.Object(
  {
    type: Type.Literal('transform.result'),
    callId: Type.String(),
    /** A string. Anything else leaves the section as it was: read it with `transformContentOf`. */
    content: Type.Optional(Type.Unknown()),
  },
  { $id: 'ProviderTransformResultMessage', description: 'The new text of a section of the system prompt.' },
);
export type ProviderTransformResultMessage = Static<typeof ProviderTransformResultMessage>;
