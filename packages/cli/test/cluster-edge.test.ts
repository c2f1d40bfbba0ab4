/** Clients at hosts that stand by, in a cluster of real hosts on a real engine. */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { connect, type Transport, webSocketTransport } from '@atrium/client';
import { ErrorCode } from '@atrium/protocol/ahp-1';
import { expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { PlainActor } from '../../host/test/support/crash-plain-actor.js';
import {
  activeAmong,
  clientAt,
  describeCluster,
  isServing,
  longCall,
  newCluster,
  openSession,
  readiness,
  say,
  spawnClusterHost,
  startClusterHost,
  TOKEN,
} from './support/cluster.js';

/** `a` is active, `b` stands by. */
async function twoHosts() {
  const cluster = await newCluster();
  const a = await startClusterHost(cluster, 'a');
  await activeAmong([a]);
  const b = await startClusterHost(cluster, 'b');
  await isServing(b);
  return { cluster, a, b };
}

describeCluster('clients at two hosts of a cluster', () => {
  it('[CLU-034] see and drive one session in step, at the active host and at one that stands by', async () => {
    const { cluster, a, b } = await twoHosts();
    expect((await readiness(b.port)).text).toBe('stand-by; a is active');
    const [near, far] = [await clientAt(a), await clientAt(b)];
    const there = await openSession(far, cluster);
    const here = await near.open(there.session.uri);
    const first = await say(there, 'hello');
    await expect.poll(() => here.chat.state.turns.map(({ id }) => id)).toEqual([first.turnId]);
    const second = await say(here, 'hello');
    await expect.poll(() => there.chat.state.turns.map(({ id }) => id)).toEqual([first.turnId, second.turnId]);
    await expect.poll(() => there.chat.confirmed).toEqual(here.chat.confirmed);
    await expect.poll(async () => (await cluster.run(['cluster', 'status'])).stdout).toMatch(/^b +1 +stand-by +1 /m);
    const page = await fetch(`http://127.0.0.1:${b.port}/`);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/html')]);
  });

  it('[CLU-034] speak the versions of the protocol there, from the newest to the oldest', async () => {
    const { cluster, a, b } = await twoHosts();
    const session = await openSession(await clientAt(a), cluster);
    const { uri } = session.session;
    const actors = ['1.0.0', '0.5.0', '0.3.0', '0.2.0'].map(
      (version) => new PlainActor(`v${version}`, [version], TOKEN),
    );
    onTestFinished(() => {
      for (const actor of actors) actor.close();
    });
    for (const actor of actors) actor.enter(b.port);
    await expect.poll(() => actors.filter(({ isOpen }) => !isOpen).map(({ version }) => version)).toEqual([]);
    for (const actor of actors) actor.watch(uri);
    await expect.poll(() => actors.map(({ sessions }) => sessions.length)).toEqual(actors.map(() => 1));
    const { turnId, isOver } = await say(session, 'hello');
    await expect.poll(isOver).toBe(true);
    const has = (actor: PlainActor) => JSON.stringify(actor.received).includes(turnId);
    await expect.poll(() => actors.filter((actor) => !has(actor)).map(({ version }) => version)).toEqual([]);
    for (const [at, actor] of actors.entries()) {
      const turn = `turn-${at}`;
      actor.ask(uri, { wants: 'start', turnId: turn, text: 'hello' });
      await expect.poll(() => session.chat.state.turns.map(({ id }) => id)).toContain(turn);
    }
    const eldest = new WebSocket(`ws://127.0.0.1:${b.port}/?token=${TOKEN}`);
    onTestFinished(() => eldest.terminate());
    await once(eldest, 'open');
    const hello = { clientId: 'sessions-v1', protocolVersion: 1 };
    eldest.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: hello }));
    const [answer] = await once(eldest, 'message');
    expect(JSON.parse(String(answer))).toMatchObject({ id: 1, result: { protocolVersion: 1 } });
    await Promise.all(actors.map((actor) => actor.probe()));
    expect(actors.flatMap(({ violations }) => violations)).toEqual([]);
  });

  it('[CLU-017] that both allow a call start it once', async () => {
    const { cluster, a, b } = await twoHosts();
    const here = await openSession(await clientAt(a), cluster);
    const there = await (await clientAt(b)).open(here.session.uri);
    const call = await say(here, 'note');
    await expect.poll(() => call.calls().map(({ status }) => status)).toEqual(['pending-confirmation']);
    const [{ toolCallId = '' } = {}] = call.calls();
    const waits = () => JSON.stringify(there.chat.confirmed).includes('pending-confirmation');
    await expect.poll(waits).toBe(true);
    const allowed = { turnId: call.turnId, toolCallId, approved: true, confirmed: 'user-action' } as const;
    const answers = [here, there].map(({ chat }) => chat.dispatch({ type: 'chat/toolCallConfirmed', ...allowed }));
    const settled = await Promise.allSettled(answers);
    expect(settled.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    await expect.poll(call.isOver).toBe(true);
    expect(await readFile(path.join(cluster.folder, 'noted.txt'), 'utf8')).toBe('once\n');
    await expect.poll(() => there.chat.confirmed).toEqual(here.chat.confirmed);
  });

  it('[CLU-020] [CLU-021] create one session of a name, and see it go in the order of the log', async () => {
    const { a, b } = await twoHosts();
    const clients = [await clientAt(a), await clientAt(b)] as const;
    const channel = 'ahp-session:/one-name';
    const made = await Promise.allSettled(clients.map((client) => client.createSession({ channel })));
    expect(made.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const [here, there] = await Promise.all(clients.map((client) => client.open(channel)));
    if (!here || !there) throw new Error('the session cannot be opened');
    const title = { type: 'session/titleChanged', title: 'At the other host' } as const;
    // Each is stored before the end of the session, or refused behind it; nobody waits for an answer.
    await Promise.allSettled([
      clients[0].disposeSession(channel),
      ...['One', 'Two', 'Three'].map((each) => there.session.dispatch({ ...title, title: each })),
    ]);
    for (const client of clients) {
      await expect.poll(async () => (await client.listSessions()).map(({ resource }) => resource)).toEqual([]);
      await expect(client.open(channel)).rejects.toMatchObject({ code: ErrorCode.SessionNotFound });
    }
  });
});

