/** What a session itself remembers of its tool calls. */
import type { ResponsePart, SessionState } from '@atrium/protocol';
import { looseInput } from './arguments.js';

/** The inputs of a host tool's successful calls, newest first, as far back as turns are in memory. */
export function* earlierInputs({ activeTurn, turns }: SessionState, tool: string): Generator<unknown> {
  if (activeTurn) yield* inputsIn(activeTurn.responseParts, tool);
  for (let index = turns.length - 1; index >= 0; index -= 1) yield* inputsIn(turns[index]?.responseParts ?? [], tool);
}

function* inputsIn(parts: readonly ResponsePart[], tool: string): Generator<unknown> {
  for (let index = parts.length - 1; index >= 0; index -= 1) {
    const part = parts[index];
    if (part?.kind !== 'toolCall') continue;
    const { toolCall } = part;
    const isOfTool = toolCall.toolName === tool && toolCall.toolClientId === undefined;
    if (isOfTool && toolCall.status === 'completed' && toolCall.success) yield looseInput(toolCall.toolInput);
  }
}
