import { type Static, Type } from 'typebox';

export const ProviderName = Type.String({
  // Narrow on purpose: it ends up in paths, in `stream@provider` keys and in tool names.
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
  $id: 'ProviderName',
  description: 'The name of a provider, or of one instance of it.',
});
export type ProviderName = Static<typeof ProviderName>;
