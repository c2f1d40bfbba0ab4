import { execFileSync } from 'node:child_process';
import { readFile, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Gate } from '@atrium/core/contracts/extension.js';
import { describe, expect, it, vi } from 'vitest';
import { runningProcesses } from '../../src/agent-acceptance/cases.js';
import { approve, deny, textIn } from '../../src/agent-acceptance/test-session.js';
import { ACP_TEST_MAX_MS, acpFixture, callsIn, notesIn } from '../support/acp-fixture.js';
import type { Way } from '../support/acp-subject.js';
import { isAlive } from '../support/mcp-fixture.js';

const patience = { timeout: ACP_TEST_MAX_MS };

describe('a command that is no good', patience, () => {
  const creationError = async (options: Parameters<typeof acpFixture>[1]) => {
    const { fixture } = await acpFixture([], options);
    const error = await vi.waitFor(async () => {
      const { creationError } = await fixture.state();
      if (!creationError) throw new Error('it may still succeed');
      return creationError;
    }, 10_000);
    return { fixture, error };
  };

  it('says which command is not there, and which folder', async () => {
    const { error } = await creationError({ agent: { command: 'no-such-orchard' } });
    expect(error.message).toBe('Orchard cannot start: command not found: no-such-orchard. Is it installed?');
    const folder = path.join(os.tmpdir(), 'no-such-folder');
    const other = await creationError({ agent: { cwd: folder } });
    expect(other.error?.message).toBe(`Orchard cannot start: there is no folder ${folder}`);
  });

  it('says what a command that dies at the start said last', async () => {
    const { fixture, error } = await creationError({ ways: ['dies at start'] });
    expect(error?.message).toBe('Orchard ended with code 3. It said: the licence has run out');
    expect(await runningProcesses(fixture)).toEqual([]);
  });

  it('does not go on with an agent of another version', async () => {
    const { fixture, error } = await creationError({ ways: ['speaks another version', 'has a child'] });
    expect(error?.message).toContain('it speaks version 7 of the protocol, the host version 1. Update it.');
    expect(await runningProcesses(fixture)).toEqual([]);
  });

  it('ends a process that never answers when the host stops', async () => {
    const { fixture, subject } = await acpFixture([], { ways: ['is mute', 'has a child'] });
    await vi.waitFor(async () => expect(await subject.pids()).toHaveLength(2), 10_000);
    expect(await runningProcesses(fixture)).toEqual([]);
  });
});

