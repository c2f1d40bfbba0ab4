/** One answer of the model: read as it streams in, shown through the turn, and its tool calls run. */

import type { ModelMessage, ToolModelMessage, ToolResultPart } from '@ai-sdk/provider-utils';
import type { AgentTurn, BegunCall, ToolOutcome } from '@atrium/core/contracts/agent.js';
import { sizeText } from '@atrium/core/util/text.js';
import { untilAborted } from '@atrium/core/util/waiting.js';
import type { ToolTable } from '../shared/tool-names.js';
import { TURN_ENDED_FIRST } from '../shared/tool-results.js';
import { parsedInput } from './answer-message.js';
import { successOutput } from './conversation.js';
import type { AnswerEvent, AnswerUsage, TakeEvent } from './request.js';

/** How many calls of one step are run; the model is told to make the others later. */
export const CALLS_PER_STEP_MAX = 100;
/** How many calls of one answer run, or wait for a person, at the same time. */
export const CALLS_AT_ONCE_MAX = 16;

/**
 * Most that one answer may have of each kind. At the first excess the reader ends the request: some servers never end.
 */
export const ANSWER_MAX = {
  /** In characters. */
  text: 2 ** 20,
  /** In characters. */
  reasoning: 2 ** 20,
  /** In characters, of all calls together. */
  input: 4 * 2 ** 20,
  calls: 1_000,
} as const;

type AnswerPart = keyof typeof ANSWER_MAX;

const EXCESS_MESSAGES: Readonly<Record<AnswerPart, string>> = {
  text: `${sizeText(ANSWER_MAX.text)} of text`,
  reasoning: `${sizeText(ANSWER_MAX.reasoning)} of thinking`,
  input: `${sizeText(ANSWER_MAX.input)} of input for tools`,
  calls: `${ANSWER_MAX.calls} calls`,
};

/** A call as the model made it. */
interface ModelCall {
  readonly id: string;
  /** The model's name for the tool. */
  readonly name: string;
  readonly input: unknown;
  /** Why the call cannot be run. */
  readonly problem: string | undefined;
  /** The call that people see; absent for calls beyond the limit, which are not run. */
  readonly begun: BegunCall | undefined;
}

export class AnswerReader {
  usage: AnswerUsage | undefined;
  finishReason: string | undefined;
  readonly #turn: AgentTurn;
  readonly #tools: ToolTable;
  readonly #remaining: Record<AnswerPart, number> = { ...ANSWER_MAX };
  /** The kind that exceeded its limit, in words. */
  #excess: string | undefined;
  /** Calls whose input is still arriving, by the model's id. */
  readonly #started = new Map<string, BegunCall | undefined>();
  #shownCalls = 0;
  #calls: ModelCall[] = [];
  #text = '';
  #hasBegun = false;
  #brokenOff: string | undefined;

  constructor(turn: AgentTurn, tools: ToolTable) {
    this.#turn = turn;
    this.#tools = tools;
  }

  get calls(): readonly ModelCall[] {
    return this.#calls;
  }

