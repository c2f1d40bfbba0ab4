/** Estimates how many tokens a text has, before a server counts them. */
import { isImageValue } from './conversation.js';

/** The usual rule of thumb. Servers count exactly, but only after the request. */
export const CHARACTERS_PER_TOKEN = 4;
/** Assumed for an image. Servers differ, and count by its size. */
const IMAGE_TOKENS = 1_500;

/** Estimates the tokens of a value. Every image counts the same, whatever its size. */
export function tokensIn(value: unknown): number {
  let images = 0;
  const text = JSON.stringify(value, (key, member) => {
    if (key !== 'image' && !isImageValue(member)) return member;
    images += 1;
    return '';
  });
  return Math.ceil((text ?? '').length / CHARACTERS_PER_TOKEN) + images * IMAGE_TOKENS;
}
