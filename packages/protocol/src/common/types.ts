/** Small types that many messages share. */

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
  description: 'Open metadata: the protocol does not define its keys.',
});
export type Meta = Static<typeof Meta>;

export const Icon = Type.Object(
  {
    src: URI,
    contentType: Type.Optional(Type.String()),
    sizes: Type.Optional(Type.Array(Type.String(), { description: 'Sizes such as `48x48`, or `any`.' })),
    theme: Type.Optional(Choice(['light', 'dark'], { description: 'The background that it is drawn for.' })),
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

export const ContentRef = Type.Object(
  { uri: URI, sizeHint: Type.Optional(Type.Number()), contentType: Type.Optional(Type.String()) },
  { $id: 'ContentRef', description: 'Content that is stored elsewhere and fetched with `resourceRead`.' },
);
export type ContentRef = Static<typeof ContentRef>;

export const TextPosition = Type.Object(
  {
    line: Type.Number({ description: 'From zero.' }),
    character: Type.Number({ description: 'From zero, in UTF-16 units.' }),
  },
  { $id: 'TextPosition', description: 'A place in a text. Lines and characters count from zero.' },
);
export type TextPosition = Static<typeof TextPosition>;

export const TextRange = Type.Object(
  { start: TextPosition, end: TextPosition },
  { $id: 'TextRange', description: 'A span of text; the end is exclusive.' },
);
export type TextRange = Static<typeof TextRange>;

export const TextSelection = Type.Object(
  { range: TextRange },
  { $id: 'TextSelection', description: 'What a person has selected in a text resource.' },
);
export type TextSelection = Static<typeof TextSelection>;

export const FileEditDiff = Type.Object(
  {
    added: Type.Optional(Type.Number({ description: 'Lines.' })),
    removed: Type.Optional(Type.Number({ description: 'Lines.' })),
  },
  { $id: 'FileEditDiff', description: 'How many lines an edit adds and removes.' },
);
export type FileEditDiff = Static<typeof FileEditDiff>;

export const FileEditSide = Type.Object(
  { uri: URI, content: ContentRef },
  { $id: 'FileEditSide', description: 'One side of a file edit: the file, and where its content can be read.' },
);
export type FileEditSide = Static<typeof FileEditSide>;

export const FileEdit = Type.Object(
  { before: Type.Optional(FileEditSide), after: Type.Optional(FileEditSide), diff: Type.Optional(FileEditDiff) },
  {
    $id: 'FileEdit',
    description: 'A change of one file: only `before` deletes, only `after` creates, both edit or rename.',
  },
);
export type FileEdit = Static<typeof FileEdit>;

export const ModelSelection = Type.Object(
  { id: Type.String(), config: Type.Optional(MapOf(Type.String(), { description: 'Options of the model, by name.' })) },
  { $id: 'ModelSelection', description: 'A model and the options chosen for it.' },
);
export type ModelSelection = Static<typeof ModelSelection>;

export const AgentSelection = Type.Object(
  { uri: URI },
  {
    $id: 'AgentSelection',
    description: 'A custom agent, named by the `uri` of an agent customization of the session.',
  },
);
export type AgentSelection = Static<typeof AgentSelection>;

export const UsageInfo = Type.Object(
  {
    inputTokens: Type.Optional(Type.Number({ description: 'Tokens that the model read.' })),
    outputTokens: Type.Optional(Type.Number({ description: 'Tokens that it wrote.' })),
    cacheReadTokens: Type.Optional(Type.Number({ description: 'Input tokens that came from a cache.' })),
    model: Type.Optional(Type.String({ description: 'The model that was used.' })),
    _meta: Type.Optional(Meta),
  },
  { $id: 'UsageInfo', description: 'The tokens that a turn used.' },
);
export type UsageInfo = Static<typeof UsageInfo>;
