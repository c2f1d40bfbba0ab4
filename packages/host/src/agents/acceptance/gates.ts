/** Gates: whoever looks at calls before they run is heard, and nobody is asked about a call that a gate stopped. */
import type { Gate } from '../../core/contracts/extension.js';
import { textIn } from './answers.js';
import { callsNote, NOTE } from './note-tool.js';
import type { Suite } from './suite.js';

const WHY = 'no notes on a Sunday';

const gate: Gate = {
  name: 'calendar',
  concerns: ({ toolName }) => toolName === NOTE,
  check: () => ({ kind: 'deny', reason: WHY }),
};

export function gateAcceptance({ test, expect, shows }: Suite): void {
  test(
    '[UNI-088] does not call a tool that a gate denies, and hears why',
    [callsNote, { text: ['Tomorrow then.'] }],
    async (room) => {
      const turn = await room.turn('note it');
      expect([room.notes, room.questions]).toEqual([[], 0]);
      expect([turn.state, textIn(turn)]).toEqual(['complete', 'Tomorrow then.']);
      if (shows('heard')) expect((await room.heard()).includes(WHY)).toBe(true);
    },
    { gates: [gate] },
  );
}
