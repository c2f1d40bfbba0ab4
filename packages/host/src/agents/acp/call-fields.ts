/** What an agent has told of one tool call so far. Every message may bring some of it, in any order. */
import { isRecord } from '../../core/util/shape.js';
import { cut } from './content.js';
import { CALL_ID_MAX_CHARACTERS, TITLE_MAX_CHARACTERS } from './limits.js';

export interface CallFields {
  readonly toolCallId: string;
  readonly title?: string;
  readonly name?: string;
  readonly kind?: string;
  readonly status?: string;
  readonly content?: readonly unknown[];
  readonly locations?: readonly unknown[];
  readonly rawInput?: unknown;
  readonly rawOutput?: unknown;
}

/** Reads a message about a call; undefined when it names none. */
export function callFields(update: unknown): CallFields | undefined {
  if (!isRecord(update) || typeof update.toolCallId !== 'string') return undefined;
  if (update.toolCallId.length > CALL_ID_MAX_CHARACTERS) return undefined;
  const { toolCallId, title, name, kind, status, content, locations, rawInput, rawOutput } = update;
  return {
    toolCallId,
    ...(typeof title === 'string' && title !== '' && { title: cut(title, TITLE_MAX_CHARACTERS) }),
    ...(typeof name === 'string' && name !== '' && { name: cut(name, TITLE_MAX_CHARACTERS) }),
    ...(typeof kind === 'string' && { kind }),
    ...(typeof status === 'string' && { status }),
    ...(Array.isArray(content) && { content }),
    ...(Array.isArray(locations) && { locations }),
    ...(rawInput !== undefined && rawInput !== null && { rawInput }),
    ...(rawOutput !== undefined && rawOutput !== null && { rawOutput }),
  };
}

/** In words for people. */
export function titleOf({ title, name, kind }: CallFields): string {
  return title ?? name ?? (kind === undefined || kind === 'other' ? 'Use a tool' : kind);
}

/** As gates know it: by its name, where the agent tells one, or else by its kind. */
export function nameOf({ name, kind }: CallFields): string {
  return name ?? kind ?? 'other';
}

/** What gates and people look at: the input, or whatever else says what the call is about. */
export function inputOf({ rawInput, title, locations }: CallFields): unknown {
  return rawInput ?? { ...(title !== undefined && { title }), ...(locations && { locations }) };
}
