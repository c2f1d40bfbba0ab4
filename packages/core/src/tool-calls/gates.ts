/**
 * Collects what extensions say about a call: rules, gates and hooks before it runs, a note after it. The first
 * objection ends the call, and a gate that fails counts as an objection. No objection is not yet permission: whether a
 * person must be asked is decided afterwards.
 */
import { setMaxListeners } from 'node:events';
import type { ToolOutcome } from '../contracts/agent.js';
import type { Extension, Gate, GateCall, GateVerdict } from '../contracts/extension.js';
import type { Attributes } from '../contracts/telemetry.js';
import { errorText } from '../util/text.js';
import { withDeadline } from '../util/waiting.js';
import type { CallContext } from './call-context.js';
import { EXTENSION_TIMEOUT_MS, GATE_TEXT_MAX_CHARACTERS, GATES_TIMEOUT_MS } from './limits.js';

export type Clearance =
  /** `ask` says why a person must decide. */
  | { readonly kind: 'cleared'; readonly notes: readonly string[]; readonly ask?: string }
  | { readonly kind: 'denied'; readonly reason: string };

/** Created only once: an error collects its stack, which takes longer than asking a gate. */
const DECIDED = new DOMException('the call is decided', 'AbortError');

/**
 * Asks static gates first, then all others at once. `waiting` is called with the names of gates that do not answer in
 * this turn of the event loop.
 */
export async function passGates(
  context: CallContext,
  call: GateCall,
  waiting: (names: readonly string[]) => void,
): Promise<Clearance> {
  // The agent may not know yet that its turn has ended, and must not take silence for consent.
  context.signal.throwIfAborted();
  const gates = concernedGates(context.extensions.gates(), call);
  if (gates.length === 0) return { kind: 'cleared', notes: [] };
  const wanted = new AbortController();
  const stop = () => wanted.abort(context.signal.reason);
  context.signal.addEventListener('abort', stop, { once: true });
  // Every gate listens; without this, Node would warn of a leak.
  setMaxListeners(0, wanted.signal);
  let shown: NodeJS.Immediate | undefined;
  try {
    const ask = (gate: Gate) => answerOf(context, gate, { call, signal: wanted.signal });
    const rules = await untilDenied(gates.filter(({ isStatic }) => isStatic).map(ask));
    const first = clearanceOf(rules);
    if (first.kind === 'denied') return first;
    const others = gates.filter(({ isStatic }) => !isStatic).map((gate) => ({ gate, answer: ask(gate) }));
    const slow = others.filter(({ answer }) => answer instanceof Promise).map(({ gate }) => gate.name);
    if (slow.length > 0) shown = setImmediate(() => waiting([...new Set(slow)]));
    const given = await untilDenied(others.map(({ answer }) => answer));
    context.signal.throwIfAborted();
    return clearanceOf([...rules, ...given]);
  } finally {
    clearImmediate(shown);
    context.signal.removeEventListener('abort', stop);
    // Stops gates that have not answered: the call is decided.
    wanted.abort(DECIDED);
  }
}

/** The gates that check this call. Most have nothing to say about it; one that throws here denies it. */
function concernedGates(gates: readonly Gate[], call: GateCall): Gate[] {
  return gates.flatMap((gate) => {
    try {
      return gate.concerns(call) ? [gate] : [];
    } catch (error) {
      return [brokenGate(gate, error)];
    }
  });
}

function brokenGate({ name, isStatic = false }: Gate, error: unknown): Gate {
  const check = () => {
    throw error;
  };
  return { name, isStatic, concerns: () => true, check };
}

interface Answer {
  readonly from: string;
  readonly verdict: GateVerdict;
}

interface Question {
  readonly call: GateCall;
  readonly signal: AbortSignal;
}

/** The answer of one gate. If anything goes wrong with a gate, the call does not run. */
function answerOf(context: CallContext, gate: Gate, { call, signal }: Question): Answer | Promise<Answer> {
  const { name: from, timeoutMs = GATES_TIMEOUT_MS } = gate;
  const { clock, logger, telemetry } = context;
  const failed = (error: unknown): Answer => {
    const why = errorText(error);
    // A gate that was told to stop has not failed.
    if (!signal.aborted) logger.log('warn', 'a gate failed', { session: call.session, gate: from, error: why });
    return { from, verdict: { kind: 'deny', reason: `the check failed, so the call does not run (${why})` } };
  };
  try {
    const verdict = withDeadline({ clock, signal, timeoutMs }, (stopped) => gate.check(call, stopped));
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
  throw new Error('its answer must be pass, ask or deny');
}

/** All answers, or only the first denial: any denial wins, so the call does not wait for the others. */
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

/** What an extension says, with its name in front. */
export function attributed(from: string, text: string): string {
  return `${from}: ${text}`.slice(0, GATE_TEXT_MAX_CHARACTERS);
}

/** Tells every extension, one after another, that a call which the host does not run itself begins or has ended. */
export async function notifyExtensions(
  { extensions, logger, session }: CallContext,
  notify: (extension: Extension) => Promise<void> | undefined,
): Promise<void> {
  for (const extension of extensions.all()) {
    try {
      await notify(extension);
    } catch (error) {
      // A failure stops neither the call nor the turn: extensions are only informed here.
      logger.log('warn', 'an extension failed', { session, extension: extension.name, error: String(error) });
    }
  }
}

interface Noted {
  readonly outcome: ToolOutcome;
  /** Notes of gates from before the call. */
  readonly notes: readonly string[];
}

/**
 * Adds the notes of gates and of `afterCall` hooks to an outcome: the model reads them with the result, people see them
 * in the turn.
 */
export async function withNotes(context: CallContext, call: GateCall, { outcome, notes }: Noted): Promise<ToolOutcome> {
  // A call that did not run needs no notes.
  if (outcome.kind === 'denied') return outcome;
  const extensions = context.extensions.all().filter(({ afterCall }) => afterCall);
  const after = await Promise.all(extensions.map((extension) => noteOf(context, extension, { call, outcome })));
  // Gates are asked again when a person changed the input, and may repeat a note.
  const all = [...new Set([...notes, ...after.flat()])];
  for (const note of all) context.notify(note);
  if (all.length === 0) return outcome;
  return { ...outcome, text: [outcome.text, ...all.map((note) => `[Note of ${note}]`)].join('\n\n') };
}

/** The note of one extension; none when it fails, because the call is over. */
async function noteOf(
  { clock, logger, signal }: CallContext,
  extension: Extension,
  { call, outcome }: { call: GateCall; outcome: ToolOutcome },
): Promise<string[]> {
  const { name } = extension;
  try {
    const note = await withDeadline({ clock, signal, timeoutMs: EXTENSION_TIMEOUT_MS }, (stopped) =>
      extension.afterCall?.(call, outcome, stopped),
    );
    return note === undefined ? [] : [attributed(name, note)];
  } catch (error) {
    signal.throwIfAborted();
    logger.log('warn', 'an extension failed', { session: call.session, extension: name, error: String(error) });
    return [];
  }
}
