import { type Static, Type } from 'typebox';

export const ProviderToolProgressMessage = Type.Object(
  { type: Type.Literal('tool.progress'), id: Type.String(), message: Type.String() },
  { $id: 'ProviderToolProgressMessage', description: 'How far a running tool call has come; never its end.' },
);
export type ProviderToolProgressMessage = Static<typeof ProviderToolProgressMessage>;
