import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { StateAction, TerminalClaim } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import { INPUT_MAX_CHARACTERS } from '../../src/workspace/terminals/claims.js';
import { TITLE_MAX_CHARACTERS } from '../../src/workspace/terminals/osc-sequences.js';
import { answerTo, envelopesOf, refusalOf } from '../support/session-room.js';
import {
  catalogue,
  openTerminal,
  openTerminalRoom,
  stateIn,
  textIn,
  type,
  until,
  untilText,
} from '../support/terminal-room.js';
import { ROOT } from '../support/test-host.js';

const of = (clientId: string): TerminalClaim => ({ kind: 'client', clientId });
const claimed = (claim: TerminalClaim): StateAction => ({ type: 'terminal/claimed', claim });
const resized = (cols: number, rows: number): StateAction => ({ type: 'terminal/resized', cols, rows });

describe('the owner of a terminal', () => {
  it('[AHP-143] alone may hand it over: to another client, or to a session', async () => {
    const { host, desk } = await openTerminalRoom();
    const phone = await host.client('phone');
    const session = await desk.session();
    const uri = await openTerminal(desk);
    expect(await refusalOf(phone, uri, claimed(of('phone')))).toContain('belongs to the client desk');
    expect((await stateIn(desk, uri)).claim).toEqual(of('desk'));
    expect(await refusalOf(desk, uri, claimed(of('phone')))).toBeUndefined();
    expect((await stateIn(desk, uri)).claim).toEqual(of('phone'));
    expect(await refusalOf(desk, uri, claimed(of('desk')))).toContain('belongs to the client phone');
    expect(await refusalOf(phone, uri, claimed({ kind: 'session', session }))).toBeUndefined();
    expect((await stateIn(desk, uri)).claim).toEqual({ kind: 'session', session });
  });

  it('[AHP-143] when it is a session, is anybody who may act for it, for themselves', async () => {
    const { host, desk } = await openTerminalRoom();
    const phone = await host.client('phone');
    const session = await desk.session();
    const other = await desk.session();
    const uri = await openTerminal(desk, { claim: { kind: 'session', session } });
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
    const { host, desk } = await openTerminalRoom();
    const phone = await host.client('phone');
    const session = await desk.session();
    const uri = await openTerminal(desk, { claim: { kind: 'session', session } });
    const refusals = await Promise.all([desk, phone].map((who) => refusalOf(who, uri, claimed(of(who.clientId)))));
    expect(refusals.filter((refusal) => refusal === undefined)).toHaveLength(1);
    const winner = refusals[0] === undefined ? 'desk' : 'phone';
    expect((await stateIn(desk, uri)).claim).toEqual(of(winner));
  });

  it('[AHP-228] stays the owner while it is away, and the shell goes on', async () => {
    const { host, desk } = await openTerminalRoom();
    const phone = await host.client('phone');
    const uri = await openTerminal(desk);
    const late = { type: 'terminal/input', data: '(sleep 0.3; echo still""here) &\r' };
    expect(await refusalOf(desk, uri, late)).toBeUndefined();
    desk.disconnect();
    expect((await untilText(phone, uri, 'stillhere')).claim).toEqual(of('desk'));
    expect(await catalogue(phone)).toMatchObject([{ resource: uri, claim: of('desk') }]);
  });

  it('[AHP-143] loses it to whoever takes it meanwhile, and only to them', async () => {
    const { host, desk } = await openTerminalRoom();
    const phone = await host.client('phone');
    const uri = await openTerminal(desk);
    desk.disconnect();
    await expect.poll(() => refusalOf(phone, uri, claimed(of('phone')))).toBeUndefined();
    expect((await stateIn(phone, uri)).claim).toEqual(of('phone'));
    const back = await host.client('desk');
    expect(await refusalOf(back, uri, claimed(of('desk')))).toContain('belongs to the client phone');
  });
});

