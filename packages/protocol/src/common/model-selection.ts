import { type Static, Type } from 'typebox';
import { MapOf } from '../schema/define.js';

export const ModelSelection = Type.Object(
  { id: Type.String(), config: Type.Optional(MapOf(Type.String(), { description: 'Options of the model, by name.' })) },
  { $id: 'ModelSelection', description: 'A model and the options chosen for it.' },
);
export type ModelSelection = Static<typeof ModelSelection>;
