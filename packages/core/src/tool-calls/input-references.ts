/**
 * Long tool input by reference. The session keeps every input as text, and that text is what runs. Clients whose
 * version has references get a URI in place of a long text, and read the text by it when they show it. The URI contains
 * the hash of the text: reading it returns exactly the text that was named, and a changed input gets another URI.
 */
import { createHash } from 'node:crypto';
import type { ActiveTurn, ContentRef, ToolInput, Turn } from '@atrium/protocol/ahp-1';
import { INLINE_TEXT_MAX_CHARACTERS, REFERENCED_INPUT_MAX_BYTES } from './limits.js';

export const INPUT_SCHEME = 'atrium-input:';
const INPUT_URI = /^atrium-input:\/([\w-]+)\/([0-9a-f]{64})$/;
/** Half of a surrogate pair cannot be written as UTF-8, and would be read back as another character. */
const HALF_CHARACTER = /\p{Surrogate}/u;

/** The input of a call, and the place of the call. */
interface PlacedInput {
  readonly chat: string;
  readonly turnId: string;
  readonly toolCallId: string;
  readonly text: string;
}

/** What a reference names. */
export interface NamedInput {
  readonly chat: string;
  readonly turnId: string;
  readonly toolCallId: string;
  readonly hash: string;
}

/** Makes references to tool input. */
export class InputReferences {
  /** Input up to this length is always sent as text. */
  readonly inlineMaxCharacters: number;

  constructor({ inlineMaxCharacters = INLINE_TEXT_MAX_CHARACTERS }: { inlineMaxCharacters?: number | undefined } = {}) {
    this.inlineMaxCharacters = inlineMaxCharacters;
  }

  /** True when clients that can read references get this input by one. */
  has(input: ToolInput | undefined): boolean {
    if (typeof input !== 'string' || input.length <= this.inlineMaxCharacters) return false;
    return Buffer.byteLength(input) <= REFERENCED_INPUT_MAX_BYTES && !HALF_CHARACTER.test(input);
  }

  readonly referTo = ({ chat, turnId, toolCallId, text }: PlacedInput): ContentRef | undefined => {
    if (!this.has(text)) return undefined;
    const place = Buffer.from(JSON.stringify([chat, turnId, toolCallId])).toString('base64url');
    const uri = `${INPUT_SCHEME}/${place}/${hashOf(text)}`;
    return { uri, sizeHint: Buffer.byteLength(text), contentType: 'text/plain' };
  };
}

/** Reads a reference of ours; undefined for any other URI. */
export function namedInput(uri: string): NamedInput | undefined {
  const [, place = '', hash = ''] = INPUT_URI.exec(uri) ?? [];
  try {
    const [chat, turnId, toolCallId] = JSON.parse(Buffer.from(place, 'base64url').toString());
    const isNamed = [chat, turnId, toolCallId].every((part) => typeof part === 'string');
    return isNamed ? { chat, turnId, toolCallId, hash } : undefined;
  } catch {
    return undefined;
  }
}

/** The named input in its turn; undefined if the input has changed. */
export function inputIn({ responseParts }: Turn | ActiveTurn, { toolCallId, hash }: NamedInput): string | undefined {
  for (const part of responseParts) {
    if (part.kind !== 'toolCall' || part.toolCall.toolCallId !== toolCallId) continue;
    const input = 'toolInput' in part.toolCall ? part.toolCall.toolInput : undefined;
    if (typeof input === 'string' && hashOf(input) === hash) return input;
  }
  return undefined;
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
