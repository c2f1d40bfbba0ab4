import { mkdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Caller } from '@atrium/core/contracts/ports.js';
import type { Session } from '@atrium/core/sessions/session.js';
import { ErrorCode } from '@atrium/protocol';
import { describe, expect, it, vi } from 'vitest';
import { AccessRequests, REQUEST_TIMEOUT_MS, REQUESTS_MAX } from '../../src/workspace/files/access-requests.js';
import { ClientRoots, Grants, realPathOf } from '../../src/workspace/files/client-roots.js';
import { tempFolder } from '../support/temp-folder.js';

interface Asked {
  readonly session: string;
  readonly message: string;
  readonly withdraw: ReturnType<typeof vi.fn>;
  answer(response: string): void;
}

async function setUp() {
  const folder = await realPathOf(await tempFolder({ 'work/a': '', 'other/b': '' }));
  const at = (name: string) => path.join(folder, name);
  const asked: Asked[] = [];
  const timers: { ms: number; run: () => void; isCancelled: boolean }[] = [];
  const clock = {
    now: () => 0,
    after: (ms: number, run: () => void) => {
      const timer = { ms, run, isCancelled: false };
      timers.push(timer);
      return () => {
        timer.isCancelled = true;
      };
    },
  };
  const session = (uri: string, modifiedAt: number, active?: string) =>
    ({
      uri,
      state: { activeClients: active === undefined ? [] : [{ clientId: active }] },
      chats: [{ state: { modifiedAt: new Date(modifiedAt).toISOString() } }],
      standing: {
        ask: ({ message }: { message: string }, answer: (response: string) => void) => {
          const withdraw = vi.fn();
          asked.push({ session: uri, message, withdraw, answer });
          return withdraw;
        },
      },
    }) as unknown as Session;
  const sessions = new Map(
    [session('old', 1), session('new', 2), session('mine', 0, 'client')].map((each) => [each.uri, each]),
  );
  const watched = { uris: ['old', 'new', 'gone'] };
  const grants = new Grants(() => true);
  const folders = new Set([at('work')]);
  const roots = new ClientRoots({
    ...{ clock, grants, workingFolders: () => folders, declared: () => [], browsed: [], userFolder: undefined },
  });
  const requests = new AccessRequests({
    ...{ roots, grants },
    host: { clock, sessions: { inMemory: sessions }, watchedBy: () => watched.uris },
  });
  const access = { role: 'owner', credential: { kind: 'device', id: 'phone' } };
  const connection = { identity: { clientId: 'client' }, access } as unknown as Caller;
  const request = (file: string, write?: boolean, from = connection) =>
    requests.request(from, {
      channel: 'c',
      uri: pathToFileURL(file).href,
      ...(write !== undefined && { write }),
    } as never);
  const next = (count = 1) => vi.waitFor(() => expect(asked).toHaveLength(count), { timeout: 10_000, interval: 1 });
  return { at, asked, timers, watched, grants, requests, connection, request, next, sessions };
}

const refusal = (words: string) => ({ code: ErrorCode.PermissionDenied, message: expect.stringContaining(words) });

