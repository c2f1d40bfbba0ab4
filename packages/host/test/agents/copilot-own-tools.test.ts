import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Gate } from '../../src/extensions/extension.js';
import { hasCopilot, WHY_SKIPPED } from '../support/copilot-agent.js';
import { bash, CopilotRoom, callIn, WAIT_MAX_MS } from '../support/copilot-room.js';
import { callsIn, textIn } from '../support/session-room.js';

const gateOf = (name: string, check: Gate['check']): Gate => ({ name, concerns: () => true, check });

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

  it('[UNI-088] [UNI-089] [UNI-040] do not run when a gate denies: nobody is asked, the model hears why', async () => {
    const seen: unknown[] = [];
    const gate = gateOf('ci-watcher', ({ toolName, input }) => {
      seen.push([toolName, input]);
      return { kind: 'deny', reason: 'CI is failing' };
    });
    const files = { 'a.txt': 'secret of a' };
    const room = await CopilotRoom.open(
      [bash('echo made > made.txt'), { calls: [{ name: 'view', input: { path: 'a.txt' } }] }, { text: ['I see.'] }],
      { files, extension: { gates: [gate] } },
    );
    const turn = await room.turn('make it');
    expect(callsIn(turn.responseParts).map(({ toolName, status }) => [toolName, status])).toEqual([
      ['bash', 'cancelled'],
      ['view', 'cancelled'],
    ]);
    expect(seen).toEqual([
      ['bash', { command: 'echo made > made.txt', description: 'Does something' }],
      ['view', { path: 'a.txt' }],
    ]);
    expect(room.questions).toBe(0);
    expect(room.heard(1)).toContain('CI is failing');
    expect(room.heard()).not.toContain('secret of a');
    await expect(readFile(path.join(room.folder, 'made.txt'))).rejects.toThrow();
  });

  it('[UNI-041] still ask when a gate has no objection, and the model reads its note with the result', async () => {
    const gate = gateOf('ci-watcher', () => ({ kind: 'pass', note: 'CI is green' }));
    const room = await CopilotRoom.open([bash('echo ran'), { text: ['Done.'] }], { extension: { gates: [gate] } });
    const turnId = room.begin('go');
    room.approve(turnId, (await room.question(turnId)).toolCallId);
    expect((await room.finished(turnId)).state).toBe('complete');
    expect([room.questions, room.heard().includes('CI is green')]).toEqual([1, true]);
  });

  it('ask once when a gate wants a person to decide', async () => {
    const gate = gateOf('ci-watcher', () => ({ kind: 'ask', reason: 'On a Friday?' }));
    const room = await CopilotRoom.open([bash('echo ran'), { text: ['Done.'] }], { extension: { gates: [gate] } });
    const turnId = room.begin('go');
    room.approve(turnId, (await room.question(turnId)).toolCallId);
    const turn = await room.finished(turnId);
    expect([turn.state, callIn(turn).status, room.questions]).toEqual(['complete', 'completed', 1]);
    expect(room.heard()).toContain('ran');
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

  it('[UNI-088] are gated and confirmed in the hands of a sub-agent too', async () => {
    const task = { description: 'Looks', prompt: 'look', agent_type: 'general-purpose', name: 'sub', mode: 'sync' };
    const gate: Gate = {
      name: 'ci-watcher',
      concerns: ({ input }) => JSON.stringify(input).includes('denied.txt'),
      check: () => ({ kind: 'deny', reason: 'CI is failing' }),
    };
    const room = await CopilotRoom.open(
      [
        { calls: [{ id: 't', name: 'task', input: task }] },
        bash('echo made > denied.txt'),
        bash('echo made > made.txt'),
        { text: ['sub done'] },
        { text: ['Done.'] },
      ],
      { extension: { gates: [gate] } },
    );
    const turnId = room.begin('go');
    const { toolCallId, confirmationTitle } = await room.question(turnId);
    expect(confirmationTitle).toContain('echo made > made.txt');
    room.approve(turnId, toolCallId);
    const turn = await room.finished(turnId);
    expect(callsIn(turn.responseParts).map(({ toolName, status }) => [toolName, status])).toEqual([
      ['task', 'completed'],
      ['bash', 'cancelled'],
      ['bash', 'completed'],
    ]);
    // What a sub-agent says is for the agent that asked it.
    expect(textIn(turn.responseParts)).toBe('Done.');
    expect([room.questions, room.heard(2).includes('CI is failing')]).toEqual([1, true]);
    await expect(readFile(path.join(room.folder, 'denied.txt'))).rejects.toThrow();
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

  it('end with the turn that is cancelled', async () => {
    const room = await CopilotRoom.open([bash('echo up; sleep 60'), { text: ['again'] }]);
    const turnId = room.begin('wait');
    room.approve(turnId, (await room.question(turnId)).toolCallId);
    await room.action(({ type, content }) => type.endsWith('ContentChanged') && JSON.stringify(content).includes('up'));
    expect((await room.copilot.pids()).length).toBeGreaterThan(1);
    room.dispatch({ type: 'session/turnCancelled', turnId });
    expect((await room.finished(turnId)).state).toBe('cancelled');
    // Only the runtime itself is left.
    await expect.poll(async () => (await room.copilot.pids()).length).toBe(1);
    expect(textIn((await room.turn('once more')).responseParts)).toBe('again');
  });
});
