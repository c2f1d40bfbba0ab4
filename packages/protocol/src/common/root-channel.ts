import { type Static, Type } from 'typebox';
import { ROOT_CHANNEL } from '../channels.js';

export const RootChannel = Type.Literal(ROOT_CHANNEL, { $id: 'RootChannel', description: 'The root channel.' });
export type RootChannel = Static<typeof RootChannel>;
