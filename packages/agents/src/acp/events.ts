/** One turn of an agent: translates its updates into what people see, and passes its permission requests on. */
import type { PromptResponse, RequestPermissionOutcome, RequestPermissionRequest } from '@agentclientprotocol/sdk';
import type { AgentTurn } from '@atrium/core/contracts/agent.js';
import { isRecord } from '@atrium/core/util/shape.js';
import { tasksIn } from '../shared/plans.js';
import { isBridgedCall } from './tool-bridge.js';
import { blockText, CANCELLED, callFields, confirmationOptions, OwnCalls, outcomeOf } from './tool-calls.js';
import type { AcpUsage } from './usage.js';

export class AcpTurn {
  readonly turn: AgentTurn;
  /** Why calls were denied. The protocol tells agents only that they were, so the next prompt gives the reasons. */
  readonly denials: string[] = [];
  readonly #calls: OwnCalls;
  readonly #plan = new PlanReader();

  constructor(
    turn: AgentTurn,
    private readonly used: AcpUsage,
  ) {
    this.turn = turn;
    const names = () => turn.tools().map(({ name }) => name);
    this.#calls = new OwnCalls(turn, (fields, wasHosts) => isBridgedCall(fields, names(), wasHosts));
  }

  update(update: Record<string, unknown>): void {
    if (!this.turn.signal.aborted) this.#show(update);
  }

  /** Ignores updates that are not about the turn (modes, commands, settings), and unknown ones. */
  #show(update: Record<string, unknown>): void {
    switch (update.sessionUpdate) {
      case 'agent_message_chunk':
        return show(blockText(update.content), (text) => this.turn.text(text));
      case 'agent_thought_chunk':
        return show(blockText(update.content), (text) => this.turn.reasoning(text));
      case 'plan':
        this.turn.plan(tasksIn(update.entries) ?? []);
        return show(this.#plan.read(update.entries), (text) => this.turn.reasoning(text));
      case 'notice':
        return show(noticeText(update), (text) => this.turn.notify(text));
      case 'session_info_update':
        return show(update.title, (title) => this.turn.title(title));
      case 'usage_update':
        return this.used.updated(update);
      case 'tool_call':
      case 'tool_call_update': {
        const fields = callFields(update);
        if (fields) this.#calls.reported(fields);
      }
    }
  }

  async permission({ toolCall, options }: RequestPermissionRequest): Promise<RequestPermissionOutcome> {
    const fields = callFields(toolCall);
    if (!fields || this.turn.signal.aborted) return CANCELLED;
    try {
      const permit = await this.#calls.ask(fields, { options: confirmationOptions(options) });
      if (permit?.kind === 'denied') this.denials.push(permit.reason);
      return outcomeOf(permit, options);
    } catch {
      // The turn was cancelled meanwhile, and the request with it.
      return CANCELLED;
    }
  }

  end(): Promise<void> {
    return this.#calls.end();
  }
}

/** Passes on a text that is not empty. */
function show(text: unknown, how: (text: string) => void): void {
  if (typeof text === 'string' && text !== '') how(text);
}

function noticeText({ title, description }: Record<string, unknown>): string {
  return [title, description].filter((text) => typeof text === 'string' && text !== '').join(': ');
}

const BOXES: Readonly<Record<string, string>> = { completed: '[x]', in_progress: '[~]', pending: '[ ]' };

/** Shows an agent's plan as a list: the whole list first, then only the lines that changed. */
class PlanReader {
  #known = new Set<string>();

  /** The lines to show now; empty when nothing is new. */
  read(entries: unknown): string {
    const lines = (Array.isArray(entries) ? entries : []).flatMap(lineOf);
    const fresh = lines.filter((line) => !this.#known.has(line));
    this.#known = new Set(lines);
    return fresh.length === 0 ? '' : `\n\nPlan:\n${fresh.join('\n')}\n\n`;
  }
}

function lineOf(entry: unknown): string[] {
  if (!isRecord(entry) || typeof entry.content !== 'string') return [];
  return [`- ${BOXES[String(entry.status)] ?? '[ ]'} ${entry.content}`];
}

/** Notes for people, by the agent's reason for stopping. */
const NOTES: Readonly<Record<string, (name: string) => string>> = {
  max_tokens: () => "The answer was cut off at the model's limit. Ask it to go on.",
  max_turn_requests: (name) => `${name} stopped after as many steps as it takes at once. Ask it to go on.`,
  refusal: (name) => `${name} does not want to go on with this.`,
  cancelled: (name) => `${name} has stopped by itself.`,
};

/** Shows why the agent stopped. */
export function showEnd(turn: AgentTurn, response: PromptResponse, displayName: string): void {
  const note = NOTES[response.stopReason];
  if (note) turn.notify(note(displayName));
}
