import { ErrorCode, type TerminalInfo } from '@atrium/protocol';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { COLS_MAX, ROWS_MAX } from '../../src/workspace/terminals/claims.js';
import { TITLE_MAX_CHARACTERS } from '../../src/workspace/terminals/osc-sequences.js';
import { loadPty } from '../../src/workspace/terminals/pty.js';
import { startHost } from '../support/session-fixture.js';
import { tempFolder } from '../support/temp-folder.js';
import {
  catalogue,
  fileUri,
  openTerminal,
  openTerminalFixture,
  PLAIN_SHELL,
  stateIn,
  type,
  until,
  untilText,
} from '../support/terminal-fixture.js';
import { ROOT } from '../support/test-host.js';

const OWN = { kind: 'client', clientId: 'desk' } as const;

describe('createTerminal', () => {
  it('[AHP-059] answers null, then tells everyone of the new terminal, which can be subscribed to', async () => {
    const { host, client } = await openTerminalFixture();
    const phone = await host.client('phone');
    const channel = 'ahp-terminal:/one';
    expect(
      await client.request('createTerminal', { channel, claim: OWN, name: 'mine', cols: 90, rows: 20 }),
    ).toBeNull();
    const { action } = await phone.action(ROOT, 'root/terminalsChanged');
    expect(action.terminals).toEqual([{ resource: channel, title: 'mine', claim: OWN }] satisfies TerminalInfo[]);
    expect(await stateIn(phone, channel)).toMatchObject({ title: 'mine', claim: OWN, cols: 90, rows: 20 });
  });

  it('[AHP-060] refuses a URI that is in use', async () => {
    const { client } = await openTerminalFixture();
    const channel = await openTerminal(client);
    const again = await client.ask('createTerminal', { channel, claim: OWN });
    expect(again.error?.code).toBe(ErrorCode.AlreadyExists);
    await expect.poll(() => catalogue(client)).toHaveLength(1);
    const both = await Promise.all(
      [1, 2].map(() => client.ask('createTerminal', { channel: 'ahp-terminal:/race', claim: OWN })),
    );
    expect(both.filter(({ error }) => error?.code === ErrorCode.AlreadyExists)).toHaveLength(1);
  });

  it('begins in the folder that was asked for, in that of the session, or in that of the host', async () => {
    const { client, folder } = await openTerminalFixture();
    const [asked, ofSession] = [await tempFolder(), await tempFolder()];
    const session = await client.session(undefined, { workingDirectory: fileUri(ofSession) });
    const claim = { kind: 'session', session };
    const places = [
      [asked, { cwd: fileUri(asked), claim }],
      [ofSession, { claim }],
      [folder, {}],
    ] as const;
    for (const [place, params] of places) {
      const uri = await openTerminal(client, params);
      type(client, uri, 'echo at:$(pwd -P):\r');
      await untilText(client, uri, `at:${place}:`);
      expect((await stateIn(client, uri)).cwd).toBe(fileUri(place));
    }
  });

  it.each([
    ['a URI of another kind', { channel: 'ahp-session:/x' }, ErrorCode.InvalidParams],
    ['a URI without an id', { channel: 'ahp-terminal:/' }, ErrorCode.InvalidParams],
    ['a folder that is not there', { cwd: 'file:///no/such/folder' }, ErrorCode.NotFound],
    ['a folder elsewhere', { cwd: 'https://example.com/' }, ErrorCode.InvalidParams],
    ['a file', { cwd: fileUri(import.meta.filename) }, ErrorCode.NotFound],
    ['no columns', { cols: 0 }, ErrorCode.InvalidParams],
    ['half a row', { rows: 1.5 }, ErrorCode.InvalidParams],
    ['too many columns', { cols: COLS_MAX + 1 }, ErrorCode.InvalidParams],
    ['too many rows', { rows: ROWS_MAX + 1 }, ErrorCode.InvalidParams],
    ['an empty name', { name: '' }, ErrorCode.InvalidParams],
    ['a long name', { name: 'x'.repeat(TITLE_MAX_CHARACTERS + 1) }, ErrorCode.InvalidParams],
    ['the claim of somebody else', { claim: { kind: 'client', clientId: 'phone' } }, ErrorCode.InvalidParams],
    [
      'a session that is not there',
      { claim: { kind: 'session', session: 'ahp-session:/no' } },
      ErrorCode.SessionNotFound,
    ],
  ])('refuses %s', async (_what, params, code) => {
    const { client } = await openTerminalFixture();
    const { error } = await client.ask('createTerminal', { channel: 'ahp-terminal:/x', claim: OWN, ...params });
    expect(error?.code).toBe(code);
    expect(await catalogue(client)).toEqual([]);
  });

  it('refuses the claim of a call, which only the host has', async () => {
    const { client } = await openTerminalFixture();
    const session = await client.session();
    const claim = { kind: 'session', session, turnId: 't', toolCallId: 'c' };
    const { error } = await client.ask('createTerminal', { channel: 'ahp-terminal:/x', claim });
    expect(error?.code).toBe(ErrorCode.InvalidParams);
  });

  it('opens no more than there may be', async () => {
    const { client } = await openTerminalFixture({ terminals: { ...PLAIN_SHELL, max: 2 } });
    const first = await openTerminal(client);
    await openTerminal(client);
    const { error } = await client.ask('createTerminal', { channel: 'ahp-terminal:/third', claim: OWN });
    expect(error).toMatchObject({ code: ErrorCode.PermissionDenied, message: expect.stringContaining('2 terminals') });
    await client.request('disposeTerminal', { channel: first });
    await openTerminal(client);
  });

  it('lets one go that has ended and that nobody looks at, rather than opening no more', async () => {
    const { client } = await openTerminalFixture({ terminals: { ...PLAIN_SHELL, max: 2 } });
    const [first, second] = [await openTerminal(client), await openTerminal(client)];
    for (const uri of [first, second]) {
      type(client, uri, 'exit 3\n');
      await until(client, uri, ({ exitCode }) => exitCode === 3);
    }
    const third = { channel: 'ahp-terminal:/third', claim: OWN };
    expect((await client.ask('createTerminal', third)).error?.code).toBe(ErrorCode.PermissionDenied);
    client.send({ method: 'unsubscribe', params: { channel: second } });
    await client.request('createTerminal', third);
    const uris = async () => (await catalogue(client)).map(({ resource }) => resource);
    await expect.poll(uris, { timeout: 10_000 }).toEqual([first, third.channel]);
  });

  it('says what to install where no terminal can be made, and does nothing else', async () => {
    const load = () => loadPty(() => Promise.reject(new Error('Cannot find package')));
    const { client } = await openTerminalFixture({ terminals: { load } });
    const { error } = await client.ask('createTerminal', { channel: 'ahp-terminal:/x', claim: OWN });
    expect(error?.message).toContain('npm install @lydell/node-pty');
    expect(await catalogue(client)).toEqual([]);
  });

  it('is refused where terminals are turned off', async () => {
    const host = await startHost({ terminals: false });
    const client = await host.client('desk');
    const { error } = await client.ask('createTerminal', { channel: 'ahp-terminal:/x', claim: OWN });
    expect(error).toMatchObject({ code: ErrorCode.PermissionDenied, message: expect.stringContaining('turned off') });
  });

  it("does not tell programs the host's own settings", async () => {
    vi.stubEnv('ATRIUM_CONNECTION_TOKEN', 'open-sesame');
    onTestFinished(() => void vi.unstubAllEnvs());
    const { client } = await openTerminalFixture();
    const uri = await openTerminal(client);
    type(client, uri, 'env; echo do""ne\r');
    const { content } = await untilText(client, uri, 'done\r\n');
    expect(JSON.stringify(content)).toContain('TERM=xterm-256color');
    expect(JSON.stringify(content)).not.toContain('open-sesame');
  });
});

describe('disposeTerminal', () => {
  it('[AHP-061] ends the process, takes the terminal away, and tells everyone', async () => {
    const { host, client } = await openTerminalFixture();
    const phone = await host.client('phone');
    const uri = await openTerminal(client);
    type(client, uri, 'echo shell=$$.\r');
    const shown = await untilText(client, uri, /shell=\d+\./);
    const pid = Number(/shell=(\d+)\./.exec(JSON.stringify(shown))?.[1]);
    expect(await client.request('disposeTerminal', { channel: uri })).toBeNull();
    expect(() => process.kill(pid, 0)).toThrow();
    await phone.action(
      ROOT,
      (action) => action.type === 'root/terminalsChanged' && JSON.stringify(action.terminals) === '[]',
    );
    expect((await client.ask('subscribe', { channel: uri })).error?.code).toBe(ErrorCode.NotFound);
    expect(client.types(uri).at(-1)).toBe('terminal/exited');
  });

  it('[AHP-062] of a terminal that is not there is refused', async () => {
    const { client } = await openTerminalFixture();
    const { error } = await client.ask('disposeTerminal', { channel: 'ahp-terminal:/none' });
    expect(error?.code).toBe(ErrorCode.NotFound);
  });
});
