/** Terminals as clients of AHP 1.0 see them. */
import type { RootState, TerminalState } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { nativeClient, nativeSession } from '../support/native-client.js';
import { refusalOf } from '../support/session-fixture.js';
import { openTerminal, openTerminalFixture, type } from '../support/terminal-fixture.js';
import { ROOT } from '../support/test-host.js';

const POLL = { timeout: 15_000 };

describe('a terminal, for a client of 1.0', { timeout: 30_000 }, () => {
  it('[UP-141] [UP-081] [UP-205] says whether it runs, in its state and in the list, and can be looked at when it ended', async () => {
    const { host } = await openTerminalFixture();
    const client = await nativeClient(host, 'editor');
    const uri = await openTerminal(client);
    const lifecycle = async () => (await client.state<TerminalState>(uri)).lifecycle;
    const listed = async () =>
      (await client.state<RootState>(ROOT)).terminals?.find(({ resource }) => resource === uri)?.lifecycle;
    expect(await lifecycle()).toEqual({ status: 'running' });
    expect((await client.state<TerminalState>(uri)).isPty).toBe(true);
    await expect.poll(listed, POLL).toEqual({ status: 'running' });
    type(client, uri, 'exit 3\r');
    await expect.poll(lifecycle, POLL).toEqual({ status: 'exited', exitCode: 3 });
    await expect.poll(listed, POLL).toEqual({ status: 'exited', exitCode: 3 });
    const older = await host.client('desk');
    expect(await older.state(uri)).toMatchObject({ exitCode: 3 });
    expect(await older.state(uri)).not.toHaveProperty('lifecycle');
  });

  it('[UP-211] belongs to a chat of a session, and to no chat elsewhere', async () => {
    const { host } = await openTerminalFixture();
    const client = await nativeClient(host, 'editor');
    const { uri: session, chat } = await nativeSession(client);
    const other = await nativeSession(client);
    const claim = { kind: 'session', session, chat };
    const uri = await openTerminal(client, { claim });
    expect((await client.state<TerminalState>(uri)).claim).toEqual(claim);
    const claimed = (to: object) => refusalOf(client, uri, { type: 'terminal/claimed', claim: to } as { type: string });
    expect(await claimed({ ...claim, chat: other.chat })).toContain('is not a chat of that session');
    expect(await claimed({ kind: 'client', clientId: 'editor' })).toBeUndefined();
    const older = await host.client('desk');
    await older.request('subscribe', { channel: uri });
    const given = { type: 'terminal/claimed', claim } as { type: string };
    expect(await refusalOf(client, uri, given)).toBeUndefined();
    const { claim: shown } = await older.state<{ claim: object }>(uri);
    expect(shown).toEqual({ kind: 'session', session });
  });
});

describe('a terminal, for clients of versions below 1.0', { timeout: 30_000 }, () => {
  it.each([
    ['0.9.0', { lifecycle: { status: 'exited', exitCode: 3 } }, 'exitCode'],
    ['0.7.0', { exitCode: 3 }, 'lifecycle'],
    ['0.5.1', { exitCode: 3 }, 'lifecycle'],
  ])('[UP-141] [UP-211] ends as %s has it', async (version, ended, absent) => {
    const { host } = await openTerminalFixture();
    const client = await nativeClient(host, 'editor', { protocolVersions: [version] });
    const uri = await openTerminal(client);
    expect(await client.state(uri)).not.toMatchObject(ended);
    type(client, uri, 'exit 3\r');
    await expect.poll(() => client.state(uri), POLL).toMatchObject(ended);
    expect(await client.state(uri)).not.toHaveProperty(absent);
  });
});
