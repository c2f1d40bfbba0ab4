/** A message without what must not be written down: secrets are blanked, long texts are cut. */

/** Texts beyond this are content, not protocol. */
export const SHOWN_TEXT_MAX_CHARACTERS = 80;
const SHOWN_ITEMS_MAX = 50;
const DEPTH_MAX = 12;
const SECRET_NAME = /token$|secret|password|passphrase|authorization|api.?key|cookie|credential|pairing/i;
/** Pairing codes are shown to people in the words of a question with such an id. */
const PAIRING = /^pair-/;
const HIDDEN = '[hidden]';

export function redacted(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return shortened(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= DEPTH_MAX) return '…';
  if (Array.isArray(value)) {
    const shown = value.slice(0, SHOWN_ITEMS_MAX).map((item) => redacted(item, depth + 1));
    return value.length > SHOWN_ITEMS_MAX ? [...shown, `… ${value.length} in all`] : shown;
  }
  const isPairing = PAIRING.test(String((value as { id?: unknown }).id));
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => {
      const isSecret = typeof member === 'string' && (SECRET_NAME.test(key) || (isPairing && key === 'message'));
      return [key, isSecret ? HIDDEN : redacted(member, depth + 1)];
    }),
  );
}

function shortened(text: string): string {
  if (text.length <= SHOWN_TEXT_MAX_CHARACTERS) return text;
  return `${text.slice(0, SHOWN_TEXT_MAX_CHARACTERS)}… (${text.length} characters)`;
}
