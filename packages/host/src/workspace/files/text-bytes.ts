/** Tells text from other bytes: what is sent as text must come back as the same bytes. */
import { isUtf8 } from 'node:buffer';

/** A zero byte is legal in UTF-8, and in no text that anybody wrote. */
export function isText(bytes: Buffer): boolean {
  return !bytes.includes(0) && isUtf8(bytes);
}
