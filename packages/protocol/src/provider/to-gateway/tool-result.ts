import { type Static, Type } from 'typebox';
import { ProviderFileReference } from '../parts/file-reference.js';

// Data, a file, or a failure told by `error`, by `errorCode` or by both: `toolOutcomeOf` in ../rules.ts demands one of
// them and reads which. As a union the schema would stop checking the fields of the shapes that did not match.
export const ProviderToolResultMessage = Type.Object(
  {
    type: Type.Literal('tool.result'),
    id: Type.String({ description: 'The call that ends.' }),
    data: Type.Optional(Type.Unknown({ description: 'The result, any JSON; null is a result, too.' })),
    file: Type.Optional(ProviderFileReference),
    error: Type.Optional(Type.String({ description: 'What went wrong, for the model.' })),
    errorCode: Type.Optional(
      Type.String({ description: 'One of the error codes of tool calls; any other counts as `INTERNAL`.' }),
    ),
    retryable: Type.Optional(Type.Boolean({ description: 'Whether another instance of the provider might succeed.' })),
  },
  { $id: 'ProviderToolResultMessage', description: 'The end of a tool call.' },
);
export type ProviderToolResultMessage = Static<typeof ProviderToolResultMessage>;