describe('a request for access', () => {
  it('[AHP-083] is asked of people in the latest session that the client watches, and grants what they allow', async () => {
    const { at, asked, request, next, grants, timers } = await setUp();
    const granted = request(at('other'), true);
    await next();
    expect(asked[0]).toMatchObject({ session: 'new' });
    expect(asked[0]?.message).toBe(
      `May the client "client" read and change ${at('other')}, and everything in it?\n` +
        'Your answer holds until this session is disposed of, or the host stops.',
    );
    asked[0]?.answer('accept');
    await granted;
    expect(grants.rootsOf('client')).toMatchObject([{ granted: at('other'), real: at('other') }]);
    expect(asked[0]?.withdraw).toHaveBeenCalledOnce();
    expect(timers).toMatchObject([{ ms: REQUEST_TIMEOUT_MS, isCancelled: true }]);
    await request(at('other/b'), true);
    expect(asked).toHaveLength(1);
  });

  it('[AHP-083] is asked first in the session that the client is active in', async () => {
    const { at, asked, watched, request, next } = await setUp();
    watched.uris = ['old', 'mine', 'new'];
    void request(at('other')).catch(() => {});
    await next();
    expect(asked[0]?.session).toBe('mine');
    expect(asked[0]?.message).toMatch(/^May the client "client" read \//);
  });

  it('[AHP-083] is not asked when there is access already, and is for more than there is', async () => {
    const { at, asked, request, next, grants } = await setUp();
    await request(at('work/a'), true);
    expect(asked).toEqual([]);
    grants.add('client', { requested: at('other'), real: at('other'), access: 'read', session: 'old' });
    await request(at('other'));
    const more = request(at('other'), true).catch((error) => error);
    await next();
    asked[0]?.answer('cancel');
    expect(await more).toMatchObject(refusal('a person said no'));
  });

  it('[AHP-083] names where a link leads', async () => {
    const { at, asked, request, next } = await setUp();
    await mkdir(at('secret"place'));
    await symlink(at('secret"place'), at('work/link'));
    void request(at('work/link')).catch(() => {});
    await next();
    expect(asked[0]?.message).toContain(`read ${at('secret?place')} (asked for as ${at('work/link')}), and`);
  });

  it('[AHP-083] is refused without a session to ask in, for what is no file, and for what no person could grant', async () => {
    const { at, asked, watched, request, requests, connection } = await setUp();
    watched.uris = ['gone'];
    await expect(request(at('other'))).rejects.toMatchObject(refusal('no session to ask in'));
    const strange = requests.request(connection, { channel: 'c', uri: 'http://x' } as never);
    await expect(strange).rejects.toMatchObject({ code: ErrorCode.PermissionDenied });
    await expect(request('/proc/self')).rejects.toMatchObject(refusal('off limits to tools'));
    expect(asked).toEqual([]);
  });

  it.each(['no answer', 'the connection closes', 'the session closes'])('[AHP-083] ends when: %s', async (what) => {
    const { at, asked, timers, requests, connection, request, next, sessions } = await setUp();
    const other = { ...connection, identity: { clientId: 'other' } } as unknown as Caller;
    const outcome = request(at('other')).catch((error) => error);
    await next(1);
    void request(at('other'), false, other).catch(() => {});
    await next(2);
    if (what === 'no answer') timers[0]?.run();
    if (what === 'the connection closes') requests.left(connection);
    if (what === 'the session closes') requests.sessionClosed(sessions.get('old') as Session);
    if (what === 'the session closes') requests.sessionClosed(sessions.get('new') as Session);
    expect(await outcome).toMatchObject(refusal('no person answered'));
    expect(asked[0]?.withdraw).toHaveBeenCalledOnce();
    expect(asked[1]?.withdraw).toHaveBeenCalledTimes(what === 'the session closes' ? 1 : 0);
  });

  it('[AHP-083] is over with the session in which it is asked, and with no other', async () => {
    const { at, asked, requests, request, next, sessions } = await setUp();
    const waiting = request(at('other'));
    await next();
    requests.sessionClosed(sessions.get('old') as Session);
    expect(asked[0]?.withdraw).not.toHaveBeenCalled();
    requests.sessionClosed(sessions.get('new') as Session);
    await expect(waiting).rejects.toMatchObject(refusal('no person answered'));
    expect(asked[0]?.withdraw).toHaveBeenCalledOnce();
  });

  it(`[REL-098] is one of ${REQUESTS_MAX} for each connection`, async () => {
    const { connection, at, asked, request, next } = await setUp();
    for (let count = 0; count < REQUESTS_MAX; count += 1) void request(at(`other/${count}`)).catch(() => {});
    await next(REQUESTS_MAX);
    await expect(request(at('other/more'))).rejects.toMatchObject(refusal('things already'));
    void request(at('other'), false, { ...connection, identity: { clientId: 'd' } } as unknown as Caller).catch(
      () => {},
    );
    await next(REQUESTS_MAX + 1);
    asked[0]?.answer('decline');
    void request(at('other/again')).catch(() => {});
    await next(REQUESTS_MAX + 2);
  });
});