describe('an agent that does not behave', patience, () => {
  it('dies in the middle of a turn: the turn says so, and the next one goes on from there', async () => {
    const { fixture } = await acpFixture([{ text: ['A plum.'] }, { dies: true }, { text: ['Still a plum.'] }]);
    await fixture.turn('which fruit?');
    const { state, error } = await fixture.turn('and now?');
    expect([state, error]).toEqual(['error', { errorType: 'agent-failed', message: 'Orchard ended with code 9' }]);
    expect(textIn(await fixture.turn('once more'))).toBe('Still a plum.');
    expect(await fixture.receivedMessages()).toContain('which fruit?\nA plum.\nand now?\nonce more');
  });

  it('[UNI-093] never stops: it is ended within a second with all it started, and another goes on', async () => {
    const ways: Way[] = ['is deaf', 'has a child'];
    const { fixture, subject } = await acpFixture([{ text: ['so far'], hangs: true }, { text: ['again'] }], { ways });
    const turnId = fixture.begin('go');
    await fixture.action('session/delta');
    fixture.dispatch({ type: 'session/turnCancelled', turnId });
    expect(await fixture.stopsWithin(1_000)).toBe(true);
    expect(textIn(await fixture.turn('once more'))).toBe('again');
    expect(await fixture.receivedMessages()).toContain('go\nso far\nonce more');
    expect((await subject.pids()).length).toBe(4);
    expect(await runningProcesses(fixture)).toEqual([]);
  });

  it('calls tools for ever: no call of a turn that was cancelled ends up in the next one', async () => {
    const plan = [{ text: ['so far'], keepsCalling: 'note' }, { text: ['again'] }];
    const { fixture } = await acpFixture(plan, { ways: ['is deaf'] });
    const turnId = fixture.begin('go');
    await fixture.action('session/toolCallComplete');
    fixture.dispatch({ type: 'session/turnCancelled', turnId });
    const next = await fixture.turn('once more');
    expect([textIn(next), callsIn(next.responseParts)]).toEqual(['again', []]);
    expect(await runningProcesses(fixture)).toEqual([]);
  });

  it('starts slowly: a turn that is cancelled meanwhile leaves the one process to the next', async () => {
    const { fixture, subject } = await acpFixture([{ dies: true }, { text: ['A plum.'] }]);
    await fixture.turn('which fruit?');
    await subject.change([{ dies: true }, { text: ['A plum.'] }], ['is slow']);
    const cancelled = fixture.begin('and now?');
    await vi.waitFor(async () => expect(await subject.pids()).toHaveLength(2), 10_000);
    fixture.dispatch({ type: 'session/turnCancelled', turnId: cancelled });
    expect(textIn(await fixture.turn('once more'))).toBe('A plum.');
    expect(await subject.pids()).toHaveLength(2);
    // What it says while it goes back belongs to no turn, so it goes back once.
    expect(await subject.notes()).toEqual([{ loaded: expect.any(String) }]);
    expect(await runningProcesses(fixture)).toEqual([]);
  });

  it('never answers when it is started again: it is gone before the host has stopped', async () => {
    const { fixture, subject } = await acpFixture([{ dies: true }]);
    await fixture.turn('which fruit?');
    await subject.change([], ['is mute']);
    fixture.begin('and now?');
    await vi.waitFor(async () => expect(await subject.pids()).toHaveLength(2), 10_000);
    await fixture.stop();
    expect((await subject.pids()).filter(isAlive)).toEqual([]);
  });

  it('opens no session: the turn can be cancelled, and nothing is left', async () => {
    const { fixture } = await acpFixture([], { ways: ['opens no session', 'has a child'] });
    await fixture.action('session/ready');
    const turnId = fixture.begin('go');
    await fixture.action('session/turnStarted');
    fixture.dispatch({ type: 'session/turnCancelled', turnId });
    expect(await fixture.stopsWithin(1_000)).toBe(true);
    expect((await fixture.finished(turnId)).state).toBe('cancelled');
    expect(await runningProcesses(fixture)).toEqual([]);
  });

  it('wants a login: the turn says how, and the session stays', async () => {
    const { fixture } = await acpFixture([{ text: ['Yes.'] }], { ways: ['wants a login'] });
    const { error } = await fixture.turn('is it?');
    expect(error?.errorType).toBe('auth');
    expect(error?.message).toContain('log in first (it offers: Orchard key: run `orchard login`)');
    expect((await fixture.state()).lifecycle).toBe('ready');
  });

  it('has forgotten its session: it is told what was said, and people are told that', async () => {
    const { fixture, subject } = await acpFixture([{ text: ['A plum.'] }]);
    await fixture.turn('which fruit?');
    await subject.change([{}, { text: ['Yes.'] }], ['has forgotten']);
    await fixture.restart();
    const turn = await fixture.turn('is it?');
    expect(notesIn(turn.responseParts)).toEqual([
      'Orchard could not resume this session, so it was told what was said before.',
    ]);
    expect(await fixture.receivedMessages()).toContain(
      '<transcript>\nPerson: which fruit?\nYou: A plum.\n</transcript>\nis it?',
    );
  });

  it('dies before it was told what was said: the next one is told', async () => {
    const { fixture, subject } = await acpFixture([{ text: ['A plum.'] }]);
    await fixture.turn('which fruit?');
    await subject.change([{}, { text: ['Yes.'] }], ['has forgotten', 'dies when asked']);
    await fixture.restart();
    expect((await fixture.turn('is it?')).state).toBe('error');
    await subject.change([{}, { text: ['Yes.'] }]);
    expect(textIn(await fixture.turn('once more'))).toBe('Yes.');
    expect(await fixture.receivedMessages()).toContain(
      '<transcript>\nPerson: which fruit?\nYou: A plum.\n\nPerson: is it?',
    );
  });

  it('cannot be lent tools: people are told, and it works without them', async () => {
    const { fixture } = await acpFixture([{ text: ['Yes.'] }], { ways: ['takes no tools'] });
    const turn = await fixture.turn('is it?');
    expect([textIn(turn), notesIn(turn.responseParts)]).toEqual(['Yes.', ['Orchard cannot be lent tools: note.']]);
  });
});

