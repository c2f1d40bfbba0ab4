/** What agents show, as text: blocks of content, changes of files, raw output. Nothing is taken for granted. */
import type { FileEdit, ToolResultContent } from '@atrium/protocol';
import { comingEdit, diffText } from '../../core/util/file-edit.js';
import { isRecord } from '../../core/util/shape.js';
import { RESULT_MAX_CHARACTERS } from './limits.js';

/** One block of content; a picture or a sound is only named. */
export function blockText(block: unknown): string {
  if (!isRecord(block)) return '';
  const { type, text, uri, name, resource, mimeType } = block;
  if (type === 'text') return typeof text === 'string' ? text : '';
  if (type === 'resource_link') return `[${String(name ?? uri)}](${String(uri)})`;
  if (type === 'resource' && isRecord(resource)) return String(resource.text ?? resource.uri ?? '');
  return typeof mimeType === 'string' ? `[${mimeType}]` : '';
}

/** The output of a tool call: what the agent shows of it, or else what it says the tool returned. */
export function resultContent(content: unknown, rawOutput: unknown): ToolResultContent[] {
  const shown = (Array.isArray(content) ? content : []).map(shownText).filter((text) => text !== '');
  const text = shown.join('\n') || rawText(rawOutput);
  return text === '' ? [] : [{ type: 'text', text: cut(text, RESULT_MAX_CHARACTERS) }];
}

function shownText(item: unknown): string {
  if (!isRecord(item)) return '';
  if (item.type === 'content') return blockText(item.content);
  const change = changeOf(item);
  return change ? `${change.path}: ${diffText(change)}` : '';
}

/** The changes that a call would make, for the person who is asked. */
export function comingEdits(content: unknown): FileEdit[] {
  return (Array.isArray(content) ? content : []).flatMap((item) => {
    const change = isRecord(item) ? changeOf(item) : undefined;
    return change?.path.startsWith('/')
      ? comingEdit({ file: { real: change.path, shown: change.path }, ...change })
      : [];
  });
}

function changeOf({ type, path, oldText, newText }: Record<string, unknown>) {
  if (type !== 'diff' || typeof path !== 'string' || typeof newText !== 'string') return undefined;
  return { path, after: newText, ...(typeof oldText === 'string' && { before: { text: oldText } }) };
}

function rawText(output: unknown): string {
  if (output === undefined || output === null) return '';
  if (typeof output === 'string') return output;
  const inner = isRecord(output) ? (output.output ?? output.stdout ?? output.text) : undefined;
  return typeof inner === 'string' ? inner : JSON.stringify(output);
}

export function cut(text: string, maxCharacters: number): string {
  return text.length <= maxCharacters ? text : `${text.slice(0, maxCharacters - 1)}…`;
}
