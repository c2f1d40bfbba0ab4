/** A call of a tool that the agent runs itself: it is shown, gated and confirmed like any other, as far as it asks. */
import type { ToolCallResult, ToolResultContent } from '@atrium/protocol';
import type { OwnCall, OwnCallStart, Permit, ToolOutcome } from '../agents/agent.js';
import type { GateCall } from '../extensions/extension.js';
import type { TurnRunner } from '../sessions/turn.js';
import type { ToolConfirmation } from '../tools/tool.js';
import { inputText, looseInput } from './arguments.js';
import { bounded, boundedContent } from './bounded-result.js';
import { type Call, callId, complete, deny, gateCallOf, startCall } from './call-steps.js';
import { passGates } from './gates.js';
import { withNotes } from './notes.js';
import { askedBy, passPerson } from './permission.js';
import { StreamedInput } from './streamed-input.js';

export function beginOwnCall(turn: TurnRunner, { id, name, displayName }: OwnCallStart): OwnCall {
  const started = { toolCallId: callId(turn, id), name, displayName };
  startCall(turn, started);
  return new RunByAgent(turn, { ...started, invocationMessage: displayName, toolInput: '' });
}

class RunByAgent implements OwnCall {
  readonly #turn: TurnRunner;
  readonly #streamed: StreamedInput;
  #call: Call;
  #asked: GateCall;
  #notes: readonly string[] = [];
  /** What became of the question whether it may run; absent until somebody asks. */
  #passage: Promise<Permit> | undefined;

  constructor(turn: TurnRunner, call: Call) {
    this.#turn = turn;
    this.#streamed = new StreamedInput(turn, call.toolCallId);
    this.#call = call;
    this.#asked = gateCallOf(turn, call, undefined);
  }

  get id(): string {
    return this.#call.toolCallId;
  }

  delta(content: string): void {
    this.#streamed.add(content);
  }

  async check(input: unknown, invocationMessage: string): Promise<Permit> {
    this.#call = { ...this.#call, invocationMessage, toolInput: inputText(input) };
    this.#asked = gateCallOf(this.#turn, this.#call, looseInput(input));
    const clearance = await passGates(this.#turn, this.#call, this.#asked);
    if (clearance.kind === 'denied') return deny(this.#turn, this.#call, clearance.reason);
    this.#notes = clearance.notes;
    this.#call = askedBy(this.#call, clearance);
    return this.#call.isAskedAnyway ? this.#pass() : { kind: 'granted' };
  }

  shown(input: unknown, invocationMessage: string): void {
    if (this.#passage) return;
    this.#call = { ...this.#call, invocationMessage, toolInput: inputText(input) };
    this.#asked = gateCallOf(this.#turn, this.#call, looseInput(input));
  }

  async confirm(confirmation: ToolConfirmation): Promise<Permit> {
    if (!this.#passage) this.#call = { ...this.#call, confirmation };
    return this.#pass();
  }

  /** Output that comes before anybody was asked means that the call runs. */
  progress(content: ToolResultContent[]): void {
    const { id: turnId } = this.#turn;
    const shown = boundedContent(content);
    const show = () =>
      this.#turn.write({ type: 'session/toolCallContentChanged', turnId, toolCallId: this.id, content: shown });
    // The turn may be over by then, and with it the call.
    this.#pass().then(show, () => {});
  }

  async complete(result: ToolCallResult): Promise<ToolOutcome> {
    await this.#pass();
    const outcome = await complete(this.#turn, this.#call, bounded(result));
    return withNotes(this.#turn, this.#asked, { outcome, notes: this.#notes });
  }

  #pass(): Promise<Permit> {
    this.#passage ??= this.#passOnce();
    return this.#passage;
  }

  async #passOnce(): Promise<Permit> {
    const passage = await passPerson(this.#turn, this.#call, this.#asked);
    if (passage.kind === 'denied') return passage;
    this.#notes = [...this.#notes, ...passage.notes];
    const isChanged = passage.input !== this.#asked.input;
    this.#asked = { ...this.#asked, input: passage.input };
    const { option } = passage;
    return {
      kind: 'granted',
      ...(isChanged && { input: passage.input }),
      ...(option !== undefined && { option }),
    };
  }
}
