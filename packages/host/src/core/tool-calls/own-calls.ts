/** A call of a tool that the agent runs itself: it is shown, gated and confirmed like any other, as far as it asks. */
import type { ToolCallResult, ToolResultContent } from '@atrium/protocol';
import type { OwnCall, OwnCallStart, Permit, ToolOutcome } from '../contracts/agent.js';
import type { GateCall } from '../contracts/extension.js';
import type { ToolConfirmation } from '../contracts/tool.js';
import type { TurnRunner } from '../sessions/turn.js';
import { shorten } from '../util/text.js';
import { inputText, looseInput, SHOWN_MAX_CHARACTERS, sizeProblem } from './arguments.js';
import { progressContent } from './bounded-result.js';
import {
  CALL_NAME_MAX_CHARACTERS,
  CALL_WORDS_MAX_CHARACTERS,
  type Call,
  callId,
  complete,
  deny,
  gateCallOf,
  startCall,
} from './call-steps.js';
import { passGates } from './gates.js';
import { withNotes } from './notes.js';
import { tellBegins, tellEnds } from './outside-calls.js';
import { askedBy, passPerson } from './permission.js';
import { StreamedInput } from './streamed-input.js';

export function beginOwnCall(turn: TurnRunner, { id, name, displayName }: OwnCallStart): OwnCall {
  const short = (text: string) => shorten(text, CALL_NAME_MAX_CHARACTERS);
  const started = { toolCallId: callId(turn, id), name: short(name), displayName: short(displayName) };
  startCall(turn, started);
  return new RunByAgent(turn, { ...started, invocationMessage: displayName, toolInput: '' });
}

/** What a backend says about a call, in one line or a few. */
function withinWords(text: string): string {
  return text.length <= CALL_WORDS_MAX_CHARACTERS ? text : `${text.slice(0, CALL_WORDS_MAX_CHARACTERS)}…`;
}

class RunByAgent implements OwnCall {
  readonly #turn: TurnRunner;
  readonly #streamed: StreamedInput;
  #call: Call;
  #asked: GateCall;
  #notes: readonly string[] = [];
  /** Why its input cannot be taken as it is. */
  #problem: string | undefined;
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
    return this.#begun(await this.#checked(input, invocationMessage));
  }

  async #checked(input: unknown, invocationMessage: string): Promise<Permit> {
    this.#show(input, invocationMessage);
    if (this.#problem !== undefined) return deny(this.#turn, this.#call, this.#problem);
    const clearance = await passGates(this.#turn, this.#call, this.#asked);
    if (clearance.kind === 'denied') return deny(this.#turn, this.#call, clearance.reason);
    this.#notes = clearance.notes;
    this.#call = askedBy(this.#call, clearance);
    return this.#call.isAskedAnyway ? this.#pass() : { kind: 'granted' };
  }

  shown(input: unknown, invocationMessage: string): void {
    if (!this.#passage) this.#show(input, invocationMessage);
  }

  async confirm(confirmation: ToolConfirmation): Promise<Permit> {
    // Nobody is asked about an input of which they see only the beginning.
    if (!this.#passage && this.#problem !== undefined) return deny(this.#turn, this.#call, this.#problem);
    const title = withinWords(confirmation.title);
    if (!this.#passage) this.#call = { ...this.#call, confirmation: { ...confirmation, title } };
    return this.#begun(await this.#pass());
  }

  /** Whoever wants to know when it runs is told before it does. */
  async #begun(permit: Permit): Promise<Permit> {
    if (permit.kind === 'granted') await tellBegins(this.#turn, this.#asked);
    return permit;
  }

  /** Output that comes before anybody was asked means that the call runs. */
  progress(content: ToolResultContent[]): void {
    const { id: turnId } = this.#turn;
    const shown = progressContent(content);
    const show = () =>
      this.#turn.write({ type: 'session/toolCallContentChanged', turnId, toolCallId: this.id, content: shown });
    // The turn may be over by then, and with it the call.
    this.#pass().then(show, () => {});
  }

  async complete(result: ToolCallResult): Promise<ToolOutcome> {
    await this.#pass();
    await tellEnds(this.#turn, this.#asked);
    const outcome = await complete(this.#turn, this.#call, result);
    return withNotes(this.#turn, this.#asked, { outcome, notes: this.#notes });
  }

  /** Input that is too long is stored and sent as far as people would read it. */
  #show(input: unknown, invocationMessage: string): void {
    const text = inputText(input);
    this.#problem = sizeProblem(text);
    const toolInput = this.#problem === undefined ? text : shorten(text, SHOWN_MAX_CHARACTERS);
    this.#call = { ...this.#call, invocationMessage: withinWords(invocationMessage), toolInput };
    this.#asked = gateCallOf(this.#turn, this.#call, looseInput(input));
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
