/** What goes on between the agent and one turn: its updates, its calls, its questions. */
import type {
  ReadTextFileRequest,
  RequestPermissionOutcome,
  RequestPermissionRequest,
  WriteTextFileRequest,
} from '@agentclientprotocol/sdk';
import type { AgentTurn } from '../../core/contracts/agent.js';
import { isBridgedCall } from './bridge/bridged-calls.js';
import { callFields } from './call-fields.js';
import { readForAgent, writeForAgent } from './files.js';
import { OwnCalls } from './own-calls.js';
import { CANCELLED, confirmationOptions, outcomeOf } from './permission.js';
import { Updates } from './updates.js';

export class TurnWork {
  readonly turn: AgentTurn;
  /** Why calls were denied: agents only hear that they were, so the next prompt says it. */
  readonly denials: string[] = [];
  readonly #calls: OwnCalls;
  readonly #updates: Updates;

  constructor(turn: AgentTurn) {
    this.turn = turn;
    const names = () => turn.tools().map(({ name }) => name);
    this.#calls = new OwnCalls(turn, (fields, wasHosts) => isBridgedCall(fields, names(), wasHosts));
    this.#updates = new Updates(turn, this.#calls);
  }

  update(update: Record<string, unknown>): void {
    if (!this.turn.signal.aborted) this.#updates.take(update);
  }

  async permission({ toolCall, options }: RequestPermissionRequest): Promise<RequestPermissionOutcome> {
    const fields = callFields(toolCall);
    if (!fields || this.turn.signal.aborted) return CANCELLED;
    try {
      const permit = await this.#calls.ask(fields, { options: confirmationOptions(options) });
      if (permit?.kind === 'denied') this.denials.push(permit.reason);
      return outcomeOf(permit, options);
    } catch {
      // The turn was cancelled meanwhile, and the question with it.
      return CANCELLED;
    }
  }

  read(request: ReadTextFileRequest): Promise<string> {
    return readForAgent(this.turn, request);
  }

  write(request: WriteTextFileRequest): Promise<void> {
    return writeForAgent(this.turn, request);
  }

  end(): Promise<void> {
    return this.#calls.end();
  }
}
