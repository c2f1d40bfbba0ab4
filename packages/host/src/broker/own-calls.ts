/** A call of a tool that the agent runs itself: it is shown, gated and confirmed like any other, as far as it asks. */
import type { ToolCallResult, ToolResultContent } from '@atrium/protocol';
import type { OwnCall, OwnCallStart, Permit, ToolOutcome } from '../agents/agent.js';
import type { GateCall } from '../extensions/extension.js';
import type { TurnRunner } from '../sessions/turn.js';
import type { ToolConfirmation } from '../tools/tool.js';
import { type Call, callId, complete, deny, gateCallOf, inputText, permission, startCall } from './call-steps.js';
import { passGates } from './gates.js';
import { withNotes } from './notes.js';

export function beginOwnCall(turn: TurnRunner, { id, name, displayName }: OwnCallStart): OwnCall {
  const toolCallId = callId(turn, id);
  const started: Call = { toolCallId, name, displayName, invocationMessage: displayName, toolInput: '' };
  startCall(turn, started);
  return new RunByAgent(turn, started);
}

class RunByAgent implements OwnCall {
  readonly #turn: TurnRunner;
  #call: Call;
  #asked: GateCall | undefined;
  #notes: readonly string[] = [];
  /** A gate wants a person to decide, whatever the agent thinks. */
  #question: string | undefined;
  #isReady = false;

  constructor(turn: TurnRunner, call: Call) {
    this.#turn = turn;
    this.#call = call;
  }

  get id(): string {
    return this.#call.toolCallId;
  }

  delta(content: string): void {
    this.#turn.write({ type: 'session/toolCallDelta', turnId: this.#turn.id, toolCallId: this.id, content });
  }

  async check(input: unknown, invocationMessage: string): Promise<Permit> {
    this.#call = { ...this.#call, invocationMessage, toolInput: inputText(input) };
    this.#asked = gateCallOf(this.#turn, this.#call, input);
    const clearance = await passGates(this.#turn, this.#call, this.#asked);
    if (clearance.kind === 'denied') return deny(this.#turn, this.#call, clearance.reason);
    this.#notes = clearance.notes;
    this.#question = clearance.ask;
    return this.#question === undefined ? { kind: 'granted' } : this.confirm({ title: this.#question });
  }

  async confirm(confirmation: ToolConfirmation): Promise<Permit> {
    if (this.#isReady) return { kind: 'granted' };
    this.#isReady = true;
    const isAskedAnyway = this.#question !== undefined;
    return permission(this.#turn, { ...this.#call, confirmation, isAskedAnyway });
  }

  progress(content: ToolResultContent[]): void {
    void this.#ready().then(() =>
      this.#turn.write({
        type: 'session/toolCallContentChanged',
        turnId: this.#turn.id,
        toolCallId: this.id,
        content,
      }),
    );
  }

  async complete(result: ToolCallResult): Promise<ToolOutcome> {
    await this.#ready();
    const outcome = await complete(this.#turn, this.#call, result);
    const asked = this.#asked ?? gateCallOf(this.#turn, this.#call, undefined);
    return withNotes(this.#turn, asked, { outcome, notes: this.#notes });
  }

  /** Nobody was asked, so it runs. */
  async #ready(): Promise<void> {
    if (this.#isReady) return;
    this.#isReady = true;
    await permission(this.#turn, this.#call);
  }
}
