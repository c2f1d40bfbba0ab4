import { type Static, Type } from 'typebox';

export const ProviderToolName = Type.String({
  pattern: '^\\S+$',
  $id: 'ProviderToolName',
  description: 'The name under which the model calls a tool.',
});
export type ProviderToolName = Static<typeof ProviderToolName>;
