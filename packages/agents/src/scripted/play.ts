/** Plays the steps of a script on a turn, one after the other. */
import { AgentError, type AgentTurn, type ToolOutcome } from '@atrium/core/contracts/agent.js';
import type { Clock } from '@atrium/core/util/clock.js';
import { pause, untilAborted } from '@atrium/core/util/waiting.js';
import type { ScriptedTool, ScriptedWorker, Step, StepKind, Steps, Streaming } from './script.js';

/** Plays the steps of a script from a file, with values of the turn filled in. */
export async function playScript(steps: readonly Step[], turn: AgentTurn, clock: Clock): Promise<void> {
  let values: Values = { text: turn.message.text, lastResult: '', steering: '' };
  for (const [index, step] of steps.entries()) {
    turn.signal.throwIfAborted();
    const steering = turn.takeSteering()?.text ?? values.steering;
    values = { ...values, steering };
    const result = await playStep(substitute(step, values), { turn, clock, index });
    if (typeof result === 'string') values = { ...values, lastResult: result };
  }
}

/** Plays one step. Returns a string when it has a result, such as a tool's output. */
export async function playStep(step: Step, playing: Playing): Promise<unknown> {
  return playerOf(step)(step, playing);
}

interface Playing {
  readonly turn: AgentTurn;
  readonly clock: Clock;
  /** The number of the step in its script. */
  readonly index: number;
  /** Milliseconds between deltas, for steps that do not say. */
  readonly everyMs?: number;
  /** Called with every delta of text and reasoning. */
  readonly onDelta?: (chunk: string) => void;
}

type Player<S> = (step: S, playing: Playing) => unknown;

const PLAYERS: { readonly [Kind in StepKind]: Player<Steps[Kind]> } = {
  text: (step, playing) => stream(step.text, step, playing, (delta) => playing.turn.text(delta)),
  reasoning: (step, playing) => stream(step.reasoning, step, playing, (delta) => playing.turn.reasoning(delta)),
  tool: ({ tool }, { turn }) => resultOf(turn, turn.scriptedTool(scriptedCall(tool))),
  callTool: ({ callTool: { name, input = {} } }, { turn }) => resultOf(turn, turn.callTool({ name, input })),
  usage: ({ usage }, { turn }) => turn.usage(usage),
  title: ({ title }, { turn }) => turn.title(title),
  ask: async ({ ask }, { turn, index }) => {
    const request = { ...ask, id: ask.id ?? `${turn.id}-ask-${index}` };
    return JSON.stringify((await untilAborted(turn.signal, turn.ask(request))).answers);
  },
  delayMs: async ({ delayMs }, { turn, clock }) => {
    await pause(clock, delayMs, turn.signal);
    turn.signal.throwIfAborted();
  },
  error: ({ error }) => {
    throw new AgentError(error.errorType, error.message);
  },
  showPrompt: async ({ showPrompt }, { turn }) => {
    const prompt = await untilAborted(turn.signal, turn.renderPrompt());
    turn.text(showPrompt === true ? [...prompt.values()].join('\n\n') : sectionOf(prompt, showPrompt));
  },
  worker: ({ worker }, playing) => playWorker(worker, playing),
};

/** Plays a worker's tool call, and the worker in its own chat. The result is what the worker said last. */
async function playWorker({ id, title, prompt, steps }: ScriptedWorker, { turn, clock }: Playing): Promise<string> {
  const call = turn.agentRunCall({ name: 'worker', displayName: 'Worker', ...(id !== undefined && { id }) });
  call.shown({ title, prompt }, `Give a task: ${title}`);
  const run = (inner: AgentTurn) => playScript(steps, inner, clock);
  const { chat, ended } = turn.openWorker({ toolCallId: call.id, title, prompt, run });
  const shown = { type: 'subagent' as const, resource: chat, title };
  call.progress([shown]);
  const { state, text, error } = await untilAborted(turn.signal, ended);
  const success = state === 'complete';
  const answer = success ? text : (error ?? 'The worker was stopped.');
  const pastTenseMessage = success ? `Did a task: ${title}` : `Did not finish a task: ${title}`;
  const content = [shown, { type: 'text' as const, text: answer }];
  await untilAborted(turn.signal, call.complete({ success, pastTenseMessage, content }));
  return answer;
}

