/** A conversation as one Markdown text, for people: what was said, and one line for each tool call. */
import { steeringIn } from './steering.js';
import type { ResponsePart, Turn } from './turns.js';

export function conversationMarkdown(title: string, turns: readonly Pick<Turn, 'message' | 'responseParts'>[]): string {
  const said = turns.flatMap(({ message, responseParts }) => [
    quoted(message.text),
    ...responseParts.flatMap(partText),
  ]);
  return `${[`# ${oneLine(title) || 'Untitled'}`, ...said].join('\n\n')}\n`;
}

function partText(part: ResponsePart): string[] {
  const steering = steeringIn(part);
  if (steering) return [quoted(steering.text)];
  if (part.kind === 'markdown') return part.content.trim() === '' ? [] : [part.content.trim()];
  if (part.kind === 'systemNotification') return [`*${oneLine(plain(part.content))}*`];
  if (part.kind === 'error') return [`**Error:** ${oneLine(part.error.message)}`];
  if (part.kind !== 'toolCall') return [];
  const { toolCall: call } = part;
  const isDone = call.status === 'completed';
  const mark = isDone ? (call.success ? '✓' : '✗') : '–';
  return [`${mark} ${oneLine(plain(isDone ? call.pastTenseMessage : call.invocationMessage)) || call.displayName}`];
}

function plain(text: string | { readonly markdown: string } | undefined): string {
  return typeof text === 'object' ? text.markdown : (text ?? '');
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

/** The words of a person. */
function quoted(text: string): string {
  return text
    .trim()
    .split('\n')
    .map((line) => `> ${line}`.trimEnd())
    .join('\n');
}
