/** Small types that many messages share. Those that 1.0 did not change come from the older model. */
import { type Static, type TObject, type TOptional, type TProperties, Type } from 'typebox';
import { FileEditDiff, Meta, URI } from '../../common/types.js';
import { MapOf } from '../../schema/define.js';

export {
  AgentSelection,
  FileEditDiff,
  Icon,
  Meta,
  RootChannel,
  StringOrMarkdown,
  TextPosition,
  TextRange,
  TextSelection,
  URI,
  UsageInfo,
} from '../../common/types.js';

export const Timestamp = Type.String({
  $id: 'Timestamp',
  description: 'A moment in ISO 8601, in UTC with milliseconds, such as `2026-10-01T08:15:30.123Z`.',
});
export type Timestamp = Static<typeof Timestamp>;

export const JsonPrimitive = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()], {
  $id: 'JsonPrimitive',
  description: 'A JSON value that is neither an object nor a list.',
});
export type JsonPrimitive = Static<typeof JsonPrimitive>;

export const ErrorInfo = Type.Object(
  {
    errorType: Type.String({ description: 'The kind of failure, for programs.' }),
    message: Type.String(),
    stack: Type.Optional(Type.String({ description: 'Where it failed, for developers.' })),
    _meta: Type.Optional(Meta),
  },
  { $id: 'ErrorInfo', description: 'What went wrong, for people and for programs.' },
);
export type ErrorInfo = Static<typeof ErrorInfo>;

export const contentRefMembers = {
  uri: URI,
  sizeHint: Type.Optional(Type.Number()),
  contentType: Type.Optional(Type.String()),
  nonce: Type.Optional(Type.String({ description: 'Changes whenever the content does.' })),
};

export const ContentRef = Type.Object(contentRefMembers, {
  $id: 'ContentRef',
  description: 'Content that is stored elsewhere and fetched with `resourceRead`.',
});
export type ContentRef = Static<typeof ContentRef>;

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
  {
    id: Type.String(),
    config: Type.Optional(MapOf(JsonPrimitive, { description: 'Options of the model, by name.' })),
  },
  { $id: 'ModelSelection', description: 'A model and the options chosen for it.' },
);
export type ModelSelection = Static<typeof ModelSelection>;

export const ChangesSummary = Type.Object(
  {
    additions: Type.Optional(Type.Number({ description: 'Lines.' })),
    deletions: Type.Optional(Type.Number({ description: 'Lines.' })),
    files: Type.Optional(Type.Number({ description: 'How many files.' })),
  },
  { $id: 'ChangesSummary', description: 'How much was changed.' },
);
export type ChangesSummary = Static<typeof ChangesSummary>;

/** The params of a request, with the `_meta` that every request may carry. */
export function withRequestMeta<Members extends TProperties>(
  params: TObject<Members>,
): TObject<Members & { _meta: TOptional<typeof Meta> }> {
  const { $id, description } = params as { $id?: string; description?: string };
  return Type.Object(
    { ...params.properties, _meta: Type.Optional(Meta) },
    { ...($id && { $id }), ...(description && { description }) },
  ) as never;
}