describe('what clients do with a terminal', () => {
  it('[AHP-151] reaches the process: what they type, and the size they give it', async () => {
    const { host, desk } = await openTerminalRoom();
    const phone = await host.client('phone');
    const uri = await openTerminal(desk, { cols: 80, rows: 24 });
    expect(await refusalOf(phone, uri, resized(97, 31))).toBeUndefined();
    type(phone, uri, 'echo size:$(stty size):\r');
    expect(await untilText(desk, uri, 'size:31 97:')).toMatchObject({ cols: 97, rows: 31 });
  });

  it('[AHP-144] is refused when the process has exited, while the terminal can still be read', async () => {
    const { desk } = await openTerminalRoom();
    const uri = await openTerminal(desk);
    type(desk, uri, 'echo las""t; exit 3\r');
    const state = await until(desk, uri, ({ exitCode }) => exitCode !== undefined);
    expect(textIn(state.content)).toContain('last');
    expect(await refusalOf(desk, uri, { type: 'terminal/input', data: 'x' })).toBe('the process has exited');
    expect(await refusalOf(desk, uri, resized(80, 24))).toBe('the process has exited');
  });

  it('[AHP-233] after its end is told as an exit; the terminal stays until somebody disposes of it', async () => {
    const { desk } = await openTerminalRoom();
    const uri = await openTerminal(desk);
    type(desk, uri, 'exit 3\r');
    const { action } = await desk.action(uri, 'terminal/exited');
    expect(action.exitCode).toBe(3);
    expect(await catalogue(desk)).toMatchObject([{ resource: uri, exitCode: 3 }]);
    await desk.request('disposeTerminal', { channel: uri });
    await expect.poll(() => catalogue(desk)).toEqual([]);
  });

  it('[AHP-230] shows in the catalogue: its title, its owner, its end', async () => {
    const { desk } = await openTerminalRoom();
    const [uri, other] = [await openTerminal(desk), await openTerminal(desk)];
    // Always the full list.
    const told = (part: object) =>
      desk.action(ROOT, ({ type: kind, terminals }) => {
        const [info, second] = (terminals ?? []) as { readonly resource: string }[];
        const isNew = JSON.stringify({ ...info, ...part }) === JSON.stringify(info);
        return kind === 'root/terminalsChanged' && isNew && second?.resource === other;
      });
    desk.dispatch(uri, { type: 'terminal/titleChanged', title: 'builds' });
    await told({ title: 'builds' });
    desk.dispatch(uri, claimed(of('phone')));
    await told({ claim: of('phone') });
    type(desk, uri, 'kill -9 $$\r');
    await told({ exitCode: 137 });
  });

  it('is bounded: input, title and size', async () => {
    const { desk } = await openTerminalRoom();
    const uri = await openTerminal(desk);
    const long = { type: 'terminal/input', data: 'x'.repeat(INPUT_MAX_CHARACTERS + 1) };
    expect(await refusalOf(desk, uri, long)).toContain('at most');
    const title = 'x'.repeat(TITLE_MAX_CHARACTERS + 1);
    expect(await refusalOf(desk, uri, { type: 'terminal/titleChanged', title })).toContain('characters');
    expect(await refusalOf(desk, uri, { type: 'terminal/titleChanged', title: 'a\x1b[2Jb' })).toContain('one line');
    expect(await refusalOf(desk, uri, claimed(of('x'.repeat(501))))).toContain('too long');
    expect(await refusalOf(desk, uri, resized(0, 10))).toContain('/cols');
    expect(await refusalOf(desk, uri, resized(10, 10_000))).toContain('/rows');
  });

  it('neither blocks the host nor fills it when a program does not read what is typed', async () => {
    const { desk, folder } = await openTerminalRoom();
    const uri = await openTerminal(desk);
    const wait = 'until [ -e go ]; do sleep 0.02; done';
    type(desk, uri, `stty raw -echo; echo rea""dy; ${wait}; head -c 600000 | wc -c; stty sane\r`);
    await untilText(desk, uri, 'ready');
    const paste = { type: 'terminal/input', data: 'y'.repeat(INPUT_MAX_CHARACTERS) };
    const seqs = Array.from({ length: 12 }, () => desk.dispatch(uri, paste));
    const answers = await Promise.all(seqs.map((seq) => answerTo(desk, uri, seq)));
    await writeFile(path.join(folder, 'go'), '');
    const refused = answers.filter(({ rejectionReason }) => rejectionReason?.includes('does not read its input'));
    expect(refused.length).toBeGreaterThan(0);
    type(desk, uri, 'y'.repeat(100));
    const sent = (answers.length - refused.length) * INPUT_MAX_CHARACTERS;
    expect(sent).toBeGreaterThan(200_000);
    const before = envelopesOf(desk, uri).length;
    for (let more = sent; more < 600_000; more += INPUT_MAX_CHARACTERS) {
      await expect.poll(() => refusalOf(desk, uri, paste), { timeout: 10_000 }).toBeUndefined();
    }
    await untilText(desk, uri, '600000');
    expect(envelopesOf(desk, uri).length).toBeGreaterThan(before);
  }, 30_000);

  it('clears what is shown, and nothing else', async () => {
    const { desk } = await openTerminalRoom();
    const uri = await openTerminal(desk);
    type(desk, uri, 'echo be""fore\r');
    await untilText(desk, uri, 'before');
    expect(await refusalOf(desk, uri, { type: 'terminal/cleared' })).toBeUndefined();
    type(desk, uri, 'echo af""ter\r');
    expect(textIn((await untilText(desk, uri, 'after')).content)).not.toContain('before');
  });
});
