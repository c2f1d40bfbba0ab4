/** What a turn has used. */
import type { Suite } from './suite.js';

export function usageAcceptance({ test, expect, shows }: Suite): void {
  if (!shows('usage')) return;
  test('tells what a turn has used', [{ text: ['Yes.'], usage: { input: 120, output: 7 } }], async (room) => {
    const { usage } = await room.turn('is it?');
    expect([usage?.inputTokens, usage?.outputTokens]).toEqual([120, 7]);
  });
}
