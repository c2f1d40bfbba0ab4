/** Text comes piece by piece, and thinking is kept apart from it. */
import { textIn } from './answers.js';
import type { Suite } from './suite.js';

export function streamingAcceptance({ test, expect, shows }: Suite): void {
  test('streams text as it comes', [{ text: ['Hel', 'lo ', 'there'] }], async (room) => {
    const turn = await room.turn('hello');
    expect([turn.state, textIn(turn)]).toEqual(['complete', 'Hello there']);
    expect(room.actions.filter(({ type }) => type === 'session/delta').length > 1).toBe(true);
  });

  if (!shows('reasoning')) return;
  test('keeps thinking apart from text', [{ reasoning: 'Hm.', text: ['Yes.'] }], async (room) => {
    const { responseParts } = await room.turn('is it?');
    const parts = responseParts.map((part) => [part.kind, 'content' in part ? part.content : '']);
    expect(parts).toEqual([
      ['reasoning', 'Hm.'],
      ['markdown', 'Yes.'],
    ]);
  });
}
