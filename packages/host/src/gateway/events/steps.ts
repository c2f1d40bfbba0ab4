/** Puts what an agent says together, step by step: its text and the calls it asked for, until the next step begins. */
import type { SessionAction, SessionState } from '@atrium/protocol';
import type { ProviderAssistantMessageData } from '@atrium/protocol/provider';
import { looseInput } from '../../broker/arguments.js';
import { isRecord } from '../../tools/shape.js';

interface Call {
  readonly name: string;
  input: string;
  isOver: boolean;
}

export class AgentSteps {
  #text = '';
  readonly #calls = new Map<string, Call>();

  /** Takes an action; gives the step that it ended, if it ended one. */
  take(action: SessionAction, after: SessionState): ProviderAssistantMessageData | undefined {
    const isBeginning = action.type === 'session/responsePart' || action.type === 'session/toolCallStart';
    const ended = isBeginning && this.#areCallsOver() ? this.#flush() : undefined;
    this.#add(action);
    const isTurnOver = !after.activeTurn && (this.#text !== '' || this.#calls.size > 0);
    return isTurnOver ? this.#flush() : ended;
  }

  #add(action: SessionAction): void {
    if (action.type === 'session/delta') this.#text += action.content;
    if (action.type === 'session/responsePart' && action.part.kind === 'markdown') this.#text += action.part.content;
    if (action.type === 'session/toolCallStart')
      this.#calls.set(action.toolCallId, { name: action.toolName, input: '', isOver: false });
    if (!('toolCallId' in action)) return;
    const call = this.#calls.get(action.toolCallId);
    if (!call) return;
    if (action.type === 'session/toolCallReady') call.input = action.toolInput ?? '';
    if (action.type === 'session/toolCallComplete') call.isOver = true;
    if (action.type === 'session/toolCallConfirmed' && !action.approved) call.isOver = true;
  }

  #areCallsOver(): boolean {
    return this.#calls.size > 0 && [...this.#calls.values()].every(({ isOver }) => isOver);
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
