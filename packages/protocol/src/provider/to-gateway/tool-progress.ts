import { type Static, Type } from 'typebox';

export const ProviderToolProgressMessage = Type.Object(
  {
    type: Type.Literal('tool.progress'),
    id: Type.String({ description: 'The call that is running.' }),
    message: Type.String({ description: 'How far it is, for people.' }),
  },
  { $id: 'ProviderToolProgressMessage', description: 'How far a running tool call has come; never its end.' },
);
export type ProviderToolProgressMessage = Static<typeof ProviderToolProgressMessage>;
