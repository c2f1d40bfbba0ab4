import { readFile, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { MemoryLog } from '@atrium/core/log/memory-log.js';
import type { StateAction } from '@atrium/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { builtinTools } from '../../src/workspace/tools/builtin.js';
import { editFileTool } from '../../src/workspace/tools/edit-file.js';
import { FakeClock } from '../support/fake-clock.js';
import { PuppetAgent } from '../support/puppet-agent.js';
import {
  callsIn,
  openPuppetFixture,
  refusalOf,
  runningCall,
  startHost,
  stateOf,
  turnStarted,
} from '../support/session-fixture.js';
import { settle } from '../support/test-host.js';
import { echoTool } from '../support/tools.js';
import { temporaryFolder, use } from './tool-box.js';

let folder: string;
let remove: () => Promise<void>;

beforeEach(async () => {
  ({ folder, remove } = await temporaryFolder());
});
afterEach(() => remove());

/** A running turn in a session that works in the folder. */
const openFolderFixture = (log = new MemoryLog()) =>
  openPuppetFixture({
    log,
    tools: builtinTools(),
    session: { workingDirectory: pathToFileURL(folder).href },
  });

const answer = (toolCallId: string, selectedOptionId: string): StateAction => ({
  type: 'session/toolCallConfirmed',
  turnId: 't1',
  toolCallId,
  ...(selectedOptionId === 'deny'
    ? { approved: false, reason: 'denied' }
    : { approved: true, confirmed: 'user-action' }),
  selectedOptionId,
});

describe('a tool that changes files', () => {
  const write = { id: 'c1', name: 'write_file', input: { path: 'a.txt', content: 'new\n' } };
  const read = () => readFile(path.join(folder, 'a.txt'), 'utf8');

  it('shows the change with its question, and makes it when a person agrees', async () => {
    await writeFile(path.join(folder, 'a.txt'), 'old\n');
    const { client, uri, puppet } = await openFolderFixture();
    const outcome = puppet.turn.callTool(write);
    const call = await runningCall(client, uri, 'pending-confirmation');
    const file = pathToFileURL(path.join(folder, 'a.txt')).href;
    expect(call).toMatchObject({
      confirmationTitle: 'Write a.txt?',
      edits: { items: [{ before: { uri: file }, after: { uri: file }, diff: { added: 1, removed: 1 } }] },
    });
    expect(await read()).toBe('old\n');
    await refusalOf(client, uri, answer('c1', 'approve'));
    expect(await outcome).toMatchObject({ success: true, text: 'Replaced a.txt: 1 line added, 1 line removed.' });
    expect(await read()).toBe('new\n');
  });

  it('changes nothing when a person does not agree', async () => {
    await writeFile(path.join(folder, 'a.txt'), 'old\n');
    const { client, uri, puppet } = await openFolderFixture();
    const outcome = puppet.turn.callTool(write);
    await client.action(uri, 'session/toolCallReady');
    await refusalOf(client, uri, answer('c1', 'deny'));
    expect(await outcome).toMatchObject({ kind: 'denied' });
    expect(await read()).toBe('old\n');
  });

  it('asks nobody about what cannot be done', async () => {
    const { client, uri, puppet } = await openFolderFixture();
    const input = { path: 'a.txt', oldText: 'old', newText: 'new' };
    expect(await puppet.turn.callTool({ name: 'edit_file', input })).toMatchObject({ success: false });
    const ready = await client.action(uri, 'session/toolCallReady');
    expect(ready.action).toMatchObject({ confirmed: 'not-needed' });
  });

  it('is not run without a question, even if it could be by then', async () => {
    const output = { success: false, pastTenseMessage: 'Failed', content: [], error: { message: 'not yet' } };
    const tool = echoTool('change', { confirmation: { title: 'Change it?' } });
    const { puppet } = await openPuppetFixture({
      tools: [{ ...tool, preview: async () => ({ kind: 'failed', output }) }],
    });
    expect(await puppet.turn.callTool({ name: 'change', input: {} })).toMatchObject({
      success: false,
      text: 'not yet',
    });
    expect(tool.runs).toEqual([]);
  });

  it('replaces only the file that the person was shown', async () => {
    const { client, uri, puppet } = await openFolderFixture();
    const outcome = puppet.turn.callTool(write);
    await client.action(uri, 'session/toolCallReady');
    await writeFile(path.join(folder, 'a.txt'), 'theirs\n');
    await refusalOf(client, uri, answer('c1', 'approve'));
    expect(await outcome).toMatchObject({ success: false, text: expect.stringContaining('changed by someone else') });
    expect(await read()).toBe('theirs\n');
  });

  it('makes two changes of one file that were asked for side by side', async () => {
    await writeFile(path.join(folder, 'a.txt'), 'one two\n');
    const { client, uri, puppet } = await openFolderFixture();
    const edit = (id: string, oldText: string, newText: string) =>
      puppet.turn.callTool({ id, name: 'edit_file', input: { path: 'a.txt', oldText, newText } });
    const both = [edit('c1', 'one', '1'), edit('c2', 'two', '2')];
    // Either may be asked about first, and both before either is answered.
    for (const id of ['c1', 'c2']) {
      await client.action(uri, ({ type, toolCallId }) => `${type} ${toolCallId}` === `session/toolCallReady ${id}`);
    }
    for (const id of ['c1', 'c2']) {
      await refusalOf(client, uri, answer(id, 'approve'));
      await both[id === 'c1' ? 0 : 1];
    }
    expect(await read()).toBe('1 2\n');
  });

  const edit = (oldText: string, newText: string, more: object = {}) => ({
    name: 'edit_file',
    input: { path: 'a.txt', oldText, newText, ...more },
  });

  it.each([
    ['one place', edit('old', 'new'), 'old, and theirs\n'],
    ['every place', edit('old', 'new', { all: true }), 'old old, old\n'],
    ['the place that is gone', edit('old', 'new'), 'theirs\n'],
  ])('[REL-054] edits %s only in the file that the person was shown', async (_, call, theirs) => {
    await writeFile(path.join(folder, 'a.txt'), 'old\n');
    const { client, uri, puppet } = await openFolderFixture();
    const outcome = puppet.turn.callTool({ id: 'c1', ...call });
    await client.action(uri, 'session/toolCallReady');
    await writeFile(path.join(folder, 'a.txt'), theirs);
    await refusalOf(client, uri, answer('c1', 'approve'));
    const text = 'a.txt was changed by someone else meanwhile. Read it again, then repeat the change.';
    expect(await outcome).toMatchObject({ success: false, text });
    expect(await read()).toBe(theirs);
  });

  it('[REL-054] edits no other file that took the place of the one that the person was shown', async () => {
    await writeFile(path.join(folder, 'one.txt'), 'old\n');
    await writeFile(path.join(folder, 'two.txt'), 'old\n');
    await symlink('one.txt', path.join(folder, 'a.txt'));
    const { client, uri, puppet } = await openFolderFixture();
    const outcome = puppet.turn.callTool({ id: 'c1', ...edit('old', 'new') });
    await client.action(uri, 'session/toolCallReady');
    await rm(path.join(folder, 'a.txt'));
    await symlink('two.txt', path.join(folder, 'a.txt'));
    await refusalOf(client, uri, answer('c1', 'approve'));
    expect(await outcome).toMatchObject({ success: false, text: expect.stringContaining('changed by someone else') });
    expect(await readFile(path.join(folder, 'two.txt'), 'utf8')).toBe('old\n');
  });

  it('[REL-054] says so when the file that the person was shown is gone', async () => {
    await writeFile(path.join(folder, 'a.txt'), 'old\n');
    const { client, uri, puppet } = await openFolderFixture();
    const outcome = puppet.turn.callTool({ id: 'c1', ...edit('old', 'new') });
    await client.action(uri, 'session/toolCallReady');
    await rm(path.join(folder, 'a.txt'));
    await refusalOf(client, uri, answer('c1', 'approve'));
    expect(await outcome).toMatchObject({ success: false, text: expect.stringContaining('There is no "a.txt"') });
    await expect(read()).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('edits a file that somebody put back to what it was before an earlier edit', async () => {
    await writeFile(path.join(folder, 'a.txt'), 'old\n');
    const { client, uri, puppet } = await openFolderFixture();
    const approved = async (id: string, newText: string) => {
      const outcome = puppet.turn.callTool({ id, ...edit('old', newText) });
      await client.action(uri, ({ type, toolCallId }) => `${type} ${toolCallId}` === `session/toolCallReady ${id}`);
      await refusalOf(client, uri, answer(id, 'approve'));
      return outcome;
    };
    expect(await approved('c1', 'first')).toMatchObject({ success: true });
    await writeFile(path.join(folder, 'a.txt'), 'old\n');
    expect(await approved('c2', 'second')).toMatchObject({ success: true });
    expect(await read()).toBe('second\n');
  });

  it('[REL-054] lets no edit of another session pass for what the person was shown', async () => {
    await writeFile(path.join(folder, 'a.txt'), 'one two\n');
    const { client, uri, puppet } = await openFolderFixture();
    const outcome = puppet.turn.callTool({ id: 'c1', ...edit('one', '1') });
    await client.action(uri, 'session/toolCallReady');
    await use(editFileTool, edit('two', '2').input, folder, undefined, { session: 'ahp-session:/other' });
    await refusalOf(client, uri, answer('c1', 'approve'));
    expect(await outcome).toMatchObject({ success: false, text: expect.stringContaining('changed by someone else') });
    expect(await read()).toBe('one 2\n');
  });

  it('does not ask again once it is allowed in this session', async () => {
    const { client, uri, puppet } = await openFolderFixture();
    const first = puppet.turn.callTool(write);
    await client.action(uri, 'session/toolCallReady');
    await refusalOf(client, uri, answer('c1', 'allow-session'));
    await first;
    await puppet.turn.callTool({ name: 'write_file', input: { path: 'a.txt', content: 'newer\n' } });
    expect(await read()).toBe('newer\n');
    const input = { path: 'a.txt', oldText: 'newer', newText: 'x' };
    puppet.turn.callTool({ id: 'c3', name: 'edit_file', input }).catch(() => {});
    const third = await client.action(
      uri,
      ({ type, toolCallId }) => `${type} ${toolCallId}` === 'session/toolCallReady c3',
    );
    expect(third.action).toMatchObject({ confirmationTitle: 'Edit a.txt?' });
    expect(third.action).not.toHaveProperty('confirmed');
  });
});

describe('ask_user', () => {
  it('puts the question to the person, and gives the answer to the agent', async () => {
    const { client, uri, puppet } = await openFolderFixture();
    const outcome = puppet.turn.callTool({ name: 'ask_user', input: { question: 'Which?', options: ['a', 'b'] } });
    await client.action(uri, 'session/inputRequested');
    const [request] = (await stateOf(client, uri)).inputRequests ?? [];
    expect(request).toMatchObject({ message: 'Which?', questions: [{ kind: 'single-select' }] });
    const answers = { answer: { state: 'submitted', value: { kind: 'selected', value: '2' } } };
    const reply = { type: 'session/inputCompleted', requestId: request?.id, response: 'accept', answers };
    expect(await refusalOf(client, uri, reply)).toBeUndefined();
    expect(await outcome).toMatchObject({ success: true, text: 'b' });
  });
});

describe('todo_list', () => {
  it('is kept by the session, over turns and a restart of the host', async () => {
    const log = new MemoryLog();
    const { uri, puppet, client } = await openFolderFixture(log);
    await puppet.turn.callTool({ name: 'todo_list', input: { items: ['[x] sweep', 'wash'] } });
    expect(await puppet.turn.callTool({ name: 'todo_list', input: {} })).toMatchObject({
      text: '- [x] sweep\n- [ ] wash',
    });
    puppet.finish();
    await client.action(uri, 'session/turnComplete');
    await settle();
    const agent = new PuppetAgent();
    const again = await startHost({ log, agents: [agent], clock: new FakeClock(), tools: builtinTools() });
    const back = await again.client('back');
    await back.request('subscribe', { channel: uri });
    back.dispatch(uri, turnStarted('t2'));
    const { turn } = await agent.turn(0);
    expect(await turn.callTool({ name: 'todo_list', input: {} })).toMatchObject({ text: '- [x] sweep\n- [ ] wash' });
    const state = await stateOf(back, uri);
    expect(callsIn(state.activeTurn?.responseParts)).toHaveLength(1);
  });

  it('is not shared between sessions', async () => {
    const { client, agent, puppet } = await openFolderFixture();
    await puppet.turn.callTool({ name: 'todo_list', input: { items: ['sweep'] } });
    const other = await client.session(undefined, { provider: 'puppet' });
    client.dispatch(other, turnStarted('t9'));
    const { turn } = await agent.turn(1);
    expect(await turn.callTool({ name: 'todo_list', input: {} })).toMatchObject({ text: 'The list is empty.' });
  });
});
