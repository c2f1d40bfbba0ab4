/**
 * Puts what an agent says together, step by step: its text and the calls it asked for. A step is over when the first of
 * its calls ends: by then the agent had said all of it, and waits.
 */
import type { SessionAction, SessionState } from '@atrium/protocol';
import type { ProviderAssistantMessageData } from '@atrium/protocol/provider';
import { looseInput } from '../../core/tool-calls/arguments.js';
import { isRecord } from '../../core/util/shape.js';

interface Call {
  readonly name: string;
  /** Absent while the agent is still writing it. */
  input?: string;
}

export class AgentSteps {
  #text = '';
  readonly #calls = new Map<string, Call>();

  /** Takes an action; gives the step that it ended, if it ended one. */
  take(action: SessionAction, after: SessionState): ProviderAssistantMessageData | undefined {
    const hasCallEnded = this.#add(action);
    const isOver = !after.activeTurn || (hasCallEnded && this.#isSaid());
    return isOver && (this.#text !== '' || this.#calls.size > 0) ? this.#flush() : undefined;
  }

  /** Says whether it ended a call of this step. */
  #add(action: SessionAction): boolean {
    if (action.type === 'session/delta') this.#text += action.content;
    if (action.type === 'session/responsePart' && action.part.kind === 'markdown') this.#text += action.part.content;
    if (action.type === 'session/toolCallStart') this.#calls.set(action.toolCallId, { name: action.toolName });
    if (!('toolCallId' in action)) return false;
    const call = this.#calls.get(action.toolCallId);
    if (call && action.type === 'session/toolCallReady') call.input = action.toolInput ?? '';
    const isEnd = action.type === 'session/toolCallComplete';
    return call !== undefined && (isEnd || (action.type === 'session/toolCallConfirmed' && !action.approved));
  }

  #isSaid(): boolean {
    return [...this.#calls.values()].every(({ input }) => input !== undefined);
  }

  #flush(): ProviderAssistantMessageData {
    const toolRequests = [...this.#calls.values()].map(({ name, input }) => ({ name, args: argumentsOf(input) }));
    const content = this.#text;
    this.#text = '';
    this.#calls.clear();
    return { content, ...(toolRequests.length > 0 && { toolRequests }) };
  }
}

export function argumentsOf(input: string | undefined): Record<string, unknown> {
  const value = looseInput(input ?? '{}');
  return isRecord(value) ? value : {};
}
