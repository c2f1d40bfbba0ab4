/** Plays the steps of a script on a turn, one after the other. */

import { AgentError, type AgentTurn, type ToolOutcome } from '../../core/contracts/agent.js';
import type { Clock } from '../../core/util/clock.js';
import { untilAborted } from '../../core/util/waiting.js';
import { chunksOf, inPace, pause } from './pace.js';
import type { ScriptedTool, Step, StepKind, Steps, Streaming } from './script.js';
import { substitute, type Values } from './substitute.js';

interface Playing {
  readonly turn: AgentTurn;
  readonly clock: Clock;
  /** Which step of the script this is. */
  readonly index: number;
}

/** A string that it returns is `${lastResult}` from now on. */
type Player<S> = (step: S, playing: Playing) => unknown;

export async function play(steps: readonly Step[], turn: AgentTurn, clock: Clock): Promise<void> {
  let values: Values = { text: turn.message.text, lastResult: '', steering: '' };
  for (const [index, step] of steps.entries()) {
    turn.signal.throwIfAborted();
    const steering = turn.takeSteering()?.text ?? values.steering;
    values = { ...values, steering };
    const result = await playerOf(step)(substitute(step, values), { turn, clock, index });
    if (typeof result === 'string') values = { ...values, lastResult: result };
  }
}

const PLAYERS: { readonly [Kind in StepKind]: Player<Steps[Kind]> } = {
  text: (step, playing) => stream(step.text, step, playing, (chunk) => playing.turn.text(chunk)),
  reasoning: (step, playing) => stream(step.reasoning, step, playing, (chunk) => playing.turn.reasoning(chunk)),
  tool: ({ tool }, { turn }) => resultOf(turn, turn.cannedTool(cannedCall(tool))),
  callTool: ({ callTool: { name, input = {} } }, { turn }) => resultOf(turn, turn.callTool({ name, input })),
  usage: ({ usage }, { turn }) => turn.usage(usage),
  title: ({ title }, { turn }) => turn.title(title),
  ask: async ({ ask }, { turn, index }) => {
    const request = { ...ask, id: ask.id ?? `${turn.id}-ask-${index}` };
    return JSON.stringify((await untilAborted(turn.signal, turn.ask(request))).answers);
  },
  delayMs: ({ delayMs }, { turn, clock }) => pause(clock, delayMs, turn.signal),
  error: ({ error }) => {
    throw new AgentError(error.errorType, error.message);
  },
  showPrompt: async ({ showPrompt }, { turn }) => {
    const prompt = await untilAborted(turn.signal, turn.renderPrompt());
    turn.text(showPrompt === true ? [...prompt.values()].join('\n\n') : sectionOf(prompt, showPrompt));
  },
};

function playerOf(step: Step): Player<Step> {
  const kind = (Object.keys(PLAYERS) as StepKind[]).find((key) => Object.hasOwn(step, key));
  if (!kind) throw new AgentError('script', `The script has a step of no known kind: ${JSON.stringify(step)}`);
  return PLAYERS[kind] as Player<Step>;
}

function stream(
  text: string,
  { chunk, everyMs }: Streaming,
  { turn, clock }: Playing,
  emit: (chunk: string) => void,
): Promise<void> {
  return inPace(chunksOf(text, chunk), { clock, signal: turn.signal, everyMs }, emit);
}

function cannedCall({ input, ...call }: ScriptedTool) {
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
