/** What stands in the place of a finished turn that was damaged on disk. The log knows this one shape of a turn. */
import type { Turn } from '@atrium/protocol';

export const DAMAGED_ERROR = 'damaged';

/** `id`: the damaged turn keeps its id, so that those who know it find this in its place. */
export function damagedTurn(id: string): string {
  const turn: Turn = {
    id,
    userMessage: { text: '[This turn was damaged on disk.]' },
    responseParts: [],
    usage: undefined,
    state: 'error',
    error: {
      errorType: DAMAGED_ERROR,
      message:
        'What was said in this turn was damaged on disk and cannot be shown. The damaged bytes are kept in the data folder; the log of the host names the file.',
    },
  };
  return JSON.stringify(turn);
}
