/** The answer to `resourceRead` as text. A host may also send text as base64. */
import type { ResourceReadResult } from '@atrium/protocol/ahp-1';

export function contentText({ data, encoding }: Pick<ResourceReadResult, 'data' | 'encoding'>): string {
  return encoding === 'base64' ? fromBase64(data) : data;
}

export function fromBase64(text: string): string {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}
