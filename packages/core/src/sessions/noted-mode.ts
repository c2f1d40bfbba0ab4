/** The modes that turns note: a turn has a line about its mode where that is another than before. */
import { MODE_LABELS, PERMISSION_MODES, type PermissionMode, type Turn } from '@atrium/protocol/ahp-1';

const NOTE = 'Mode: ';

export function noteOf(mode: PermissionMode): string {
  return `${NOTE}${MODE_LABELS[mode]}`;
}

type Noting = Pick<Turn, 'responseParts'>;

/** The note that these turns made last. Turns in the usual mode have none. */
export function lastNote(turns: readonly Noting[]): string {
  for (const { responseParts } of turns.toReversed())
    for (const part of responseParts.toReversed()) {
      const note = noteIn(part);
      if (note !== undefined) return note;
    }
  return noteOf('ask');
}

/** The mode in which the message of the last of these turns was sent: a note before everything else is about it. */
export function modeOfMessage(turns: readonly Noting[]): PermissionMode {
  const [first] = turns.at(-1)?.responseParts ?? [];
  const note = (first && noteIn(first)) ?? lastNote(turns.slice(0, -1));
  return PERMISSION_MODES.find((mode) => noteOf(mode) === note) ?? 'ask';
}

function noteIn(part: Turn['responseParts'][number]): string | undefined {
  const isNote = part.kind === 'systemNotification' && typeof part.content === 'string';
  return isNote && String(part.content).startsWith(NOTE) ? String(part.content) : undefined;
}
