/**
 * Steps before a person is asked: rules, then gates and hooks. The first objection ends the call; a gate that fails has
 * objected. No objection is not a permission: whether a person must be asked is decided afterwards.
 */
import type { Gate, GateCall, GateVerdict } from '../extensions/extension.js';
import { GATES_TIMEOUT_MS } from '../limits.js';
import type { TurnRunner } from '../sessions/turn.js';
import { type Call, waitingFor } from './call-steps.js';

export type Clearance =
  | { readonly kind: 'cleared'; readonly notes: readonly string[]; readonly ask?: string }
  | { readonly kind: 'denied'; readonly reason: string };

export async function passGates(turn: TurnRunner, call: Call, gateCall: GateCall): Promise<Clearance> {
  const gates = turn.session.extensions.gates().filter((gate) => gate.concerns(gateCall));
  if (gates.length === 0) return { kind: 'cleared', notes: [] };
  const rules = gates.filter(({ isStatic }) => isStatic);
  const others = gates.filter(({ isStatic }) => !isStatic);
  const first = clearanceOf(await Promise.all(rules.map((gate) => ask(turn, gate, gateCall))));
  if (first.kind === 'denied' || others.length === 0) return first;
  waitingFor(
    turn,
    call,
    others.map(({ name }) => name),
  );
  const second = clearanceOf(await untilDenied(others.map((gate) => ask(turn, gate, gateCall))));
  if (second.kind === 'denied') return second;
  const question = first.ask ?? second.ask;
  return {
    kind: 'cleared',
    notes: [...first.notes, ...second.notes],
    ...(question !== undefined && { ask: question }),
  };
}

interface Answer {
  readonly from: string;
  readonly verdict: GateVerdict;
}

/** Any refusal wins, and nobody waits for the others then. */
function untilDenied(answers: readonly Promise<Answer>[]): Promise<Answer[]> {
  return new Promise((resolve, reject) => {
    for (const answer of answers) {
      answer.then((given) => given.verdict.kind === 'deny' && resolve([given]), reject);
    }
    Promise.all(answers).then(resolve, reject);
  });
}

function clearanceOf(answers: readonly Answer[]): Clearance {
  const notes: string[] = [];
  let question: string | undefined;
  for (const { from, verdict } of answers) {
    if (verdict.kind === 'deny') return { kind: 'denied', reason: `${from}: ${verdict.reason}` };
    if (verdict.kind === 'ask') question ??= `${from}: ${verdict.reason}`;
    else if (verdict.note !== undefined) notes.push(`${from}: ${verdict.note}`);
  }
  return { kind: 'cleared', notes, ...(question !== undefined && { ask: question }) };
}

/** Whatever goes wrong with a gate, the call does not run. */
async function ask(turn: TurnRunner, gate: Gate, call: GateCall): Promise<Answer> {
  const { clock, logger } = turn.session.parts.core;
  const overdue = new AbortController();
  const timeoutMs = gate.timeoutMs ?? GATES_TIMEOUT_MS;
  const cancelTimer = clock.after(timeoutMs, () => overdue.abort(new Error(`no answer in ${timeoutMs / 1_000} s`)));
  const signal = AbortSignal.any([turn.signal, overdue.signal]);
  try {
    const verdict = await Promise.race([gate.check(call, signal), rejected(signal)]);
    return { from: gate.name, verdict };
  } catch (error) {
    turn.signal.throwIfAborted();
    const why = error instanceof Error ? error.message : String(error);
    logger.log('warn', 'a gate failed; the call does not run', { session: call.session, gate: gate.name, error: why });
    return {
      from: gate.name,
      verdict: { kind: 'deny', reason: `the check failed, so the call does not run (${why})` },
    };
  } finally {
    cancelTimer();
  }
}

function rejected(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
