/** The smallest types, which nearly every message uses. */
import { type Static, Type } from 'typebox';
import { ROOT_CHANNEL } from '../channels.js';
import { Choice, MapOf } from '../schema/define.js';

export const URI = Type.String({
  $id: 'URI',
  description: 'A URI as a plain string. No normalisation is defined: two URIs are equal when their bytes are.',
});
export type URI = Static<typeof URI>;

export const RootChannel = Type.Literal(ROOT_CHANNEL, { $id: 'RootChannel', description: 'The root channel.' });
export type RootChannel = Static<typeof RootChannel>;

export const Meta = MapOf(Type.Unknown(), {
  $id: 'Meta',
  description: 'Open metadata: a map whose keys this protocol does not define.',
});
export type Meta = Static<typeof Meta>;

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

export const StringOrMarkdown = Type.Union(
  [Type.String(), Type.Object({ markdown: Type.String({ description: 'Markdown.' }) })],
  {
    $id: 'StringOrMarkdown',
    description: 'Text for people: a plain string is shown literally, an object is rendered as Markdown.',
  },
);
export type StringOrMarkdown = Static<typeof StringOrMarkdown>;

export const ErrorInfo = Type.Object(
  {
    errorType: Type.String({ description: 'The kind of failure, for programs.' }),
    message: Type.String(),
    stack: Type.Optional(Type.String({ description: 'Where it failed, for developers.' })),
  },
  { $id: 'ErrorInfo', description: 'What went wrong, for people and for programs.' },
);
export type ErrorInfo = Static<typeof ErrorInfo>;
