import { type Static, Type } from 'typebox';

export const ProviderText = Type.String({
  pattern: '\\S',
  $id: 'ProviderText',
  description: 'Text with something to read in it.',
});
export type ProviderText = Static<typeof ProviderText>;