  /** True when any part of the answer has arrived. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Asks the model and reads the answer. Returns it as it must go back to the model. */
  async read(ask: (take: TakeEvent) => Promise<ModelMessage[]>): Promise<ModelMessage[]> {
    const messages = await ask((event) => this.#take(event));
    if (this.#excess !== undefined)
      return this.#breakOff(`The answer was broken off: it had more than ${this.#excess}.`);
    await Promise.all([...this.#started.values()].map((call) => call?.fail(UNFINISHED)));
    return messages;
  }

  /** What the model had said when the stream failed. */
  partial(): ModelMessage[] {
    return this.#text === '' ? [] : [{ role: 'assistant', content: this.#text }];
  }

  /** What people should know about the answer, but cannot see from it. */
  get note(): string | undefined {
    if (this.#brokenOff !== undefined) return `${this.#brokenOff} Send a message to let the model go on.`;
    const { length } = this.#calls;
    if (length > CALLS_PER_STEP_MAX) {
      return `The model made ${length} calls at once. The first ${CALLS_PER_STEP_MAX} are run; it was told so.`;
    }
    const isEmpty = this.#text.trim() === '' && length === 0;
    const empty = isEmpty ? 'The model ended without an answer. Send a message to try again.' : undefined;
    return NOTES_BY_REASON[this.finishReason ?? ''] ?? empty;
  }

  /** Takes an event; false when the answer exceeds a limit. */
  #take(event: AnswerEvent): boolean {
    this.#turn.signal.throwIfAborted();
    if (event.type === 'text') this.#addText(event.text);
    else if (event.type === 'reasoning') this.#think(event.text);
    else if (event.type === 'input-start') this.#started.set(event.id, this.#begin(event.name));
    else if (event.type === 'input') this.#write(event.id, event.text);
    else if (event.type === 'call') this.#call(event);
    else if (event.type === 'spent') this.usage = event.usage;
    else this.#finish(event);
    return this.#excess === undefined;
  }

  #addText(text: string): void {
    if (!this.#spend('text', text.length)) return;
    this.#text += text;
    this.#turn.text(text);
  }

  #think(text: string): void {
    if (this.#spend('reasoning', text.length)) this.#turn.reasoning(text);
  }

  #write(id: string, delta: string): void {
    if (this.#spend('input', delta.length)) this.#started.get(id)?.delta(delta);
  }

  /**
   * Begins a call. Models repeat ids from step to step, so the host makes its own. Calls beyond the limit are not
   * shown.
   */
  #begin(name: string): BegunCall | undefined {
    if (!this.#spend('calls', 1) || this.#shownCalls >= CALLS_PER_STEP_MAX) return undefined;
    this.#shownCalls += 1;
    return this.#turn.beginCall({ name: this.#tools.get(name)?.name ?? name });
  }

  #spend(part: AnswerPart, amount: number): boolean {
    if (amount === 0) return false;
    this.#hasBegun = true;
    this.#remaining[part] -= amount;
    if (this.#remaining[part] < 0) this.#excess ??= EXCESS_MESSAGES[part];
    return this.#remaining[part] >= 0;
  }

  /** Takes a complete call, which some servers send in one piece. */
  #call({ id, name, input: text }: Extract<AnswerEvent, { type: 'call' }>): void {
    const begun = this.#started.has(id) ? this.#started.get(id) : this.#begin(name);
    // Another call may come with the same id.
    this.#started.delete(id);
    const parsed = parsedInput(text);
    const problem = this.#tools.has(name) ? undefined : unknownTool(name, [...this.#tools.keys()]);
    const wrong = problem ?? ('problem' in parsed ? problemOf(`${parsed.problem}.`) : undefined);
    this.#calls.push({ id, name, input: 'value' in parsed ? parsed.value : text, problem: wrong, begun });
  }

  #finish({ usage, reason }: Extract<AnswerEvent, { type: 'finish' }>): void {
    this.usage = usage;
    this.finishReason = reason;
  }

  /** Breaks off: runs none of the calls, because the answer is incomplete, and tells the model why it was stopped. */
  async #breakOff(why: string): Promise<ModelMessage[]> {
    this.#brokenOff = why;
    const begun = [...this.#calls.map((call) => call.begun), ...this.#started.values()];
    this.#calls = [];
    await Promise.all(begun.map((call) => call?.fail(why)));
    return [{ role: 'assistant', content: `${this.#text}\n\n[${why}]`.trim() }];
  }
}

const UNFINISHED = 'The model did not finish writing this call, so it was not run.';

const NOTES_BY_REASON: Readonly<Record<string, string>> = {
  length: "The answer was cut off at the model's output limit. Ask it to go on.",
  'content-filter': "The provider's filter ended the answer.",
};

function unknownTool(name: string, known: readonly string[]): string {
  const tools = known.length === 0 ? 'There are no tools.' : `The tools are: ${known.join(', ')}.`;
  return problemOf(`there is no tool ${JSON.stringify(name)}. ${tools}`);
}

function problemOf(why: string): string {
  return `The call could not be run: ${why} Correct it and call again.`;
}

const TOO_MANY =
  `Not run: at most ${CALLS_PER_STEP_MAX} calls can be made in one step. ` +
  'Make this one in a later step, if it is still needed.';

/** Runs calls in parallel, up to a limit. The results are in the order of the calls. */
export async function runCalls(turn: AgentTurn, calls: readonly ModelCall[]): Promise<ToolModelMessage> {
  const content: ToolResultPart[] = [];
  const waiting = [...calls.entries()];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [index, call] = next;
      content[index] = resultPart(call, outputOf(await runCall(turn, call)));
    }
  };
  await Promise.all(Array.from({ length: Math.min(CALLS_AT_ONCE_MAX, calls.length) }, work));
  return { role: 'tool', content };
}

/** Placeholder results for a turn that ended first. */
export function abandonedResults(calls: readonly ModelCall[]): ToolModelMessage {
  const output = { type: 'error-text' as const, value: TURN_ENDED_FIRST };
  return { role: 'tool', content: calls.map((call) => resultPart(call, output)) };
}

async function runCall(turn: AgentTurn, { begun, input, problem }: ModelCall): Promise<ToolOutcome> {
  if (!begun) return { kind: 'completed', success: false, text: TOO_MANY, content: [] };
  return untilAborted(turn.signal, problem === undefined ? begun.run(input) : begun.fail(problem));
}

function outputOf(outcome: ToolOutcome): ToolResultPart['output'] {
  if (outcome.kind === 'denied') return { type: 'execution-denied', reason: `The call was denied: ${outcome.reason}` };
  const { success, text, content } = outcome;
  return success ? successOutput(text, content) : { type: 'error-text', value: text };
}

function resultPart({ id, name }: ModelCall, output: ToolResultPart['output']): ToolResultPart {
  return { type: 'tool-result', toolCallId: id, toolName: name, output };
}
