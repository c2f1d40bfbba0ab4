/** A message in the middle of a turn: an agent that can be steered hears it, for any other it stays where it is. */
import { approve } from './answers.js';
import { callsNote } from './note-tool.js';
import type { Suite } from './suite.js';

const STEERING = 'think of the pears too';

export function steerAcceptance({ test, expect, shows }: Suite): void {
  if (!shows('heard')) return;
  const name = '[UNI-092] hears what a person adds in the middle of a turn, if it says that it can, or takes nothing';
  test(name, [callsNote, { text: ['Pears too.'] }], async (room) => {
    const turnId = room.begin('note it');
    const toolCallId = await room.question(turnId);
    room.dispatch({ type: 'session/pendingMessageSet', kind: 'steering', id: 's-1', userMessage: { text: STEERING } });
    room.dispatch(approve(toolCallId, turnId));
    await room.finished(turnId);
    const { steeringMessage } = await room.state();
    const isHeard = (await room.heard()).includes(STEERING);
    const { steer } = room.agent.abilities;
    expect([isHeard, steeringMessage?.id]).toEqual(steer ? [true, undefined] : [false, 's-1']);
  });
}
