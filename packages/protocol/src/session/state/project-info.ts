import { type Static, Type } from 'typebox';
import { URI } from '../../common/uri.js';

export const ProjectInfo = Type.Object(
  { uri: URI, displayName: Type.String() },
  { $id: 'ProjectInfo', description: 'The project a session works in.' },
);
export type ProjectInfo = Static<typeof ProjectInfo>;
