/** Notes that gates and hooks leave at a call: the model reads them with the result, people see them in the turn. */
import type { ToolOutcome } from '../contracts/agent.js';
import type { Extension, GateCall } from '../contracts/extension.js';
import { EXTENSION_TIMEOUT_MS, GATE_TEXT_MAX_CHARACTERS } from '../limits.js';
import type { TurnRunner } from '../sessions/turn.js';
import { within } from './deadline.js';

interface Noted {
  readonly outcome: ToolOutcome;
  readonly notes: readonly string[];
}

/** What somebody has to say about a call, with their name before it. */
export function attributed(from: string, text: string): string {
  return `${from}: ${text}`.slice(0, GATE_TEXT_MAX_CHARACTERS);
}

/** The outcome with what was noted before the call, and with what is noted now that it is over. */
export async function withNotes(turn: TurnRunner, call: GateCall, { outcome, notes }: Noted): Promise<ToolOutcome> {
  // A call that did not run leaves nothing to look at.
  if (outcome.kind === 'denied') return outcome;
  const extensions = turn.session.extensions.all().filter(({ afterCall }) => afterCall);
  const after = await Promise.all(extensions.map((extension) => noteOf(turn, extension, { call, outcome })));
  // Gates that were asked twice, because a person changed the input, may have said the same twice.
  const all = [...new Set([...notes, ...after.flat()])];
  for (const note of all) turn.notify(note);
  if (all.length === 0) return outcome;
  return { ...outcome, text: [outcome.text, ...all.map((note) => `[Note of ${note}]`)].join('\n\n') };
}

/** One that fails has nothing to say: the call is over. */
async function noteOf(
  turn: TurnRunner,
  extension: Extension,
  { call, outcome }: { call: GateCall; outcome: ToolOutcome },
): Promise<string[]> {
  const { clock, logger } = turn.session.parts.core;
  const limit = { clock, signal: turn.signal, timeoutMs: EXTENSION_TIMEOUT_MS };
  try {
    const note = await within(limit, (signal) => extension.afterCall?.(call, outcome, signal));
    return note === undefined ? [] : [attributed(extension.name, note)];
  } catch (error) {
    turn.signal.throwIfAborted();
    logger.log('warn', 'an extension failed', {
      session: call.session,
      extension: extension.name,
      error: String(error),
    });
    return [];
  }
}
