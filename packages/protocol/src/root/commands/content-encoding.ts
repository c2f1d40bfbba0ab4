import type { Static } from 'typebox';
import { Choice } from '../../schema/define.js';

export const ContentEncoding = Choice(['base64', 'utf-8'], {
  $id: 'ContentEncoding',
  description: 'How content is written in JSON; binary is always base64.',
});
export type ContentEncoding = Static<typeof ContentEncoding>;
