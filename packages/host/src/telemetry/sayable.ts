/** What may be said of something: no secrets, no words that quote what was worked on, and not too much. */
import type { Attributes } from './otlp.js';

/** Words of others, such as errors, are cut here. */
const TEXT_MAX_CHARACTERS = 500;
/** Codes for the person at the console, who may have nobody else to read them to. */
const PAIRING_CODE = /\b\d{3} \d{3}\b/g;

export function withoutCodes(text: string): string {
  return text.replaceAll(PAIRING_CODE, '[hidden]');
}

/** Every id would be a series of its own: metrics are about kinds, not about single sessions. */
export function withoutIds(attributes: Attributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([key]) => !key.endsWith('.id')));
}

/** What kind of failure it is, in a word. */
export function kindOf(error: unknown): string {
  if (!(error instanceof Error)) return 'failed';
  const { errorType, code } = error as { errorType?: unknown; code?: unknown };
  return String(errorType ?? code ?? error.name);
}

export function cutAll(attributes: Attributes): Attributes {
  const entries = Object.entries(attributes);
  return Object.fromEntries(entries.map(([key, value]) => [key, typeof value === 'string' ? cut(value) : value]));
}

export function cut(text: string): string {
  return text.length <= TEXT_MAX_CHARACTERS ? text : `${text.slice(0, TEXT_MAX_CHARACTERS)}…`;
}
