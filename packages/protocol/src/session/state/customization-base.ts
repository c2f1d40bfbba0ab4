import { Type } from 'typebox';
import { Icon } from '../../common/icon.js';
import { TextRange } from '../../common/text-range.js';
import { URI } from '../../common/uri.js';

/** Members that every customization has. `id` is the handle in this session, `uri` the source across sessions. */
export const customizationBase = {
  id: Type.String(),
  uri: URI,
  name: Type.String(),
  icons: Type.Optional(Type.Array(Icon)),
  range: Type.Optional(TextRange),
};
