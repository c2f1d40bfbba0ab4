import { existsSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { StateAction } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import { CLIENT_REQUEST_TIMEOUT_MS, PUBLISH_MERGE_MS } from '../../src/plugins/formats/limits.js';
import {
  type Answer,
  ClientError,
  type CustomFixture,
  type Entry,
  MCP_PROGRAM,
  openCustomFixture,
  POLL,
  servedFiles,
} from '../support/custom-fixture.js';
import { FakeClock } from '../support/fake-clock.js';
import { envelopesOf, refusalOf } from '../support/session-fixture.js';
import { tempFolder } from '../support/temp-folder.js';
import type { RawClient } from '../support/test-host.js';

const URI = 'virtual://desk/skills';
const FILES = {
  '.plugin/plugin.json': '{"name":"workspace"}',
  'skills/hello/SKILL.md': '---\nname: hello\ndescription: Says hello.\n---\nHELLO BODY',
  'rules/short.md': '---\ndescription: s\nalwaysApply: true\n---\nSHORT LINES',
};

interface Published {
  readonly id: string;
  readonly uri: string;
  readonly nonce?: string;
  readonly type?: string;
}

function claim(client: RawClient, ...plugins: Published[]): StateAction {
  const customizations = plugins.map((plugin) => ({ type: 'plugin', name: 'Workspace', enabled: true, ...plugin }));
  const activeClient = { clientId: client.clientId, tools: [], customizations };
  return { type: 'session/activeClientChanged', activeClient } as unknown as StateAction;
}

/** A fixture with a client that publishes plugins and answers for their files. */
async function openClientFixture(answer: Answer = servedFiles(URI, FILES), options = {}) {
  const fixture = await openCustomFixture(options);
  const phone = await fixture.join('phone', answer);
  return {
    fixture,
    phone,
    publish: (...plugins: Published[]) => refusalOf(phone, fixture.uri, claim(phone, ...plugins)),
  };
}

async function untilRead(fixture: CustomFixture, id: string): Promise<Entry> {
  const find = async () => (await fixture.entries()).find((entry) => entry.id === id && entry.load?.kind !== 'loading');
  await expect.poll(find, POLL).toBeTruthy();
  return (await find()) as Entry;
}

/** What happened to client plugins, in order: the type, and how far the entry was. */
function history(fixture: CustomFixture): string[] {
  return envelopesOf(fixture.client, fixture.uri).flatMap(({ action }) => {
    const entry = action.customization as Entry | undefined;
    if (action.type === 'session/activeClientChanged') return [`client ${action.activeClient ? 'here' : 'gone'}`];
    if (action.type === 'session/customizationRemoved') return [`removed ${String(action.id)}`];
    return entry?.clientId === undefined ? [] : [`${entry.load?.kind} ${entry.id}`];
  });
}

describe('a plugin that a client publishes', { timeout: 30_000 }, () => {
  it('[CUS-090] [CUS-099] [CUS-101] [CUS-124] [AHP-188] [AHP-251] is read from the client, shown as loading and then with its parts', async () => {
    const asked: string[] = [];
    const { fixture, publish } = await openClientFixture(servedFiles(URI, FILES, asked));
    expect(await publish({ id: 'p1', uri: URI })).toBeUndefined();
    const entry = await untilRead(fixture, 'p1');
    expect(entry).toMatchObject({ type: 'plugin', clientId: 'phone', uri: URI, load: { kind: 'loaded' } });
    expect(entry.children).toMatchObject([
      { type: 'skill', name: 'hello', uri: `${URI}/skills/hello/SKILL.md` },
      { type: 'rule', name: 'short' },
    ]);
    expect(history(fixture)).toEqual(['client here', 'loading p1', 'loaded p1']);
    const first = envelopesOf(fixture.client, fixture.uri).find(
      ({ action }) => (action.customization as Entry)?.id === 'p1',
    );
    expect(first?.action.customization).not.toHaveProperty('children');
    for (const request of asked) expect(request).toMatch(/^resource(List|Read) virtual:\/\/desk\/skills/);
    const { turn } = await fixture.turn('/hello');
    expect(turn.context.join()).toContain('HELLO BODY');
    expect((await turn.renderPrompt()).get('custom_instructions')).toContain('SHORT LINES');
  });

  it('[CUS-099] [CUS-125] [AHP-190] leaves when its client stops being active', async () => {
    const { fixture, phone, publish } = await openClientFixture();
    await publish({ id: 'p1', uri: URI }, { id: 'p2', uri: URI });
    await untilRead(fixture, 'p1');
    await untilRead(fixture, 'p2');
    phone.disconnect();
    await fixture.client.action(
      fixture.uri,
      (action) => action.type === 'session/customizationRemoved' && action.id === 'p2',
    );
    expect(history(fixture).slice(-3)).toEqual(['client gone', 'removed p1', 'removed p2']);
    const { turn } = await fixture.turn('/hello');
    expect(turn.context).toEqual([]);
  });

  it('[CUS-126] is replaced by the set of the next claim', async () => {
    const { fixture, publish } = await openClientFixture();
    await publish({ id: 'p1', uri: URI, nonce: '1' }, { id: 'p2', uri: URI, nonce: '1' });
    await untilRead(fixture, 'p1');
    await untilRead(fixture, 'p2');
    await publish({ id: 'p2', uri: URI, nonce: '1' }, { id: 'p3', uri: URI, nonce: '1' });
    await untilRead(fixture, 'p3');
    const ids = (await fixture.entries()).filter(({ clientId }) => clientId).map(({ id }) => id);
    expect(ids).toEqual(['p2', 'p3']);
    expect(history(fixture).slice(-4)).toEqual(['client here', 'removed p1', 'loading p3', 'loaded p3']);
  });

  it('[CUS-097] [AHP-189] is read again for a new nonce, and not for the same one', async () => {
    const asked: string[] = [];
    const files = { ...FILES };
    const { fixture, publish } = await openClientFixture(servedFiles(URI, files, asked));
    await publish({ id: 'p1', uri: URI, nonce: 'a' });
    await untilRead(fixture, 'p1');
    const once = asked.length;
    await publish({ id: 'p1', uri: URI, nonce: 'a' });
    expect(asked).toHaveLength(once);
    expect(history(fixture).filter((step) => step === 'loading p1')).toHaveLength(1);
    Object.assign(files, { 'rules/more.md': '---\ndescription: m\nalwaysApply: true\n---\nMORE' });
    await publish({ id: 'p1', uri: URI, nonce: 'b' });
    await expect.poll(async () => (await untilRead(fixture, 'p1')).children?.length, POLL).toBe(3);
  });

  it('[CUS-100] is read directly when it is in a folder of this machine', async () => {
    const folder = await tempFolder(FILES);
    const asked: string[] = [];
    const { fixture, publish } = await openClientFixture(servedFiles('nothing', {}, asked));
    await publish({ id: 'p1', uri: pathToFileURL(folder).href });
    expect((await untilRead(fixture, 'p1')).children).toHaveLength(2);
    expect(asked).toEqual([]);
  });

  it.each([-32601, -32008, -32009])(
    '[CUS-102] has an error when its client answers %i; the session goes on',
    async (code) => {
      const { fixture, publish } = await openClientFixture(() => {
        throw new ClientError(code);
      });
      await publish({ id: 'p1', uri: URI });
      const entry = await untilRead(fixture, 'p1');
      expect(entry).toMatchObject({ load: { kind: 'error', message: expect.stringContaining('cannot be read') } });
      const { finish } = await fixture.turn();
      finish();
      await fixture.client.action(fixture.uri, 'session/turnComplete');
    },
  );

  it('[CUS-102] has an error when its client says nothing', async () => {
    const clock = new FakeClock();
    const fixture = await openCustomFixture({ clock });
    const phone = await fixture.join('phone');
    await refusalOf(phone, fixture.uri, claim(phone, { id: 'p1', uri: URI }));
    await phone.until(({ method }) => method === 'resourceList');
    await clock.advance(CLIENT_REQUEST_TIMEOUT_MS + PUBLISH_MERGE_MS);
    const silent = async () => {
      await clock.advance(PUBLISH_MERGE_MS);
      return (await fixture.entries()).find(({ id }) => id === 'p1')?.load;
    };
    await expect
      .poll(silent, POLL)
      .toMatchObject({ kind: 'error', message: expect.stringContaining('cannot be read') });
  });

  it('[CUS-103] keeps its id, unless the session has an entry of that id', async () => {
    const { fixture, publish } = await openClientFixture(undefined, { user: { 'plugins/own/commands/a.md': 'A' } });
    const { id } = await fixture.entry('own');
    await publish({ id, uri: URI });
    expect(await untilRead(fixture, `phone:${id}`)).toMatchObject({ clientId: 'phone', load: { kind: 'loaded' } });
    expect(await fixture.entry('own')).toMatchObject({ id });
    await publish();
    await fixture.client.action(fixture.uri, (action) => action.type === 'session/customizationRemoved');
    expect((await fixture.entries()).map((entry) => entry.id)).toContain(id);
  });

  it('[CUS-123] is left out when it is no plugin; the claim stands', async () => {
    const { fixture, publish } = await openClientFixture();
    expect(await publish({ id: 'd1', uri: URI, type: 'directory' }, { id: 'p1', uri: URI })).toBeUndefined();
    await untilRead(fixture, 'p1');
    expect((await fixture.entries()).map(({ id }) => id)).not.toContain('d1');
    expect((await fixture.state()).activeClient?.clientId).toBe('phone');
    expect(fixture.warnings.join()).toContain('a client published customizations that are not plugins; left them out');
  });

  it('[CUS-104] runs no hook before somebody accepted it, and asks only once', async () => {
    const hooks = { hooks: { PreToolUse: [{ hooks: [{ command: 'exit 2' }] }] } };
    const files = { ...FILES, 'hooks/hooks.json': JSON.stringify(hooks) };
    const { fixture, publish } = await openClientFixture(servedFiles(URI, files), { project: { 'a.txt': 'alpha' } });
    const { turn } = await fixture.turn();
    await publish({ id: 'p1', uri: URI, nonce: 'a' });
    await untilRead(fixture, 'p1');
    const read = { name: 'read_file', input: { path: 'a.txt' } };
    expect(await turn.callTool(read)).toMatchObject({ kind: 'completed', success: true });
    const question = await fixture.answer('accept');
    expect(question).toContain('A client brought a plugin');
    expect(question).toMatch(/^ {4}hook PreToolUse of plugin .*: exit 2$/m);
    await expect.poll(async () => (await turn.callTool(read)).kind, POLL).toBe('denied');
    await publish();
    expect(await turn.callTool(read)).toMatchObject({ kind: 'completed' });
    await publish({ id: 'p1', uri: URI, nonce: 'b' });
    await expect.poll(async () => (await turn.callTool(read)).kind, POLL).toBe('denied');
    expect((await fixture.state()).inputRequests ?? []).toEqual([]);
  });

  it('[REL-055] asks again when what a client brought starts something else', async () => {
    const hooks = (command: string) => JSON.stringify({ hooks: { PreToolUse: [{ hooks: [{ command }] }] } });
    let served = servedFiles(URI, { ...FILES, 'hooks/hooks.json': hooks('exit 2') });
    const answer: typeof served = (method, params) => served(method, params);
    const { fixture, publish } = await openClientFixture(answer, { project: { 'a.txt': 'alpha' } });
    const { turn } = await fixture.turn();
    await publish({ id: 'p1', uri: URI, nonce: 'a' });
    await untilRead(fixture, 'p1');
    await fixture.answer('accept');
    const read = { name: 'read_file', input: { path: 'a.txt' } };
    await expect.poll(async () => (await turn.callTool(read)).kind, POLL).toBe('denied');
    served = servedFiles(URI, { ...FILES, 'hooks/hooks.json': hooks('echo other > ran.txt; exit 0') });
    await publish({ id: 'p1', uri: URI, nonce: 'b' });
    await expect.poll(async () => (await turn.callTool(read)).kind, POLL).toBe('completed');
    expect(existsSync(path.join(fixture.folder, 'ran.txt'))).toBe(false);
    expect(await fixture.answer('accept')).toContain('echo other > ran.txt; exit 0');
    await expect
      .poll(async () => [await turn.callTool(read), existsSync(path.join(fixture.folder, 'ran.txt'))].at(1), POLL)
      .toBe(true);
  });

  it.each(['accept', 'decline'] as const)(
    '[CUS-104] starts no MCP server before somebody accepted it (%s)',
    async (response) => {
      const mark = path.join(await tempFolder(), 'mark');
      const started = { command: process.execPath, args: [MCP_PROGRAM, 'recovers', mark] };
      const own = { command: process.execPath, args: [MCP_PROGRAM, 'good'] };
      const files = { ...FILES, '.mcp.json': JSON.stringify({ mcpServers: { notes: started } }) };
      const { fixture, publish } = await openClientFixture(servedFiles(URI, files), {
        config: { mcpServers: { own } },
      });
      const kindOf = async () =>
        (await untilRead(fixture, 'p1')).children?.find(({ name }) => name === 'notes')?.state?.kind;
      await publish({ id: 'p1', uri: URI });
      expect(await kindOf()).toBe('stopped');
      const { id } = await fixture.entry('own', ({ state }) => state?.kind === 'ready');
      await fixture.turn();
      expect([await kindOf(), existsSync(mark)]).toEqual(['stopped', false]);
      expect(await fixture.answer(response)).toContain('MCP server notes');
      if (response === 'accept') return expect.poll(kindOf, POLL).toBe('ready');
      // Whatever may start has started by then.
      fixture.toggle(id, false);
      await fixture.entry('own', ({ state }) => state?.kind === 'stopped');
      fixture.toggle(id, true);
      await fixture.entry('own', ({ state }) => state?.kind === 'ready');
      expect([await kindOf(), existsSync(mark)]).toEqual(['stopped', false]);
    },
  );

  it.each(['accepted', 'not answered'] as const)(
    '[CUS-104] runs no hook of another plugin that comes under the id of one that was %s',
    async (how) => {
      const hooks = { hooks: { PreToolUse: [{ hooks: [{ command: 'exit 2' }] }] } };
      const other = 'virtual://desk/others';
      const first = servedFiles(URI, { ...FILES, 'hooks/hooks.json': JSON.stringify(hooks) });
      const second = servedFiles(other, { 'hooks/hooks.json': JSON.stringify(hooks) });
      const both: Answer = (method, params) => (String(params.uri).startsWith(other) ? second : first)(method, params);
      const { fixture, publish } = await openClientFixture(both, { project: { 'a.txt': 'alpha' } });
      const { turn } = await fixture.turn();
      const read = { name: 'read_file', input: { path: 'a.txt' } };
      await publish({ id: 'p1', uri: URI, nonce: 'a' });
      await untilRead(fixture, 'p1');
      if (how === 'accepted') {
        await fixture.answer('accept');
        await expect.poll(async () => (await turn.callTool(read)).kind, POLL).toBe('denied');
      }
      await publish({ id: 'p1', uri: other, nonce: 'b' });
      await expect.poll(async () => (await untilRead(fixture, 'p1')).uri, POLL).toBe(other);
      expect(await turn.callTool(read)).toMatchObject({ kind: 'completed', success: true });
      expect(await fixture.answer('accept')).toContain(other);
      await expect.poll(async () => (await turn.callTool(read)).kind, POLL).toBe('denied');
    },
  );

  it('[CUS-111] changes nothing by any other action of a client than a toggle', async () => {
    const { fixture, phone, publish } = await openClientFixture();
    await publish({ id: 'p1', uri: URI });
    const entry = await untilRead(fixture, 'p1');
    const before = await fixture.entries();
    for (const action of [
      { type: 'session/customizationUpdated', customization: { ...entry, name: 'Mine' } },
      { type: 'session/customizationRemoved', id: 'p1' },
      { type: 'session/customizationsChanged', customizations: [] },
    ]) {
      expect(await refusalOf(phone, fixture.uri, action)).toBeTruthy();
    }
    expect(await fixture.entries()).toEqual(before);
    fixture.toggle('p1', false);
    await expect.poll(async () => (await untilRead(fixture, 'p1')).enabled, POLL).toBe(false);
    expect(await fixture.entries()).toEqual(before.map((one) => (one.id === 'p1' ? { ...one, enabled: false } : one)));
  });
});
