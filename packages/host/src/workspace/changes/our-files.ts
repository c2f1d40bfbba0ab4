/** Tells files apart that the host itself writes into a folder: they are nobody's change. */
import path from 'node:path';
import { type BytePath, fromText } from '../git/byte-path.js';

/** A content on its way to its place. */
const DRAFT = /(^|\/)\.atrium-[0-9a-f-]{36}\.tmp$/;

/** `data` is the host's folder for changes; what is beside it belongs to the host as well. */
export function ourFiles(root: string, data: string): (file: BytePath) => boolean {
  const own = fromText(path.relative(root, path.dirname(data)).split(path.sep).join('/'));
  const isInside = own !== '' && !own.startsWith('..') && !path.isAbsolute(own);
  return (file) => DRAFT.test(file) || (isInside && (file === own || file.startsWith(`${own}/`)));
}
