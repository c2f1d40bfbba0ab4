import { Type } from 'typebox';
import { Meta } from '../../common/meta.js';
import { TextRange } from '../../common/text-range.js';

/** Members that every attachment has. `_meta` of an attachment that came from `completions` goes back unchanged. */
export const attachmentBase = {
  label: Type.String(),
  range: Type.Optional(TextRange),
  displayKind: Type.Optional(
    Type.String({
      description: 'How to show it: `image`, `document`, `symbol`, `directory`, `selection` or another word.',
    }),
  ),
  _meta: Type.Optional(Meta),
};
