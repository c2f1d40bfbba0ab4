/** A tool that the host runs: called once a person has agreed, and only then. */
import { approve, deny, REASON, textIn } from './answers.js';
import { callsNote, NOTED } from './note-tool.js';
import type { Suite } from './suite.js';

export function toolCallAcceptance({ test, expect, shows }: Suite): void {
  const agreed = 'calls a tool once a person has agreed, asks once, and goes on with the result';
  test(agreed, [callsNote, { text: ['Noted.'] }], async (room) => {
    const turn = await room.turn('note it', approve);
    expect([room.notes, room.questions]).toEqual([[{ text: 'plums' }], 1]);
    expect([turn.state, textIn(turn)]).toEqual(['complete', 'Noted.']);
    if (shows('heard')) expect((await room.heard()).includes(NOTED)).toBe(true);
  });

  const denied = '[UNI-089] does not call a tool that a person denies, and hears why';
  test(denied, [callsNote, { text: ['As you wish.'] }], async (room) => {
    const turn = await room.turn('note it', deny);
    expect(room.notes).toEqual([]);
    expect([turn.state, textIn(turn)]).toEqual(['complete', 'As you wish.']);
    if (shows('heard')) expect((await room.heard()).includes(REASON)).toBe(true);
  });
}
