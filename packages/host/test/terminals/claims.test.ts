import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { StateAction, TerminalClaim } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import { INPUT_MAX_CHARACTERS } from '../../src/workspace/terminals/claims.js';
import { TITLE_MAX_CHARACTERS } from '../../src/workspace/terminals/osc-sequences.js';
import { answerTo, envelopesOf, refusalOf } from '../support/session-fixture.js';
import {
  catalogue,
  openTerminal,
  openTerminalFixture,
  stateIn,
  textIn,
  type,
  until,
  untilText,
} from '../support/terminal-fixture.js';
import { ROOT } from '../support/test-host.js';

const of = (clientId: string): TerminalClaim => ({ kind: 'client', clientId });
const claimed = (claim: TerminalClaim): StateAction => ({ type: 'terminal/claimed', claim });
const resized = (cols: number, rows: number): StateAction => ({ type: 'terminal/resized', cols, rows });

describe('the owner of a terminal', () => {
  it('[AHP-143] alone may hand it over: to another client, or to a session', async () => {
    const { host, client } = await openTerminalFixture();
    const phone = await host.client('phone');
    const session = await client.session();
    const uri = await openTerminal(client);
    expect(await refusalOf(phone, uri, claimed(of('phone')))).toContain('belongs to the client desk');
    expect((await stateIn(client, uri)).claim).toEqual(of('desk'));
    expect(await refusalOf(client, uri, claimed(of('phone')))).toBeUndefined();
    expect((await stateIn(client, uri)).claim).toEqual(of('phone'));
    expect(await refusalOf(client, uri, claimed(of('desk')))).toContain('belongs to the client phone');
    expect(await refusalOf(phone, uri, claimed({ kind: 'session', session }))).toBeUndefined();
    expect((await stateIn(client, uri)).claim).toEqual({ kind: 'session', session });
  });

  it('[AHP-143] when it is a session, is anybody who may act for it, for themselves', async () => {
    const { host, client } = await openTerminalFixture();
    const phone = await host.client('phone');
    const session = await client.session();
    const other = await client.session();
    const uri = await openTerminal(client, { claim: { kind: 'session', session } });
    expect(await refusalOf(phone, uri, claimed(of('desk')))).toContain('for yourself');
    expect(await refusalOf(phone, uri, claimed({ kind: 'session', session: other }))).toContain(
      'belongs to the session',
    );
    const call = { kind: 'session', session, turnId: 't', toolCallId: 'c' } as const;
    expect(await refusalOf(phone, uri, claimed(call))).toContain('only the host');
    expect(await refusalOf(phone, uri, claimed(of('phone')))).toBeUndefined();
    const nowhere = { kind: 'session', session: 'ahp-session:/none' } as const;
    expect(await refusalOf(phone, uri, claimed(nowhere))).toContain('there is no session');
  });

  it('[AHP-228] is always exactly one: of two who claim at once, one is turned down', async () => {
    const { host, client } = await openTerminalFixture();
    const phone = await host.client('phone');
    const session = await client.session();
    const uri = await openTerminal(client, { claim: { kind: 'session', session } });
    const refusals = await Promise.all([client, phone].map((who) => refusalOf(who, uri, claimed(of(who.clientId)))));
    expect(refusals.filter((refusal) => refusal === undefined)).toHaveLength(1);
    const winner = refusals[0] === undefined ? 'desk' : 'phone';
    expect((await stateIn(client, uri)).claim).toEqual(of(winner));
  });

  it('[AHP-228] stays the owner while it is away, and the shell goes on', async () => {
    const { host, client } = await openTerminalFixture();
    const phone = await host.client('phone');
    const uri = await openTerminal(client);
    const late = { type: 'terminal/input', data: '(sleep 0.3; echo still""here) &\r' };
    expect(await refusalOf(client, uri, late)).toBeUndefined();
    client.disconnect();
    expect((await untilText(phone, uri, 'stillhere')).claim).toEqual(of('desk'));
    expect(await catalogue(phone)).toMatchObject([{ resource: uri, claim: of('desk') }]);
  });

  it('[AHP-143] loses it to the client that takes it meanwhile, and to no other', async () => {
    const { host, client } = await openTerminalFixture();
    const phone = await host.client('phone');
    const uri = await openTerminal(client);
    client.disconnect();
    await expect.poll(() => refusalOf(phone, uri, claimed(of('phone')))).toBeUndefined();
    expect((await stateIn(phone, uri)).claim).toEqual(of('phone'));
    const back = await host.client('desk');
    expect(await refusalOf(back, uri, claimed(of('desk')))).toContain('belongs to the client phone');
  });
});

