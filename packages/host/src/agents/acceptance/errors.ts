/** A failure ends the turn, not the session, and says of which kind it is. */
import { textIn } from './answers.js';
import { PLANNED_FAILURES } from './plan.js';
import type { Suite } from './suite.js';

export function errorAcceptance({ test, expect, tells, shows }: Suite): void {
  if (!shows('failures')) return;
  for (const fails of PLANNED_FAILURES) {
    const how = tells(fails) ? `as "${fails}"` : `in some way, after "${fails}"`;
    test(`says that it failed, ${how}, and takes the next turn`, [{ fails }, { text: ['again'] }], async (room) => {
      const { state, error } = await room.turn('go');
      expect([state, (error?.message ?? '') !== '']).toEqual(['error', true]);
      expect(tells(fails) ? error?.errorType : fails).toBe(fails);
      expect(textIn(await room.turn('once more'))).toBe('again');
    });
  }
}
