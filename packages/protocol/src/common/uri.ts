import { type Static, Type } from 'typebox';

export const URI = Type.String({
  $id: 'URI',
  description: 'A URI as a plain string. No normalisation is defined: two URIs are equal when their bytes are.',
});
export type URI = Static<typeof URI>;