function playerOf(step: Step): Player<Step> {
  const kind = (Object.keys(PLAYERS) as StepKind[]).find((key) => Object.hasOwn(step, key));
  if (!kind) throw new AgentError('script', `The script has a step of no known kind: ${JSON.stringify(step)}`);
  return PLAYERS[kind] as Player<Step>;
}

async function stream(
  text: string,
  { chunk, everyMs }: Streaming,
  { turn, clock, onDelta, everyMs: usualMs }: Playing,
  emit: (delta: string) => void,
): Promise<void> {
  const pauseMs = everyMs ?? usualMs;
  for (const [index, delta] of deltasOf(text, chunk).entries()) {
    if (index > 0 && pauseMs !== undefined) await pause(clock, pauseMs, turn.signal);
    const behind = turn.caughtUp();
    if (behind) await behind;
    turn.signal.throwIfAborted();
    onDelta?.(delta);
    emit(delta);
  }
}

/** Splits a text into words, or into pieces of this many characters. Never splits a character. */
function deltasOf(text: string, chunk: Streaming['chunk']): string[] {
  if (text === '') return [];
  if (chunk === undefined) return [text];
  if (chunk === 'words') return wordsOf(text);
  const all = Array.from(text);
  const pieces = Math.ceil(all.length / chunk);
  return Array.from({ length: pieces }, (_, piece) => all.slice(piece * chunk, (piece + 1) * chunk).join(''));
}

const FENCE = /^`{3,}/;

/** Splits Markdown into words, but code into lines. */
export function wordsOf(markdown: string): string[] {
  let inCode = false;
  return markdown.split(/(?<=\n)/).flatMap((line) => {
    const isFence = FENCE.test(line);
    if (isFence) inCode = !inCode;
    return isFence || inCode ? [line] : (line.match(/\s*\S+\s*/g) ?? [line]);
  });
}

function scriptedCall({ input, ...call }: ScriptedTool) {
  if (input === undefined) return call;
  return { ...call, input: typeof input === 'string' ? input : JSON.stringify(input) };
}

async function resultOf(turn: AgentTurn, call: Promise<ToolOutcome>): Promise<string> {
  const outcome = await untilAborted(turn.signal, call);
  return outcome.kind === 'denied' ? outcome.reason : outcome.text;
}

function sectionOf(prompt: ReadonlyMap<string, string>, id: string): string {
  const text = prompt.get(id);
  if (text !== undefined) return text;
  const known = [...prompt.keys()].join(', ') || 'none';
  throw new AgentError('script', `The prompt has no section "${id}"; it has: ${known}.`);
}

/** Values that the strings of a step may name as `${…}`. */
interface Values {
  /** The person's message. */
  readonly text: string;
  /** The last tool's output, the reason why it was denied, or the answers to the last question. */
  readonly lastResult: string;
  /** The person's last message that steered the turn. */
  readonly steering: string;
}

/** Fills in values in one pass: inserted text is not searched again, and unknown names stay. */
function substitute(step: Step, values: Values): Step {
  if (!('worker' in step)) return replaceIn(step, values) as Step;
  // The worker's own turn fills in the values of its steps.
  const { steps, ...worker } = step.worker;
  return { worker: { ...(replaceIn(worker, values) as typeof worker), steps } };
}

function replaceIn(template: unknown, values: Values): unknown {
  if (typeof template === 'string') return replaceInText(template, values);
  if (Array.isArray(template)) return template.map((item) => replaceIn(item, values));
  if (typeof template !== 'object' || template === null) return template;
  return Object.fromEntries(Object.entries(template).map(([key, member]) => [key, replaceIn(member, values)]));
}

function replaceInText(template: string, values: Values): string {
  return template.replace(/\$\{(text|lastResult|steering)\}/g, (_, name: keyof Values) => values[name]);
}
