import { type Static, Type } from 'typebox';
import { Choice } from '../schema/define.js';
import { URI } from './uri.js';

export const Icon = Type.Object(
  {
    src: URI,
    contentType: Type.Optional(Type.String()),
    sizes: Type.Optional(Type.Array(Type.String(), { description: 'Such as `48x48`, or `any`.' })),
    theme: Type.Optional(Choice(['light', 'dark'], { description: 'The background that it is meant for.' })),
  },
  { $id: 'Icon', description: 'An image that stands for something.' },
);
export type Icon = Static<typeof Icon>;
