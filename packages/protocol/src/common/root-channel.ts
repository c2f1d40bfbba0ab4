import { type Static, Type } from 'typebox';

/** The URI of the one root channel. */
export const ROOT_CHANNEL = 'ahp-root://';

export const RootChannel = Type.Literal(ROOT_CHANNEL, { $id: 'RootChannel', description: 'The root channel.' });
export type RootChannel = Static<typeof RootChannel>;