describeCluster('clients at hosts that stand by', () => {
  it('[CLU-018] [CLU-019] have their tools called there, and complete the call from another host that they move to', async () => {
    const { cluster, a, b } = await twoHosts();
    const c = await startClusterHost(cluster, 'c');
    await isServing(c);
    const watcher = await clientAt(a);
    let at = b;
    let wire: Transport | undefined;
    const mover = await connect({
      transport: async () => {
        wire = await webSocketTransport({ url: `ws://127.0.0.1:${at.port}`, token: TOKEN })();
        return wire;
      },
    });
    onTestFinished(() => mover.close());
    const session = await openSession(mover, cluster);
    const watched = await watcher.open(session.session.uri);
    const tools = [{ name: 'lookup', description: 'Looks up a word.', inputSchema: { type: 'object' as const } }];
    const activeClient = { clientId: mover.clientId, displayName: 'Mover', tools };
    await session.session.dispatch({ type: 'session/activeClientSet', activeClient });
    const turn = await say(session, 'client');
    const statuses = () => turn.calls().map(({ status }) => status);
    await expect.poll(() => statuses().some((status) => /running|pending-confirmation/.test(status))).toBe(true);
    const [{ toolCallId = '' } = {}] = turn.calls();
    const call = { turnId: turn.turnId, toolCallId };
    if (statuses()[0] === 'pending-confirmation') {
      const allowed = { approved: true, confirmed: 'user-action' } as const;
      await session.chat.dispatch({ type: 'chat/toolCallConfirmed', ...call, ...allowed });
    }
    await expect.poll(statuses).toEqual(['running']);
    at = c;
    wire?.close();
    const served = async () => (await cluster.run(['cluster', 'status'])).stdout;
    await expect.poll(served, { timeout: 20_000 }).toMatch(/^c +1 +stand-by +1 /m);
    const result = {
      success: true,
      pastTenseMessage: 'Looked it up',
      content: [{ type: 'text' as const, text: 'a fox' }],
    };
    await session.chat.dispatch({ type: 'chat/toolCallComplete', ...call, result });
    await expect.poll(turn.isOver).toBe(true);
    expect([turn.text(), turn.calls().map(({ status }) => status)]).toEqual(['It is an animal.', ['completed']]);
    await expect.poll(() => watched.chat.confirmed).toEqual(session.chat.confirmed);
  });

  it('[CLU-006] [CLU-009] [CLU-037] go on when the active host is killed in the middle of a turn', async () => {
    const cluster = await newCluster();
    const a = await spawnClusterHost(cluster, 'a');
    await activeAmong([a]);
    const others = [await spawnClusterHost(cluster, 'b'), await spawnClusterHost(cluster, 'c')] as const;
    const [left, right] = [await clientAt(others[0]), await clientAt(others[1])];
    const there = await openSession(left, cluster);
    const here = await right.open(there.session.uri);
    const cut = await say(there, 'forever');
    await expect.poll(cut.text).toBe('I begin.');
    const { call, ran } = await longCall(await openSession(right, cluster), cluster);
    a.run.signal('SIGKILL');
    await expect.poll(cut.isOver, { timeout: 30_000 }).toBe(true);
    expect([cut.text(), cut.errors()]).toEqual(['I begin.', ['host-restarted']]);
    const after = await say(here, 'hello');
    await expect.poll(after.isOver, { timeout: 20_000 }).toBe(true);
    await expect.poll(() => there.chat.state.turns.map(({ id }) => id)).toEqual([cut.turnId, after.turnId]);
    await expect.poll(() => there.chat.confirmed).toEqual(here.chat.confirmed);
    await expect.poll(call.isOver).toBe(true);
    expect(call.calls()).toMatchObject([{ status: 'completed', success: false, error: { code: 'INTERRUPTED' } }]);
    expect(await ran()).toBe('once\n');
  });
});
