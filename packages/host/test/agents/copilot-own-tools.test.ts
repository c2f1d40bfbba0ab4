import { readFile, realpath } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { ALLOW_IN_SESSION } from '@atrium/core/contracts/tool.js';
import { describe, expect, it } from 'vitest';
import { hasCopilot, WHY_SKIPPED } from '../support/copilot-agent.js';
import { bash, CopilotFixture, callIn, WAIT_MAX_MS } from '../support/copilot-fixture.js';
import { callsIn, textIn } from '../support/session-fixture.js';
import { tempFolder } from '../support/temp-folder.js';

const inBackground = (command: string) => ({
  calls: [{ name: 'bash', input: { command, mode: 'async', description: 'Waits' } }],
});

describe.skipIf(!hasCopilot)(`Copilot's own tools${WHY_SKIPPED}`, { timeout: 2 * WAIT_MAX_MS }, () => {
  it('run once a person has agreed to the very command, and show what comes out', async () => {
    const fixture = await CopilotFixture.open([bash('echo made > made.txt; cat made.txt'), { text: ['Done.'] }]);
    const turnId = fixture.begin('make it');
    const { toolCallId, confirmationTitle } = await fixture.question(turnId);
    expect(confirmationTitle).toContain('echo made > made.txt; cat made.txt');
    await expect(readFile(path.join(fixture.folder, 'made.txt'))).rejects.toThrow();
    fixture.approve(turnId, toolCallId);

    const turn = await fixture.finished(turnId);
    expect([turn.state, textIn(turn.responseParts)]).toEqual(['complete', 'Done.']);
    expect(await readFile(path.join(fixture.folder, 'made.txt'), 'utf8')).toBe('made\n');
    expect(callIn(turn)).toMatchObject({ toolName: 'bash', status: 'completed', success: true });
    expect(JSON.stringify(callIn(turn))).toContain('made\\n');
    expect(fixture.questions).toBe(1);
    const deltas = fixture.actions.filter(({ type }) => type === 'session/toolCallDelta');
    expect(deltas.map(({ content }) => content).join('')).toContain('"command":"echo made > made.txt');
  });

  it('[UNI-094] show output while they run', async () => {
    const fixture = await CopilotFixture.open([bash('echo early; sleep 2; echo late'), { text: ['Done.'] }]);
    const turnId = fixture.begin('go');
    fixture.approve(turnId, (await fixture.question(turnId)).toolCallId);
    const progress = await fixture.action(({ type }) => type === 'session/toolCallContentChanged');
    expect(JSON.stringify(progress.content)).toContain('early');
    await fixture.finished(turnId);
    const order = fixture.actions.map(({ type }) => type);
    expect(order.indexOf('session/toolCallContentChanged')).toBeLessThan(order.indexOf('session/toolCallComplete'));
  });

  it('[UNI-089] do not run when a person denies, and the model hears why', async () => {
    const fixture = await CopilotFixture.open([bash('echo made > made.txt'), { text: ['As you wish.'] }]);
    const turnId = fixture.begin('make it');
    fixture.deny(turnId, (await fixture.question(turnId)).toolCallId, 'use the blue folder');
    const turn = await fixture.finished(turnId);
    expect([turn.state, callIn(turn).status]).toEqual(['complete', 'cancelled']);
    expect(fixture.heard()).toContain('use the blue folder');
    await expect(readFile(path.join(fixture.folder, 'made.txt'))).rejects.toThrow();
  });

  it('read in the folder without asking, and ask for what lies outside', async () => {
    const outside = path.join(process.cwd(), 'package.json');
    const view = (file: string) => ({ calls: [{ name: 'view', input: { path: file } }] });
    const fixture = await CopilotFixture.open([view('a.txt'), view(outside), { text: ['Done.'] }], {
      files: { 'a.txt': 'plums' },
    });
    const turnId = fixture.begin('look');
    const { toolCallId, confirmationTitle } = await fixture.question(turnId);
    expect(fixture.heard()).toContain('plums');
    expect(confirmationTitle).toContain(outside);
    fixture.deny(turnId, toolCallId, 'mine');
    await fixture.finished(turnId);
    expect(fixture.questions).toBe(1);
  });

  it('[UP-063] read in further folders without asking, from the turn on in which the session has them', async () => {
    const further = await realpath(await tempFolder({ 'f.txt': 'figs' }));
    const view = { calls: [{ name: 'view', input: { path: path.join(further, 'f.txt') } }] };
    const fixture = await CopilotFixture.open([view, { text: ['No.'] }, view, { text: ['Yes.'] }, { text: ['.'] }]);
    const first = fixture.begin('look');
    fixture.deny(first, (await fixture.question(first)).toolCallId, 'mine');
    await fixture.finished(first);
    const watcher = await fixture.watcher();
    const directory = pathToFileURL(further).href;
    watcher.dispatch(fixture.uri, { type: 'session/workingDirectorySet', directory } as never);
    await watcher.action(fixture.uri, 'session/workingDirectorySet');
    expect(textIn((await fixture.turn('look again')).responseParts)).toContain('Yes.');
    expect(fixture.heard()).toContain('figs');
    // Its session goes on: it knows what was said before.
    expect(fixture.heard()).toContain('mine');
    expect(fixture.questions).toBe(1);
  });

  it('that run at the same time are told apart', async () => {
    const view = (id: string) => ({ id, name: 'view', input: { path: `${id}.txt` } });
    const files = { 'a.txt': 'apples', 'b.txt': 'berries' };
    const fixture = await CopilotFixture.open([{ calls: [view('a'), view('b')] }, { text: ['Done.'] }], { files });
    const calls = callsIn((await fixture.turn('look')).responseParts);
    expect(calls.map((call) => [call.status, JSON.stringify('content' in call ? call.content : '')])).toEqual([
      ['completed', expect.stringContaining('apples')],
      ['completed', expect.stringContaining('berries')],
    ]);
  });

  it('are allowed for the rest of a session by a person who says so', async () => {
    const fixture = await CopilotFixture.open([bash('echo one'), bash('echo two'), { text: ['Done.'] }]);
    const turnId = fixture.begin('go');
    const { toolCallId, options } = await fixture.question(turnId);
    expect(options).toEqual(expect.arrayContaining([expect.objectContaining({ id: ALLOW_IN_SESSION })]));
    fixture.approve(turnId, toolCallId, { selectedOptionId: ALLOW_IN_SESSION });
    const calls = callsIn((await fixture.finished(turnId)).responseParts);
    expect([calls.map(({ status }) => status), fixture.questions]).toEqual([['completed', 'completed'], 1]);
  });

  it('let it ask a person', async () => {
    const input = { question: 'Which fruit?', choices: ['plums', 'pears'] };
    const fixture = await CopilotFixture.open([{ calls: [{ name: 'ask_user', input }] }, { text: ['Pears then.'] }]);
    const turnId = fixture.begin('ask me');
    const { request } = await fixture.action(({ type }) => type === 'session/inputRequested');
    const { id, message } = request as { id: string; message: string };
    expect(message).toBe('Which fruit?');
    const answers = { answer: { state: 'submitted', value: { kind: 'selected', value: '2' } } };
    fixture.dispatch({ type: 'session/inputCompleted', requestId: id, response: 'accept', answers });
    expect((await fixture.finished(turnId)).state).toBe('complete');
    expect(fixture.heard()).toContain('pears');
  });

  it.each([
    ['a patient command', 'echo up; sleep 60'],
    ['a command that does not listen', `trap '' TERM INT HUP; echo up; while :; do sleep 0.2; done`],
  ])('[UNI-093] end with the turn that is cancelled: %s', async (_what, command) => {
    const fixture = await CopilotFixture.open([bash(command), { text: ['again'] }]);
    const turnId = fixture.begin('wait');
    fixture.approve(turnId, (await fixture.question(turnId)).toolCallId);
    await fixture.action(
      ({ type, content }) => type.endsWith('ContentChanged') && JSON.stringify(content).includes('up'),
    );
    expect((await fixture.copilot.pids()).length).toBeGreaterThan(1);
    fixture.dispatch({ type: 'session/turnCancelled', turnId });
    expect((await fixture.finished(turnId)).state).toBe('cancelled');
    // Only the runtime itself is left.
    await expect.poll(async () => (await fixture.copilot.pids()).length, { timeout: 3_000 }).toBe(1);
    expect(textIn((await fixture.turn('once more')).responseParts)).toBe('again');
  });

  it('belong to the turn while they run in the background', async () => {
    const fixture = await CopilotFixture.open([
      inBackground('sleep 1'),
      { text: ['Started. '] },
      { text: ['It ended.'] },
    ]);
    const turnId = fixture.begin('go');
    fixture.approve(turnId, (await fixture.question(turnId)).toolCallId);
    expect(textIn((await fixture.finished(turnId)).responseParts)).toBe('Started. It ended.');
  });

  it('end with the turn in the background too, and wake nobody', async () => {
    const fixture = await CopilotFixture.open([inBackground('sleep 1'), { text: ['Started.'] }, { text: ['again'] }]);
    const turnId = fixture.begin('go');
    fixture.approve(turnId, (await fixture.question(turnId)).toolCallId);
    await fixture.action(({ type, content }) => type === 'session/delta' && content === 'Started.');
    fixture.dispatch({ type: 'session/turnCancelled', turnId });
    await expect.poll(async () => (await fixture.copilot.pids()).length).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(fixture.copilot.server.requests.length).toBe(2);
    expect(textIn((await fixture.turn('once more')).responseParts)).toBe('again');
  });
});
