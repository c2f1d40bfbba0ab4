import { mkdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { REQUEST_TIMEOUT_MS, REQUESTS_MAX } from '../../src/workspace/files/access-requests.js';
import { FakeClock } from '../support/fake-clock.js';
import { openResourceRoom, type ResourceRoom } from '../support/resource-room.js';
import { tempFolder } from '../support/temp-folder.js';
import { type RawClient, ROOT, settle } from '../support/test-host.js';

interface Question {
  readonly id: string;
  readonly message: string;
}

async function question(room: ResourceRoom, client = room.desk): Promise<Question> {
  const { action } = await client.action(room.uri, 'session/inputRequested');
  return action.request as Question;
}

function answer(room: ResourceRoom, { id }: Question, response: string, client = room.desk): void {
  client.dispatch(room.uri, { type: 'session/inputCompleted', requestId: id, response } as never);
}

/** Asks for something, and lets the person say yes or no. */
async function askFor(room: ResourceRoom, params: object, response: 'accept' | 'decline') {
  const asked = room.ask('resourceRequest', params);
  answer(room, await question(room), response);
  return asked;
}

describe('a denial', () => {
  it('[AHP-068] [AHP-100] [AHP-103] names the request that would unlock it', async () => {
    const room = await openResourceRoom({ outside: { a: 'A' } });
    const uri = room.file(`${room.outside}/a`);
    const read = { request: { channel: ROOT, uri, read: true } };
    const write = { request: { channel: ROOT, uri, write: true } };
    const cases = [
      ['resourceRead', { uri }, read],
      ['resourceList', { uri }, read],
      ['resourceResolve', { uri }, read],
      ['createResourceWatch', { uri }, read],
      ['resourceCopy', { source: uri, destination: room.file('x') }, read],
      ['resourceWrite', { uri, data: '', encoding: 'utf-8' }, write],
      ['resourceDelete', { uri }, write],
      ['resourceMkdir', { uri }, write],
      ['resourceMove', { source: uri, destination: room.file('x') }, write],
      ['resourceCopy', { source: room.file('.'), destination: uri }, write],
    ] as const;
    for (const [method, params, data] of cases) {
      expect((await room.ask(method, params)).error, method).toMatchObject({ code: -32009, data });
    }
  });

  it('[AHP-103] carries an object also when nothing could unlock it', async () => {
    const room = await openResourceRoom();
    for (const uri of ['virtual:/x', 'file:///dev/zero?x', 'file://other/x']) {
      expect((await room.ask('resourceRead', { uri })).error).toMatchObject({ code: -32009, data: {} });
      expect((await room.ask('resourceRequest', { uri })).error).toMatchObject({ code: -32009, data: {} });
    }
  });
});

describe('what clients have without asking', () => {
  it("is the folder of every session, until it is disposed of, whoever's it is", async () => {
    const room = await openResourceRoom({ files: { a: 'A' } });
    const phone = await room.client('phone');
    expect(await room.code('resourceRead', { uri: room.file('a') }, phone)).toBe('ok');
    await room.result('disposeSession', { channel: room.uri });
    expect(await room.code('resourceRead', { uri: room.file('a') }, phone)).toBe(-32009);
  });

  it('is a worktree of a session among the data of the host, and nothing beside it', async () => {
    const data = await tempFolder({
      'atrium.lock': '',
      'atrium.owner': '',
      token: 'T',
      'worktrees/w1/a': 'A',
      'worktrees/w2/b': 'B',
    });
    const room = await openResourceRoom();
    const at = (name: string) => pathToFileURL(path.join(data, name)).href;
    await room.desk.session(undefined, { workingDirectory: at('worktrees/w1') });
    expect(await room.result('resourceRead', { uri: at('worktrees/w1/a') })).toMatchObject({ data: 'A' });
    expect(await room.code('resourceRead', { uri: at('worktrees/w2/b') })).toBe(-32009);
    await room.desk.session(undefined, { workingDirectory: at('.') });
    expect(await room.code('resourceRead', { uri: at('token') })).toBe(-32009);
    expect(await room.code('resourceList', { uri: at('worktrees') })).toBe(-32009);
  });

  it('is the names of folders and files where people look for a place to work, and nothing with a dot', async () => {
    const home = await tempFolder({ 'work/app/main.ts': 'x', 'notes.txt': 'N', '.ssh/id': 'KEY', '.config/x/y': '' });
    const room = await openResourceRoom({ host: { browsedFolders: [home] } });
    const at = (name: string) => pathToFileURL(path.join(home, name)).href;
    const names = async (name: string) => {
      const { entries } = await room.result<{ entries: { name: string }[] }>('resourceList', { uri: at(name) });
      return entries.map((entry) => entry.name).sort();
    };
    expect(await names('.')).toEqual(['notes.txt', 'work']);
    expect(await names('work/app')).toEqual(['main.ts']);
    expect(await room.result('resourceResolve', { uri: at('work') })).toMatchObject({ type: 'directory' });
    for (const name of ['.ssh', '.ssh/id', '.config', '.config/x', '.none']) {
      for (const method of ['resourceList', 'resourceResolve', 'resourceRead']) {
        expect(await room.code(method, { uri: at(name) }), `${method} ${name}`).toBe(-32009);
      }
    }
    expect(await room.code('resourceRead', { uri: at('notes.txt') })).toBe(-32009);
    expect(await room.code('resourceResolve', { uri: at('notes.txt') })).toBe(-32009);
    expect(await room.code('createResourceWatch', { uri: at('work') })).toBe(-32009);
    expect(await room.code('resourceMkdir', { uri: at('new') })).toBe(-32009);
    await symlink(path.join(home, '.ssh'), path.join(home, 'keys'));
    expect(await room.code('resourceList', { uri: at('keys') })).toBe(-32009);
  });

  it('is the default folder to look through, too', async () => {
    const folder = await tempFolder({ 'a/x': '' });
    const room = await openResourceRoom({ host: { defaultDirectory: pathToFileURL(folder).href } });
    const { entries } = await room.result<{ entries: object[] }>('resourceList', { uri: pathToFileURL(folder).href });
    expect(entries).toEqual([{ name: 'a', type: 'directory' }]);
  });

  it('[V1-016] [V1-015] a client of sessions-v1 browses and reads in its own words', async () => {
    const room = await openResourceRoom({ files: { 'a.txt': 'A', 'd/x': '' } });
    const old = await room.client('phone');
    const one = new (old.constructor as typeof RawClient)();
    room.host.connect(one.transport);
    await one.request('initialize', { protocolVersion: 1, clientId: 'old' });
    const listed = await one.request<{ entries: object[] }>('browseDirectory', { uri: room.file('.') });
    expect(listed.entries).toContainEqual({ name: 'd', type: 'directory' });
    expect(await one.request('fetchContent', { uri: room.file('a.txt') })).toEqual({
      data: 'A',
      encoding: 'utf-8',
      mimeType: 'text/plain',
    });
    expect((await one.ask('browseDirectory', { uri: room.file('a.txt') })).error).toBeDefined();
  });
});

describe('resourceRequest', () => {
  it('[AHP-083] [AHP-068] asks a person, and what they grant is granted until the session is gone', async () => {
    const room = await openResourceRoom({ outside: { 'd/a': 'A' } });
    const uri = room.file(`${room.outside}/d`);
    const file = room.file(`${room.outside}/d/a`);
    const asked = room.ask('resourceRequest', { uri });
    const { message, id } = await question(room);
    expect(message).toContain(`May the client "desk" read ${room.outside}/d`);
    expect(await room.code('resourceRead', { uri: file })).toBe(-32009);
    answer(room, { id, message }, 'accept');
    expect((await asked).result).toEqual({});
    expect(await room.result('resourceRead', { uri: file })).toMatchObject({ data: 'A' });
    expect(await room.code('resourceWrite', { uri: file, data: 'x', encoding: 'utf-8' })).toBe(-32009);
    expect(await room.code('resourceRead', { uri: room.file(`${room.outside}`) })).toBe(-32009);
    const phone = await room.client('phone');
    expect(await room.code('resourceRead', { uri: file }, phone)).toBe(-32009);
    await room.result('disposeSession', { channel: room.uri });
    expect(await room.code('resourceRead', { uri: file })).toBe(-32009);
  });

  it('[AHP-083] asks for writing in words of its own, and needs no second question', async () => {
    const room = await openResourceRoom();
    const uri = room.file(`${room.outside}/new.txt`);
    const asked = room.ask('resourceRequest', { uri, write: true });
    const asking = await question(room);
    expect(asking.message).toContain('read and change');
    answer(room, asking, 'accept');
    expect((await asked).result).toEqual({});
    expect(await room.code('resourceWrite', { uri, data: 'x', encoding: 'utf-8' })).toBe('ok');
    expect(await room.result('resourceRead', { uri })).toMatchObject({ data: 'x' });
    expect((await room.ask('resourceRequest', { uri, read: true })).result).toEqual({});
    expect((await room.ask('resourceRequest', { uri: room.file('anything'), write: true })).result).toEqual({});
  });

  it('[AHP-083] is denied when a person says no, and anybody in the session may say so', async () => {
    const room = await openResourceRoom({ outside: { a: 'A' } });
    const phone = await room.client('phone');
    await phone.request('subscribe', { channel: room.uri });
    const uri = room.file(`${room.outside}/a`);
    const asked = room.ask('resourceRequest', { uri });
    answer(room, await question(room, phone), 'decline', phone);
    expect((await asked).error).toMatchObject({ code: -32009, message: expect.stringContaining('said no') });
    expect(await room.code('resourceRead', { uri })).toBe(-32009);
  });

  it('[AHP-083] is denied when there is nobody to ask, in the same words for what is there and what is not', async () => {
    const room = await openResourceRoom({ outside: { a: 'A' } });
    const phone = await room.client('phone');
    const words = async (name: string) => {
      const uri = room.file(path.join(room.outside, name));
      const { error } = await room.ask('resourceRequest', { uri }, phone);
      expect(error).toMatchObject({ code: -32009, message: expect.stringContaining('Subscribe to a session') });
      return error?.message.replace(uri, '');
    };
    expect(await words('a')).toBe(await words('none'));
  });

  it('shows where a link really leads, and grants that place alone', async () => {
    const room = await openResourceRoom({ outside: { a: 'A' } });
    await symlink(room.outside, room.path('innocent'));
    const uri = room.file('innocent');
    const asked = room.ask('resourceRequest', { uri });
    const asking = await question(room);
    expect(asking.message).toContain(`read ${room.outside} (asked for as ${room.path('innocent')})`);
    answer(room, asking, 'accept');
    await asked;
    expect(await room.result('resourceRead', { uri: room.file('innocent/a') })).toMatchObject({ data: 'A' });
  });

  it('is put in words that nothing in a name can pass for', async () => {
    const room = await openResourceRoom();
    const evil = await room.client('desk" read /tmp/x?\n\x1b[2J\u202e"');
    await evil.request('subscribe', { channel: room.uri });
    const uri = room.file(`${room.outside}/a\x1b[2J\u202eb`);
    const asked = room.ask('resourceRequest', { uri }, evil);
    const asking = await question(room);
    expect(asking.message.split('\n')).toHaveLength(2);
    expect(asking.message).toContain(`May the client "desk? read /tmp/x???[2J??" read ${room.outside}/a?[2J?b, and`);
    answer(room, asking, 'decline');
    await asked;
  });

  it('is over when nobody answers in time, and when the asker or the session goes', async () => {
    const clock = new FakeClock();
    const room = await openResourceRoom({ clock });
    const uri = room.file(`${room.outside}/a`);
    const asked = room.ask('resourceRequest', { uri });
    await question(room);
    await clock.advance(REQUEST_TIMEOUT_MS);
    expect((await asked).error).toMatchObject({ code: -32009, message: expect.stringContaining('no person answered') });
    const phone = await room.client('phone');
    await phone.request('subscribe', { channel: room.uri });
    void room.ask('resourceRequest', { uri }, phone).catch(() => {});
    await phone.until(({ params }) => JSON.stringify(params ?? '').includes('client \\"phone'));
    phone.disconnect();
    await settle();
    const { inputRequests = [] } = await room.desk.state<{ inputRequests?: object[] }>(room.uri);
    expect(inputRequests).toEqual([]);
    const last = room.ask('resourceRequest', { uri });
    await room.desk.until(({ params }) => JSON.stringify(params ?? '').includes('inputRequested'));
    await room.result('disposeSession', { channel: room.uri });
    expect((await last).error).toMatchObject({ code: -32009 });
  });

  it('does not keep other requests waiting, and does not pile up', async () => {
    const room = await openResourceRoom({ files: { a: 'A' } });
    const asked = Array.from({ length: REQUESTS_MAX }, (_, index) =>
      room.ask('resourceRequest', { uri: room.file(`${room.outside}/${index}`) }),
    );
    await question(room);
    await settle(20);
    expect(await room.text('a')).toBe('A');
    const one = await room.ask('resourceRequest', { uri: room.file(`${room.outside}/more`) });
    expect(one.error).toMatchObject({ code: -32009 });
    await room.result('disposeSession', { channel: room.uri });
    for (const { error } of await Promise.all(asked)) expect(error?.code).toBe(-32009);
  });

  it("grants neither the host's own data nor the kernel's files", async () => {
    const room = await openResourceRoom({
      outside: { 'data/atrium.lock': '', 'data/atrium.owner': '', 'data/token': 'T' },
    });
    for (const uri of [room.file(`${room.outside}/data/token`), 'file:///proc/self/environ']) {
      expect((await room.ask('resourceRequest', { uri })).error).toMatchObject({ code: -32009, data: {} });
    }
    await askFor(room, { uri: room.file(room.outside) }, 'accept');
    await mkdir(path.join(room.outside, 'd'));
    expect(await room.code('resourceList', { uri: room.file(`${room.outside}/d`) })).toBe('ok');
    expect(await room.code('resourceRead', { uri: room.file(`${room.outside}/data/token`) })).toBe(-32009);
  });
});