describe('what clients do with a terminal', () => {
  it('[AHP-151] reaches the process: what they type, and the size they give it', async () => {
    const { host, client } = await openTerminalFixture();
    const phone = await host.client('phone');
    const uri = await openTerminal(client, { cols: 80, rows: 24 });
    expect(await refusalOf(phone, uri, resized(97, 31))).toBeUndefined();
    type(phone, uri, 'echo size:$(stty size):\r');
    expect(await untilText(client, uri, 'size:31 97:')).toMatchObject({ cols: 97, rows: 31 });
  });

  it('[AHP-144] is refused when the process has exited, while the terminal can still be read', async () => {
    const { client } = await openTerminalFixture();
    const uri = await openTerminal(client);
    type(client, uri, 'echo las""t; exit 3\r');
    const state = await until(client, uri, ({ exitCode }) => exitCode !== undefined);
    expect(textIn(state.content)).toContain('last');
    expect(await refusalOf(client, uri, { type: 'terminal/input', data: 'x' })).toBe('the process has exited');
    expect(await refusalOf(client, uri, resized(80, 24))).toBe('the process has exited');
  });

  it('[AHP-233] after its end is told as an exit; the terminal stays until somebody disposes of it', async () => {
    const { client } = await openTerminalFixture();
    const uri = await openTerminal(client);
    type(client, uri, 'exit 3\r');
    const { action } = await client.action(uri, 'terminal/exited');
    expect(action.exitCode).toBe(3);
    expect(await catalogue(client)).toMatchObject([{ resource: uri, exitCode: 3 }]);
    await client.request('disposeTerminal', { channel: uri });
    await expect.poll(() => catalogue(client)).toEqual([]);
  });

  it('[AHP-230] shows in the catalogue: its title, its owner, its end', async () => {
    const { client } = await openTerminalFixture();
    const [uri, other] = [await openTerminal(client), await openTerminal(client)];
    // Always the full list.
    const told = (part: object) =>
      client.action(ROOT, ({ type: kind, terminals }) => {
        const [info, second] = (terminals ?? []) as { readonly resource: string }[];
        const isNew = JSON.stringify({ ...info, ...part }) === JSON.stringify(info);
        return kind === 'root/terminalsChanged' && isNew && second?.resource === other;
      });
    client.dispatch(uri, { type: 'terminal/titleChanged', title: 'builds' });
    await told({ title: 'builds' });
    client.dispatch(uri, claimed(of('phone')));
    await told({ claim: of('phone') });
    type(client, uri, 'kill -9 $$\r');
    await told({ exitCode: 137 });
  });

  it('is bounded: input, title and size', async () => {
    const { client } = await openTerminalFixture();
    const uri = await openTerminal(client);
    const long = { type: 'terminal/input', data: 'x'.repeat(INPUT_MAX_CHARACTERS + 1) };
    expect(await refusalOf(client, uri, long)).toContain('at most');
    const title = 'x'.repeat(TITLE_MAX_CHARACTERS + 1);
    expect(await refusalOf(client, uri, { type: 'terminal/titleChanged', title })).toContain('characters');
    expect(await refusalOf(client, uri, { type: 'terminal/titleChanged', title: 'a\x1b[2Jb' })).toContain('one line');
    expect(await refusalOf(client, uri, claimed(of('x'.repeat(501))))).toContain('too long');
    expect(await refusalOf(client, uri, resized(0, 10))).toContain('/cols');
    expect(await refusalOf(client, uri, resized(10, 10_000))).toContain('/rows');
  });

  it('neither blocks the host nor fills it when a program does not read what is typed', async () => {
    const { client, folder } = await openTerminalFixture();
    const uri = await openTerminal(client);
    const wait = 'until [ -e go ]; do sleep 0.02; done';
    type(client, uri, `stty raw -echo; echo rea""dy; ${wait}; head -c 600000 | wc -c; stty sane\r`);
    await untilText(client, uri, 'ready');
    const paste = { type: 'terminal/input', data: 'y'.repeat(INPUT_MAX_CHARACTERS) };
    const seqs = Array.from({ length: 12 }, () => client.dispatch(uri, paste));
    const answers = await Promise.all(seqs.map((seq) => answerTo(client, uri, seq)));
    await writeFile(path.join(folder, 'go'), '');
    const refused = answers.filter(({ rejectionReason }) => rejectionReason?.includes('does not read its input'));
    expect(refused.length).toBeGreaterThan(0);
    type(client, uri, 'y'.repeat(100));
    const sent = (answers.length - refused.length) * INPUT_MAX_CHARACTERS;
    expect(sent).toBeGreaterThan(200_000);
    const before = envelopesOf(client, uri).length;
    for (let more = sent; more < 600_000; more += INPUT_MAX_CHARACTERS) {
      await expect.poll(() => refusalOf(client, uri, paste), { timeout: 10_000 }).toBeUndefined();
    }
    await untilText(client, uri, '600000');
    expect(envelopesOf(client, uri).length).toBeGreaterThan(before);
  }, 30_000);

  it('clears what is shown, and nothing else', async () => {
    const { client } = await openTerminalFixture();
    const uri = await openTerminal(client);
    type(client, uri, 'echo be""fore\r');
    await untilText(client, uri, 'before');
    expect(await refusalOf(client, uri, { type: 'terminal/cleared' })).toBeUndefined();
    type(client, uri, 'echo af""ter\r');
    expect(textIn((await untilText(client, uri, 'after')).content)).not.toContain('before');
  });
});
