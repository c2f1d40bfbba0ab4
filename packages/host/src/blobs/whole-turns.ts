/** Turns as an agent should remember them: what was kept aside is in its place again. */
import type { ResponsePart, Turn } from '@atrium/protocol';
import { KEPT_SCHEME, type KeptContents } from './kept-contents.js';
import { wholeContent } from './shown-result.js';

export function wholeTurns(contents: KeptContents, turns: readonly Turn[]): Promise<Turn[]> {
  return Promise.all(
    turns.map(async (turn) => {
      if (!turn.responseParts.some(namesKept)) return turn;
      return { ...turn, responseParts: await Promise.all(turn.responseParts.map((part) => wholePart(contents, part))) };
    }),
  );
}

async function wholePart(contents: KeptContents, part: ResponsePart): Promise<ResponsePart> {
  if (part.kind !== 'toolCall' || part.toolCall.status !== 'completed' || !namesKept(part)) return part;
  const content = await wholeContent(contents, part.toolCall.content ?? []);
  return { ...part, toolCall: { ...part.toolCall, content } };
}

function namesKept(part: ResponsePart): boolean {
  if (part.kind !== 'toolCall' || part.toolCall.status !== 'completed') return false;
  return (
    part.toolCall.content?.some((block) => block.type === 'resource' && block.uri.startsWith(KEPT_SCHEME)) ?? false
  );
}
