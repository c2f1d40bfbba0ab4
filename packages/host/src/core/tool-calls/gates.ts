/**
 * Steps before a person is asked: rules, then gates and hooks. The first objection ends the call; a gate that fails has
 * objected. No objection is not a permission: whether a person must be asked is decided afterwards.
 */
import { setMaxListeners } from 'node:events';
import type { Gate, GateCall, GateVerdict } from '../contracts/extension.js';
import type { Attributes } from '../contracts/telemetry.js';
import { GATES_TIMEOUT_MS } from '../limits.js';
import type { TurnRunner } from '../sessions/turn.js';
import { type Call, waitingFor } from './call-steps.js';
import { within } from './deadline.js';
import { attributed } from './notes.js';

export type Clearance =
  /** `ask`: a person must decide, and why. */
  | { readonly kind: 'cleared'; readonly notes: readonly string[]; readonly ask?: string }
  | { readonly kind: 'denied'; readonly reason: string };

const NO_OPINION: Clearance = { kind: 'cleared', notes: [] };

/** Gates that only know rules are asked first; the others are asked together, and people see for whom the call waits. */
export async function passGates(turn: TurnRunner, call: Call, gateCall: GateCall): Promise<Clearance> {
  // An agent that has not yet heard of the end of its turn must not take silence for consent.
  turn.signal.throwIfAborted();
  const gates = turn.session.extensions.gates();
  if (gates.length === 0) return NO_OPINION;
  const wanted = new AbortController();
  const stop = () => wanted.abort(turn.signal.reason);
  turn.signal.addEventListener('abort', stop, { once: true });
  // As many gates listen as there are: that is no leak.
  setMaxListeners(0, wanted.signal);
  try {
    const ask = (gate: Gate) => answerOf(turn, gate, { call: gateCall, signal: wanted.signal });
    const rules = await untilDenied(gates.filter(({ isStatic }) => isStatic).map(ask));
    const first = clearanceOf(rules);
    if (first.kind === 'denied') return first;
    const others = gates.filter(({ isStatic }) => !isStatic).map((gate) => ({ gate, answer: ask(gate) }));
    const slow = others.filter(({ answer }) => answer instanceof Promise).map(({ gate }) => gate.name);
    if (slow.length > 0) waitingFor(turn, call, slow);
    const given = await untilDenied(others.map(({ answer }) => answer));
    turn.signal.throwIfAborted();
    return clearanceOf([...rules, ...given]);
  } finally {
    turn.signal.removeEventListener('abort', stop);
    // Whoever has not answered by now need not.
    wanted.abort();
  }
}

interface Answer {
  readonly from: string;
  readonly verdict: GateVerdict;
}

interface Question {
  readonly call: GateCall;
  readonly signal: AbortSignal;
}

/** Whatever goes wrong with a gate, the call does not run. */
function answerOf(turn: TurnRunner, gate: Gate, { call, signal }: Question): Answer | Promise<Answer> {
  const { name: from, timeoutMs = GATES_TIMEOUT_MS } = gate;
  const { clock, logger, telemetry } = turn.session.parts.core;
  const failed = (error: unknown): Answer => {
    const why = error instanceof Error ? error.message : String(error);
    // One that was told to stop has not failed.
    if (!signal.aborted) logger.log('warn', 'a gate failed', { session: call.session, gate: from, error: why });
    return { from, verdict: { kind: 'deny', reason: `the check failed, so the call does not run (${why})` } };
  };
  try {
    if (!gate.concerns(call)) return { from, verdict: { kind: 'pass' } };
    const verdict = within({ clock, signal, timeoutMs }, (stopped) => gate.check(call, stopped));
    telemetry.count('atrium.gate.checks', '{check}', 1, { 'atrium.gate': from });
    if (!(verdict instanceof Promise)) return { from, verdict: understood(verdict) };
    const timed = telemetry.around('atrium.gate', attributesOf(call, from), () => verdict);
    return timed.then((given) => ({ from, verdict: understood(given) })).catch(failed);
  } catch (error) {
    return failed(error);
  }
}

function attributesOf({ session, turnId, toolCallId }: GateCall, gate: string): Attributes {
  const ids = { 'ahp.session.id': session, 'ahp.turn.id': turnId, 'ahp.tool_call.id': toolCallId };
  return { ...ids, 'atrium.gate': gate };
}

function understood(verdict: GateVerdict): GateVerdict {
  if (verdict?.kind === 'pass' || verdict?.kind === 'ask' || verdict?.kind === 'deny') return verdict;
  throw new Error('it answered nothing that makes sense');
}

/** Any refusal wins, and nobody waits for the others then. */
function untilDenied(answers: readonly (Answer | Promise<Answer>)[]): Answer[] | Promise<Answer[]> {
  const here = answers.flatMap((answer) => (answer instanceof Promise ? [] : [answer]));
  const denial = here.find(({ verdict }) => verdict.kind === 'deny');
  if (denial) return [denial];
  if (here.length === answers.length) return here;
  return new Promise((resolve, reject) => {
    for (const answer of answers) {
      Promise.resolve(answer).then((given) => given.verdict.kind === 'deny' && resolve([given]), reject);
    }
    Promise.all(answers).then(resolve, reject);
  });
}

function clearanceOf(answers: readonly Answer[]): Clearance {
  const notes: string[] = [];
  let question: string | undefined;
  for (const { from, verdict } of answers) {
    if (verdict.kind === 'deny') return { kind: 'denied', reason: attributed(from, verdict.reason) };
    if (verdict.kind === 'ask') question ??= attributed(from, verdict.reason);
    else if (verdict.note !== undefined) notes.push(attributed(from, verdict.note));
  }
  return { kind: 'cleared', notes, ...(question !== undefined && { ask: question }) };
}
