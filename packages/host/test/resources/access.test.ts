import { mkdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { REQUEST_TIMEOUT_MS, REQUESTS_MAX } from '../../src/workspace/files/access-requests.js';
import { FakeClock } from '../support/fake-clock.js';
import { openResourceFixture, type ResourceFixture } from '../support/resource-fixture.js';
import { tempFolder } from '../support/temp-folder.js';
import { type RawClient, ROOT, settle } from '../support/test-host.js';

interface Question {
  readonly id: string;
  readonly message: string;
}

async function question(fixture: ResourceFixture, client = fixture.client): Promise<Question> {
  const { action } = await client.action(fixture.uri, 'session/inputRequested');
  return action.request as Question;
}

function answer(fixture: ResourceFixture, { id }: Question, response: string, client = fixture.client): void {
  client.dispatch(fixture.uri, { type: 'session/inputCompleted', requestId: id, response } as never);
}

/** Asks for something, and lets the person say yes or no. */
async function askFor(fixture: ResourceFixture, params: object, response: 'accept' | 'decline') {
  const asked = fixture.ask('resourceRequest', params);
  answer(fixture, await question(fixture), response);
  return asked;
}

describe('a denial', () => {
  it('[AHP-068] [AHP-100] [AHP-103] names the request that would unlock it', async () => {
    const fixture = await openResourceFixture({ outside: { a: 'A' } });
    const uri = fixture.file(`${fixture.outside}/a`);
    const read = { request: { channel: ROOT, uri, read: true } };
    const write = { request: { channel: ROOT, uri, write: true } };
    const cases = [
      ['resourceRead', { uri }, read],
      ['resourceList', { uri }, read],
      ['resourceResolve', { uri }, read],
      ['createResourceWatch', { uri }, read],
      ['resourceCopy', { source: uri, destination: fixture.file('x') }, read],
      ['resourceWrite', { uri, data: '', encoding: 'utf-8' }, write],
      ['resourceDelete', { uri }, write],
      ['resourceMkdir', { uri }, write],
      ['resourceMove', { source: uri, destination: fixture.file('x') }, write],
      ['resourceCopy', { source: fixture.file('.'), destination: uri }, write],
    ] as const;
    for (const [method, params, data] of cases) {
      expect((await fixture.ask(method, params)).error, method).toMatchObject({ code: -32009, data });
    }
  });

  it('[AHP-103] carries an object also when nothing could unlock it', async () => {
    const fixture = await openResourceFixture();
    for (const uri of ['virtual:/x', 'file:///dev/zero?x', 'file://other/x']) {
      expect((await fixture.ask('resourceRead', { uri })).error).toMatchObject({ code: -32009, data: {} });
      expect((await fixture.ask('resourceRequest', { uri })).error).toMatchObject({ code: -32009, data: {} });
    }
  });
});

describe('what clients have without asking', () => {
  it('is the folder of every session, also of other clients, until it is disposed of', async () => {
    const fixture = await openResourceFixture({ files: { a: 'A' } });
    const phone = await fixture.join('phone');
    expect(await fixture.code('resourceRead', { uri: fixture.file('a') }, phone)).toBe('ok');
    await fixture.result('disposeSession', { channel: fixture.uri });
    expect(await fixture.code('resourceRead', { uri: fixture.file('a') }, phone)).toBe(-32009);
  });

  it('is a worktree of a session among the data of the host, and nothing beside it', async () => {
    const data = await tempFolder({
      'atrium.lock': '',
      'atrium.owner': '',
      token: 'T',
      'worktrees/w1/a': 'A',
      'worktrees/w2/b': 'B',
    });
    const fixture = await openResourceFixture();
    const at = (name: string) => pathToFileURL(path.join(data, name)).href;
    await fixture.client.session(undefined, { workingDirectory: at('worktrees/w1') });
    expect(await fixture.result('resourceRead', { uri: at('worktrees/w1/a') })).toMatchObject({ data: 'A' });
    expect(await fixture.code('resourceRead', { uri: at('worktrees/w2/b') })).toBe(-32009);
    await fixture.client.session(undefined, { workingDirectory: at('.') });
    expect(await fixture.code('resourceRead', { uri: at('token') })).toBe(-32009);
    expect(await fixture.code('resourceList', { uri: at('worktrees') })).toBe(-32009);
  });

  it('is the names of folders and files where people look for a place to work, and nothing with a dot', async () => {
    const home = await tempFolder({ 'work/app/main.ts': 'x', 'notes.txt': 'N', '.ssh/id': 'KEY', '.config/x/y': '' });
    const fixture = await openResourceFixture({ host: { browsedFolders: [home] } });
    const at = (name: string) => pathToFileURL(path.join(home, name)).href;
    const names = async (name: string) => {
      const { entries } = await fixture.result<{ entries: { name: string }[] }>('resourceList', { uri: at(name) });
      return entries.map((entry) => entry.name).sort();
    };
    expect(await names('.')).toEqual(['notes.txt', 'work']);
    expect(await names('work/app')).toEqual(['main.ts']);
    expect(await fixture.result('resourceResolve', { uri: at('work') })).toMatchObject({ type: 'directory' });
    for (const name of ['.ssh', '.ssh/id', '.config', '.config/x', '.none']) {
      for (const method of ['resourceList', 'resourceResolve', 'resourceRead']) {
        expect(await fixture.code(method, { uri: at(name) }), `${method} ${name}`).toBe(-32009);
      }
    }
    expect(await fixture.code('resourceRead', { uri: at('notes.txt') })).toBe(-32009);
    expect(await fixture.code('resourceResolve', { uri: at('notes.txt') })).toBe(-32009);
    expect(await fixture.code('createResourceWatch', { uri: at('work') })).toBe(-32009);
    expect(await fixture.code('resourceMkdir', { uri: at('new') })).toBe(-32009);
    await symlink(path.join(home, '.ssh'), path.join(home, 'keys'));
    expect(await fixture.code('resourceList', { uri: at('keys') })).toBe(-32009);
  });

  it('is the default folder to look through, too', async () => {
    const folder = await tempFolder({ 'a/x': '' });
    const fixture = await openResourceFixture({ host: { defaultDirectory: pathToFileURL(folder).href } });
    const { entries } = await fixture.result<{ entries: object[] }>('resourceList', {
      uri: pathToFileURL(folder).href,
    });
    expect(entries).toEqual([{ name: 'a', type: 'directory' }]);
  });

  it('[V1-016] [V1-015] a client of sessions-v1 browses and reads in its own words', async () => {
    const fixture = await openResourceFixture({ files: { 'a.txt': 'A', 'd/x': '' } });
    const old = await fixture.join('phone');
    const one = new (old.constructor as typeof RawClient)();
    fixture.host.connect(one.transport);
    await one.request('initialize', { protocolVersion: 1, clientId: 'old' });
    const listed = await one.request<{ entries: object[] }>('browseDirectory', { uri: fixture.file('.') });
    expect(listed.entries).toContainEqual({ name: 'd', type: 'directory' });
    expect(await one.request('fetchContent', { uri: fixture.file('a.txt') })).toEqual({
      data: 'A',
      encoding: 'utf-8',
      mimeType: 'text/plain',
    });
    expect((await one.ask('browseDirectory', { uri: fixture.file('a.txt') })).error).toBeDefined();
  });
});

describe('resourceRequest', () => {
  it('[AHP-083] [AHP-068] asks a person, and what they grant is granted until the session is gone', async () => {
    const fixture = await openResourceFixture({ outside: { 'd/a': 'A' } });
    const uri = fixture.file(`${fixture.outside}/d`);
    const file = fixture.file(`${fixture.outside}/d/a`);
    const asked = fixture.ask('resourceRequest', { uri });
    const { message, id } = await question(fixture);
    expect(message).toContain(`May the client "desk" read ${fixture.outside}/d`);
    expect(await fixture.code('resourceRead', { uri: file })).toBe(-32009);
    answer(fixture, { id, message }, 'accept');
    expect((await asked).result).toEqual({});
    expect(await fixture.result('resourceRead', { uri: file })).toMatchObject({ data: 'A' });
    expect(await fixture.code('resourceWrite', { uri: file, data: 'x', encoding: 'utf-8' })).toBe(-32009);
    expect(await fixture.code('resourceRead', { uri: fixture.file(`${fixture.outside}`) })).toBe(-32009);
    const phone = await fixture.join('phone');
    expect(await fixture.code('resourceRead', { uri: file }, phone)).toBe(-32009);
    await fixture.result('disposeSession', { channel: fixture.uri });
    expect(await fixture.code('resourceRead', { uri: file })).toBe(-32009);
  });

  it('[AHP-083] asks for writing in words of its own, and needs no second question', async () => {
    const fixture = await openResourceFixture();
    const uri = fixture.file(`${fixture.outside}/new.txt`);
    const asked = fixture.ask('resourceRequest', { uri, write: true });
    const asking = await question(fixture);
    expect(asking.message).toContain('read and change');
    answer(fixture, asking, 'accept');
    expect((await asked).result).toEqual({});
    expect(await fixture.code('resourceWrite', { uri, data: 'x', encoding: 'utf-8' })).toBe('ok');
    expect(await fixture.result('resourceRead', { uri })).toMatchObject({ data: 'x' });
    expect((await fixture.ask('resourceRequest', { uri, read: true })).result).toEqual({});
    expect((await fixture.ask('resourceRequest', { uri: fixture.file('anything'), write: true })).result).toEqual({});
  });

  it('[AHP-083] is denied when a person says no, and anybody in the session may say so', async () => {
    const fixture = await openResourceFixture({ outside: { a: 'A' } });
    const phone = await fixture.join('phone');
    await phone.request('subscribe', { channel: fixture.uri });
    const uri = fixture.file(`${fixture.outside}/a`);
    const asked = fixture.ask('resourceRequest', { uri });
    answer(fixture, await question(fixture, phone), 'decline', phone);
    expect((await asked).error).toMatchObject({ code: -32009, message: expect.stringContaining('said no') });
    expect(await fixture.code('resourceRead', { uri })).toBe(-32009);
  });

  it('[AHP-083] is denied when there is nobody to ask, in the same words for what is there and what is not', async () => {
    const fixture = await openResourceFixture({ outside: { a: 'A' } });
    const phone = await fixture.join('phone');
    const words = async (name: string) => {
      const uri = fixture.file(path.join(fixture.outside, name));
      const { error } = await fixture.ask('resourceRequest', { uri }, phone);
      expect(error).toMatchObject({ code: -32009, message: expect.stringContaining('Subscribe to a session') });
      return error?.message.replace(uri, '');
    };
    expect(await words('a')).toBe(await words('none'));
  });

  it('shows where a link really leads, and grants that place alone', async () => {
    const fixture = await openResourceFixture({ outside: { a: 'A' } });
    await symlink(fixture.outside, fixture.path('innocent'));
    const uri = fixture.file('innocent');
    const asked = fixture.ask('resourceRequest', { uri });
    const asking = await question(fixture);
    expect(asking.message).toContain(`read ${fixture.outside} (asked for as ${fixture.path('innocent')})`);
    answer(fixture, asking, 'accept');
    await asked;
    expect(await fixture.result('resourceRead', { uri: fixture.file('innocent/a') })).toMatchObject({ data: 'A' });
  });

  it('is put in words that nothing in a name can pass for', async () => {
    const fixture = await openResourceFixture();
    const evil = await fixture.join('desk" read /tmp/x?\n\x1b[2J\u202e"');
    await evil.request('subscribe', { channel: fixture.uri });
    const uri = fixture.file(`${fixture.outside}/a\x1b[2J\u202eb`);
    const asked = fixture.ask('resourceRequest', { uri }, evil);
    const asking = await question(fixture);
    expect(asking.message.split('\n')).toHaveLength(2);
    expect(asking.message).toContain(`May the client "desk? read /tmp/x???[2J??" read ${fixture.outside}/a?[2J?b, and`);
    answer(fixture, asking, 'decline');
    await asked;
  });

  it('is over when nobody answers in time, and when the asker or the session goes', async () => {
    const clock = new FakeClock();
    const fixture = await openResourceFixture({ clock });
    const uri = fixture.file(`${fixture.outside}/a`);
    const asked = fixture.ask('resourceRequest', { uri });
    await question(fixture);
    await clock.advance(REQUEST_TIMEOUT_MS);
    expect((await asked).error).toMatchObject({ code: -32009, message: expect.stringContaining('no person answered') });
    const phone = await fixture.join('phone');
    await phone.request('subscribe', { channel: fixture.uri });
    void fixture.ask('resourceRequest', { uri }, phone).catch(() => {});
    await phone.until(({ params }) => JSON.stringify(params ?? '').includes('client \\"phone'));
    phone.disconnect();
    await settle();
    const { inputRequests = [] } = await fixture.client.state<{ inputRequests?: object[] }>(fixture.uri);
    expect(inputRequests).toEqual([]);
    const last = fixture.ask('resourceRequest', { uri });
    await fixture.client.until(({ params }) => JSON.stringify(params ?? '').includes('inputRequested'));
    await fixture.result('disposeSession', { channel: fixture.uri });
    expect((await last).error).toMatchObject({ code: -32009 });
  });

  it('does not keep other requests waiting, and does not pile up', async () => {
    const fixture = await openResourceFixture({ files: { a: 'A' } });
    const asked = Array.from({ length: REQUESTS_MAX }, (_, index) =>
      fixture.ask('resourceRequest', { uri: fixture.file(`${fixture.outside}/${index}`) }),
    );
    await question(fixture);
    await settle(20);
    expect(await fixture.text('a')).toBe('A');
    const one = await fixture.ask('resourceRequest', { uri: fixture.file(`${fixture.outside}/more`) });
    expect(one.error).toMatchObject({ code: -32009 });
    await fixture.result('disposeSession', { channel: fixture.uri });
    for (const { error } of await Promise.all(asked)) expect(error?.code).toBe(-32009);
  });

  it("grants neither the host's own data nor the kernel's files", async () => {
    const fixture = await openResourceFixture({
      outside: { 'data/atrium.lock': '', 'data/atrium.owner': '', 'data/token': 'T' },
    });
    for (const uri of [fixture.file(`${fixture.outside}/data/token`), 'file:///proc/self/environ']) {
      expect((await fixture.ask('resourceRequest', { uri })).error).toMatchObject({ code: -32009, data: {} });
    }
    await askFor(fixture, { uri: fixture.file(fixture.outside) }, 'accept');
    await mkdir(path.join(fixture.outside, 'd'));
    expect(await fixture.code('resourceList', { uri: fixture.file(`${fixture.outside}/d`) })).toBe('ok');
    expect(await fixture.code('resourceRead', { uri: fixture.file(`${fixture.outside}/data/token`) })).toBe(-32009);
  });
});
