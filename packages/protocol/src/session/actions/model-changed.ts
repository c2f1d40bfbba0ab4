import { type Static, Type } from 'typebox';
import { ModelSelection } from '../../common/model-selection.js';

export const SessionModelChangedAction = Type.Object(
  { type: Type.Literal('session/modelChanged'), model: ModelSelection },
  { $id: 'SessionModelChangedAction', description: 'Later turns use this model.' },
);
export type SessionModelChangedAction = Static<typeof SessionModelChangedAction>;
