import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { ALLOW_IN_SESSION } from '@atrium/core/contracts/tool.js';
import { describe, expect, it } from 'vitest';
import { hasCopilot, WHY_SKIPPED } from '../support/copilot-agent.js';
import { bash, CopilotRoom, callIn, WAIT_MAX_MS } from '../support/copilot-room.js';
import { callsIn, textIn } from '../support/session-room.js';

const inBackground = (command: string) => ({
  calls: [{ name: 'bash', input: { command, mode: 'async', description: 'Waits' } }],
});

describe.skipIf(!hasCopilot)(`Copilot's own tools${WHY_SKIPPED}`, { timeout: 2 * WAIT_MAX_MS }, () => {
  it('run once a person has agreed to the very command, and show what comes out', async () => {
    const room = await CopilotRoom.open([bash('echo made > made.txt; cat made.txt'), { text: ['Done.'] }]);
    const turnId = room.begin('make it');
    const { toolCallId, confirmationTitle } = await room.question(turnId);
    expect(confirmationTitle).toContain('echo made > made.txt; cat made.txt');
    await expect(readFile(path.join(room.folder, 'made.txt'))).rejects.toThrow();
    room.approve(turnId, toolCallId);

    const turn = await room.finished(turnId);
    expect([turn.state, textIn(turn.responseParts)]).toEqual(['complete', 'Done.']);
    expect(await readFile(path.join(room.folder, 'made.txt'), 'utf8')).toBe('made\n');
    expect(callIn(turn)).toMatchObject({ toolName: 'bash', status: 'completed', success: true });
    expect(JSON.stringify(callIn(turn))).toContain('made\\n');
    expect(room.questions).toBe(1);
    const deltas = room.actions.filter(({ type }) => type === 'session/toolCallDelta');
    expect(deltas.map(({ content }) => content).join('')).toContain('"command":"echo made > made.txt');
  });

  it('[UNI-094] show output while they run', async () => {
    const room = await CopilotRoom.open([bash('echo early; sleep 2; echo late'), { text: ['Done.'] }]);
    const turnId = room.begin('go');
    room.approve(turnId, (await room.question(turnId)).toolCallId);
    const progress = await room.action(({ type }) => type === 'session/toolCallContentChanged');
    expect(JSON.stringify(progress.content)).toContain('early');
    await room.finished(turnId);
    const order = room.actions.map(({ type }) => type);
    expect(order.indexOf('session/toolCallContentChanged')).toBeLessThan(order.indexOf('session/toolCallComplete'));
  });

  it('[UNI-089] do not run when a person denies, and the model hears why', async () => {
    const room = await CopilotRoom.open([bash('echo made > made.txt'), { text: ['As you wish.'] }]);
    const turnId = room.begin('make it');
    room.deny(turnId, (await room.question(turnId)).toolCallId, 'use the blue folder');
    const turn = await room.finished(turnId);
    expect([turn.state, callIn(turn).status]).toEqual(['complete', 'cancelled']);
    expect(room.heard()).toContain('use the blue folder');
    await expect(readFile(path.join(room.folder, 'made.txt'))).rejects.toThrow();
  });

  it('read in the folder without asking, and ask for what lies outside', async () => {
    const outside = path.join(process.cwd(), 'package.json');
    const view = (file: string) => ({ calls: [{ name: 'view', input: { path: file } }] });
    const room = await CopilotRoom.open([view('a.txt'), view(outside), { text: ['Done.'] }], {
      files: { 'a.txt': 'plums' },
    });
    const turnId = room.begin('look');
    const { toolCallId, confirmationTitle } = await room.question(turnId);
    expect(room.heard()).toContain('plums');
    expect(confirmationTitle).toContain(outside);
    room.deny(turnId, toolCallId, 'mine');
    await room.finished(turnId);
    expect(room.questions).toBe(1);
  });

  it('that run at the same time are told apart', async () => {
    const view = (id: string) => ({ id, name: 'view', input: { path: `${id}.txt` } });
    const files = { 'a.txt': 'apples', 'b.txt': 'berries' };
    const room = await CopilotRoom.open([{ calls: [view('a'), view('b')] }, { text: ['Done.'] }], { files });
    const calls = callsIn((await room.turn('look')).responseParts);
    expect(calls.map((call) => [call.status, JSON.stringify('content' in call ? call.content : '')])).toEqual([
      ['completed', expect.stringContaining('apples')],
      ['completed', expect.stringContaining('berries')],
    ]);
  });

  it('are allowed for the rest of a session by a person who says so', async () => {
    const room = await CopilotRoom.open([bash('echo one'), bash('echo two'), { text: ['Done.'] }]);
    const turnId = room.begin('go');
    const { toolCallId, options } = await room.question(turnId);
    expect(options).toEqual(expect.arrayContaining([expect.objectContaining({ id: ALLOW_IN_SESSION })]));
    room.approve(turnId, toolCallId, { selectedOptionId: ALLOW_IN_SESSION });
    const calls = callsIn((await room.finished(turnId)).responseParts);
    expect([calls.map(({ status }) => status), room.questions]).toEqual([['completed', 'completed'], 1]);
  });

  it('let it ask a person', async () => {
    const input = { question: 'Which fruit?', choices: ['plums', 'pears'] };
    const room = await CopilotRoom.open([{ calls: [{ name: 'ask_user', input }] }, { text: ['Pears then.'] }]);
    const turnId = room.begin('ask me');
    const { request } = await room.action(({ type }) => type === 'session/inputRequested');
    const { id, message } = request as { id: string; message: string };
    expect(message).toBe('Which fruit?');
    const answers = { answer: { state: 'submitted', value: { kind: 'selected', value: '2' } } };
    room.dispatch({ type: 'session/inputCompleted', requestId: id, response: 'accept', answers });
    expect((await room.finished(turnId)).state).toBe('complete');
    expect(room.heard()).toContain('pears');
  });

  it.each([
    ['a patient command', 'echo up; sleep 60'],
    ['a command that does not listen', `trap '' TERM INT HUP; echo up; while :; do sleep 0.2; done`],
  ])('[UNI-093] end with the turn that is cancelled: %s', async (_what, command) => {
    const room = await CopilotRoom.open([bash(command), { text: ['again'] }]);
    const turnId = room.begin('wait');
    room.approve(turnId, (await room.question(turnId)).toolCallId);
    await room.action(({ type, content }) => type.endsWith('ContentChanged') && JSON.stringify(content).includes('up'));
    expect((await room.copilot.pids()).length).toBeGreaterThan(1);
    room.dispatch({ type: 'session/turnCancelled', turnId });
    expect((await room.finished(turnId)).state).toBe('cancelled');
    // Only the runtime itself is left.
    await expect.poll(async () => (await room.copilot.pids()).length, { timeout: 3_000 }).toBe(1);
    expect(textIn((await room.turn('once more')).responseParts)).toBe('again');
  });

  it('belong to the turn while they run in the background', async () => {
    const room = await CopilotRoom.open([inBackground('sleep 1'), { text: ['Started. '] }, { text: ['It ended.'] }]);
    const turnId = room.begin('go');
    room.approve(turnId, (await room.question(turnId)).toolCallId);
    expect(textIn((await room.finished(turnId)).responseParts)).toBe('Started. It ended.');
  });

  it('end with the turn in the background too, and wake nobody', async () => {
    const room = await CopilotRoom.open([inBackground('sleep 1'), { text: ['Started.'] }, { text: ['again'] }]);
    const turnId = room.begin('go');
    room.approve(turnId, (await room.question(turnId)).toolCallId);
    await room.action(({ type, content }) => type === 'session/delta' && content === 'Started.');
    room.dispatch({ type: 'session/turnCancelled', turnId });
    await expect.poll(async () => (await room.copilot.pids()).length).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(room.copilot.server.requests.length).toBe(2);
    expect(textIn((await room.turn('once more')).responseParts)).toBe('again');
  });
});
