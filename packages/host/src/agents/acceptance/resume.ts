/** What was said stays known after a restart, and what was cut off does not. */
import { approve, textIn } from './answers.js';
import { callsNote, NOTED } from './note-tool.js';
import type { Suite } from './suite.js';

export function resumeAcceptance({ test, expect, shows }: Suite): void {
  if (!shows('heard')) return;

  test(
    'remembers a session after the host was started anew',
    [callsNote, { text: ['It is a plum.'] }, { text: ['A plum.'] }],
    async (room) => {
      await room.turn('which fruit?', approve);
      await room.restart();
      expect(textIn(await room.turn('which was it?'))).toBe('A plum.');
      const heard = await room.heard();
      const missing = ['which fruit?', NOTED, 'It is a plum.', 'which was it?'].filter((text) => !heard.includes(text));
      expect(missing).toEqual([]);
    },
  );

  if (!shows('truncation')) return;
  test(
    'forgets what was cut off, and only that',
    [{ text: ['A plum.'] }, { text: ['A walnut.'] }, { text: ['Yes.'] }],
    async (room) => {
      const { id } = await room.turn('which fruit?');
      await room.turn('which nut?');
      room.dispatch({ type: 'session/truncated', turnId: id });
      await room.turn('is it?');
      const heard = await room.heard();
      const known = ['which fruit?', 'A plum.', 'which nut?', 'A walnut.'].filter((text) => heard.includes(text));
      expect(known).toEqual(['which fruit?', 'A plum.']);
    },
  );
}
