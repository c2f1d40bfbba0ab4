/** A cancelled turn ends for the agent too, and soon: whatever it is doing. */
import { textIn } from './answers.js';
import { callsNote } from './note-tool.js';
import type { Suite } from './suite.js';

/** How soon a backend must have stopped after a turn was cancelled. */
const CANCEL_MAX_MS = 1_000;

export function cancelAcceptance({ test, expect }: Suite): void {
  test(
    `stops within ${CANCEL_MAX_MS} ms of being cancelled, keeps what it said, and takes the next turn`,
    [{ text: ['so far'], hangs: true }, { text: ['again'] }],
    async (room) => {
      const turnId = room.begin('go');
      await room.action('session/delta');
      room.dispatch({ type: 'session/turnCancelled', turnId });
      expect(await room.stopsWithin(CANCEL_MAX_MS)).toBe(true);
      const turn = await room.finished(turnId);
      expect([turn.state, textIn(turn)]).toEqual(['cancelled', 'so far']);
      expect(textIn(await room.turn('once more'))).toBe('again');
    },
  );

  test(
    'takes a turn that begins while a cancelled one is still ending, and keeps the two apart',
    [{ text: ['first'], hangs: true }, { text: ['second'] }],
    async (room) => {
      const first = room.begin('go');
      await room.action('session/delta');
      room.dispatch({ type: 'session/turnCancelled', turnId: first });
      const second = room.begin('once more');
      expect([textIn(await room.finished(second)), textIn(await room.finished(first))]).toEqual(['second', 'first']);
    },
  );

  test(
    `stops within ${CANCEL_MAX_MS} ms while a call waits for a person, and the call never runs`,
    [callsNote, { text: ['again'] }],
    async (room) => {
      const turnId = room.begin('go');
      await room.question(turnId);
      room.dispatch({ type: 'session/turnCancelled', turnId });
      expect(await room.stopsWithin(CANCEL_MAX_MS)).toBe(true);
      expect((await room.finished(turnId)).state).toBe('cancelled');
      expect([textIn(await room.turn('once more')), room.notes]).toEqual(['again', []]);
    },
  );
}
