import { type Static, Type } from 'typebox';
import { ProviderFileReference } from '../parts/file-reference.js';

// Data, a file, or a failure told by `error`, by `errorCode` or by both: `toolOutcomeOf` in ../rules.ts demands one of
// them and reads which. As a union the schema would stop checking the fields of the shapes that did not match.
export const ProviderToolResultMessage = Type.Object(
  {
    type: Type.Literal('tool.result'),
    id: Type.String(),
    data: Type.Optional(Type.Unknown()),
    file: Type.Optional(ProviderFileReference),
    error: Type.Optional(Type.String()),
    /** One of the tool error codes; any other counts as INTERNAL. */
    errorCode: Type.Optional(Type.String()),
    /** Whether another instance of the provider might succeed. */
    retryable: Type.Optional(Type.Boolean()),
  },
  { $id: 'ProviderToolResultMessage', description: 'The end of a tool call.' },
);
export type ProviderToolResultMessage = Static<typeof ProviderToolResultMessage>;
