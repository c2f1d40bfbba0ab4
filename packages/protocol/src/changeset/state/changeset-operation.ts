import { type Static, Type } from 'typebox';
import { StringOrMarkdown } from '../../common/string-or-markdown.js';
import { ChangesetOperationScope } from './changeset-operation-scope.js';

export const ChangesetOperation = Type.Object(
  {
    id: Type.String(),
    label: Type.String(),
    description: Type.Optional(Type.String()),
    scopes: Type.Array(ChangesetOperationScope),
    confirmation: Type.Optional(StringOrMarkdown),
    icon: Type.Optional(Type.String({ description: 'The name of an icon.' })),
  },
  {
    $id: 'ChangesetOperation',
    description: 'Something that can be done with changes; a confirmation marks it as destructive.',
  },
);
export type ChangesetOperation = Static<typeof ChangesetOperation>;