describe('files by way of the host', patience, () => {
  const read = (file: string) => ({ method: 'fs/read_text_file', params: { path: file } });
  const write = (file: string, content: string) => ({ method: 'fs/write_text_file', params: { path: file, content } });
  const files = { agent: { files: true } };

  it('[UNI-088] reads inside the folder, and nothing outside, not even behind a link', async () => {
    const { fixture, subject } = await acpFixture([], files);
    const inside = path.join(fixture.folder, 'plums.txt');
    await writeFile(inside, 'one\ntwo\nthree\n');
    await symlink('/etc', path.join(fixture.folder, 'link'));
    const some = { method: 'fs/read_text_file', params: { path: inside, line: 2, limit: 1 } };
    await subject.change([
      { requests: [read(inside), some, read('/etc/hostname'), read('../x'), read('link/hostname')], text: ['Done.'] },
    ]);
    await fixture.restart();
    await fixture.turn('read');
    const notes = (await subject.notes()) as { result?: object; error?: { message: string; data?: unknown } }[];
    expect(notes.length).toBe(5);
    expect(notes.slice(0, 2).map(({ result }) => result)).toEqual([
      { content: 'one\ntwo\nthree\n' },
      { content: 'two\n' },
    ]);
    for (const { result, error } of notes.slice(2)) {
      expect(result).toBeUndefined();
      expect(JSON.stringify(error)).toContain("outside the session's folder");
    }
  });

  it('[UNI-088] shows what is read, and lets gates have their say', async () => {
    const gate: Gate = {
      name: 'ci-watcher',
      concerns: ({ toolName }) => toolName === 'read_file',
      check: ({ input }) =>
        JSON.stringify(input).includes('pears') ? { kind: 'deny', reason: 'no pears' } : { kind: 'pass' },
    };
    const { fixture, subject } = await acpFixture([], { ...files, extras: { gates: [gate] } });
    for (const name of ['plums.txt', 'pears.txt']) await writeFile(path.join(fixture.folder, name), `${name}\n`);
    await subject.change([{ requests: [read('plums.txt'), read('pears.txt'), read('none.txt')], text: ['Done.'] }]);
    await fixture.restart();
    const turn = await fixture.turn('read');
    const [plums, pears, none] = callsIn(turn.responseParts);
    expect(plums).toMatchObject({ toolName: 'read_file', success: true, content: [{ text: 'plums.txt\n' }] });
    expect(pears).toMatchObject({ status: 'cancelled' });
    expect(none).toMatchObject({ status: 'completed', success: false });
    const notes = JSON.stringify(await subject.notes());
    expect([notes.includes('no pears'), notes.includes('pears.txt\\n')]).toEqual([true, false]);
  });

  it.skipIf(process.platform === 'win32')('reads nothing that could keep its reader waiting for ever', async () => {
    const { fixture, subject } = await acpFixture([], files);
    execFileSync('mkfifo', [path.join(fixture.folder, 'pipe')]);
    await subject.change([{ requests: [read('pipe')], text: ['Done.'] }]);
    await fixture.restart();
    await fixture.turn('read');
    expect(JSON.stringify(await subject.notes())).toContain('pipe is not a plain file');
  });

  it('[UNI-088] writes once a person has agreed, and not where tools may not write', async () => {
    const { fixture, subject } = await acpFixture([], files);
    const file = path.join(fixture.folder, 'plums.txt');
    const outside = path.join(os.tmpdir(), 'outside.txt');
    await subject.change([
      { requests: [write(outside, 'x'), write(file, 'blue\n')], text: ['Done.'] },
      { requests: [write(file, 'red\n')], text: ['As you wish.'] },
    ]);
    await fixture.restart();
    const turn = await fixture.turn('write', approve);
    expect(await readFile(file, 'utf8')).toBe('blue\n');
    expect([fixture.questions, callsIn(turn.responseParts).map(({ status }) => status)]).toEqual([1, ['completed']]);
    await fixture.turn('write', deny);
    expect(await readFile(file, 'utf8')).toBe('blue\n');
    expect(JSON.stringify(await subject.notes())).toContain('denied: write to the blue file instead');
  });

  it('offers no files unless it is told to', async () => {
    const { fixture, subject } = await acpFixture([{ requests: [read('/etc/hostname')], text: ['Done.'] }]);
    await fixture.turn('read');
    expect(await subject.notes()).toMatchObject([{ error: { code: -32601 } }]);
  });
});
