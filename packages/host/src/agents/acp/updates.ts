/** Turns what an agent says in the course of a turn into what everybody sees. */
import type { AgentTurn } from '../../core/contracts/agent.js';
import { callFields } from './call-fields.js';
import { blockText } from './content.js';
import type { OwnCalls } from './own-calls.js';
import { PlanReader } from './plan.js';

export class Updates {
  readonly #turn: AgentTurn;
  readonly #calls: OwnCalls;
  readonly #plan = new PlanReader();

  constructor(turn: AgentTurn, calls: OwnCalls) {
    this.#turn = turn;
    this.#calls = calls;
  }

  /** Kinds that say nothing about the turn (modes, commands, settings) are passed over, and so are unknown ones. */
  take(update: Record<string, unknown>): void {
    switch (update.sessionUpdate) {
      case 'agent_message_chunk':
        return this.#say(blockText(update.content), (text) => this.#turn.text(text));
      case 'agent_thought_chunk':
        return this.#say(blockText(update.content), (text) => this.#turn.reasoning(text));
      case 'plan':
        return this.#say(this.#plan.read(update.entries), (text) => this.#turn.reasoning(text));
      case 'notice':
        return this.#say(noticeText(update), (text) => this.#turn.notify(text));
      case 'session_info_update':
        return this.#say(update.title, (title) => this.#turn.title(title));
      case 'tool_call':
      case 'tool_call_update': {
        const fields = callFields(update);
        if (fields) this.#calls.told(fields);
      }
    }
  }

  #say(text: unknown, how: (text: string) => void): void {
    if (typeof text === 'string' && text !== '') how(text);
  }
}

function noticeText({ title, description }: Record<string, unknown>): string {
  return [title, description].filter((text) => typeof text === 'string' && text !== '').join(': ');
}
