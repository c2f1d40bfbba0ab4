/** Notes that gates and hooks leave at a call: the model reads them with the result, people see them in the turn. */
import type { ToolOutcome } from '../agents/agent.js';
import type { GateCall } from '../extensions/extension.js';
import type { TurnRunner } from '../sessions/turn.js';

interface Noted {
  readonly outcome: ToolOutcome;
  readonly notes: readonly string[];
}

/** The outcome with what was noted before the call, and with what is noted now that it is over. */
export async function withNotes(turn: TurnRunner, call: GateCall, { outcome, notes }: Noted): Promise<ToolOutcome> {
  const all = [...notes, ...(await notesAfter(turn, call, outcome))];
  if (all.length === 0 || outcome.kind === 'denied') return outcome;
  for (const note of all) turn.notify(note);
  return { ...outcome, text: [outcome.text, ...all.map((note) => `[Note of ${note}]`)].join('\n\n') };
}

/** One that fails has nothing to say: the call is over. */
async function notesAfter(turn: TurnRunner, call: GateCall, outcome: ToolOutcome): Promise<string[]> {
  const told = turn.session.extensions.all().map(async (extension) => {
    const note = await extension.afterCall?.(call, outcome, turn.signal).catch(() => undefined);
    return note === undefined ? [] : [`${extension.name}: ${note}`];
  });
  return (await Promise.all(told)).flat();
}
