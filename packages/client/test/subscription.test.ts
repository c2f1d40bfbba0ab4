import type { ActionEnvelope, ChatState } from '@atrium/protocol/ahp-1';
import { describe, expect, it, vi } from 'vitest';
import { ActionRejectedError, InvalidResultError, type RequestError, STREAM_MAX_WAITING } from '../src/index.js';
import { connected } from './support/connected.js';
import { settle } from './support/fake-clock.js';
import { drafted, ONE, queued, ROOT, SESSION, terminal, titled } from './support/states.js';

describe('subscribing', () => {
  it('[CLI-014] loses nothing that arrives in the same moment as the answer', async () => {
    const { client, host } = await connected();
    host.scripts.set('subscribe', (params, connection) => {
      const result = host.answer(connection, 'subscribe', params);
      // Sent before the answer is, and newer than it; and once more right behind the answer.
      host.act(ONE, queued('early'));
      queueMicrotask(() => host.act(ONE, queued('late')));
      return result;
    });
    const one = await client.subscribe(ONE);
    await settle();
    expect(one.state).toEqual(host.chatOf(ONE));
    expect(one.state.queuedMessages?.map(({ id }) => id)).toEqual(['early', 'late']);
  });

  it('[CLI-006] drops what the snapshot contains already', async () => {
    const { client, host } = await connected();
    host.scripts.set('subscribe', (params, connection) => {
      connection.subscribed.add(ONE);
      host.act(ONE, drafted('old'));
      host.act(ONE, drafted('new'));
      return host.answer(connection, 'subscribe', params);
    });
    const one = await client.subscribe(ONE);
    await settle();
    expect(one.state.draft?.text).toBe('new');
  });

  it('[REL-017] a thousand times under load shows neither a gap nor a double', async () => {
    const { client, host } = await connected();
    let count = 0;
    const act = () => host.act(ONE, queued(`q${count++}`));
    for (let round = 0; round < 1_000; round += 1) {
      act();
      const opening = client.subscribe(ONE);
      queueMicrotask(act);
      const one = await opening;
      act();
      if (round % 100 === 0) await settle();
      const ids = one.state.queuedMessages?.map(({ id }) => id) ?? [];
      expect(ids).toEqual(ids.map((_, index) => `q${index}`));
      one.close();
      if (count > 50) {
        count = 0;
        host.states.set(ONE, { ...host.chatOf(ONE), queuedMessages: [] });
      }
    }
  });

  it('twice shares one subscription, which ends with the last handle', async () => {
    const { client, host } = await connected();
    const [first, second] = await Promise.all([client.subscribe(ONE), client.subscribe(ONE)]);
    expect(host.params('subscribe')).toHaveLength(1);
    first?.close();
    first?.close();
    await settle();
    expect(host.params('unsubscribe')).toEqual([]);
    host.act(ONE, drafted('A'));
    await settle();
    expect(second?.state.draft?.text).toBe('A');
    second?.close();
    await settle();
    expect(host.params('unsubscribe')).toEqual([{ channel: ONE }]);
  });

  it('rejects for all who wait when the host refuses', async () => {
    const { client } = await connected();
    const both = [client.subscribe('ahp-session:/none'), client.subscribe('ahp-session:/none')];
    for (const each of both) await expect(each).rejects.toMatchObject({ name: 'SessionNotFound' } as RequestError);
  });

  it('rejects a state of another kind, and tells the host that it is not wanted', async () => {
    const { client, host } = await connected();
    host.states.set('ahp-terminal:/t', { agents: [] });
    await expect(client.subscribe('ahp-terminal:/t')).rejects.toBeInstanceOf(InvalidResultError);
    await settle();
    expect(host.params('unsubscribe')).toEqual([{ channel: 'ahp-terminal:/t' }]);
  });

  it('checks the kind that the caller expects', async () => {
    const { client } = await connected();
    await expect(client.subscribe(ONE, { kind: 'terminal' })).rejects.toThrow('is a chat channel, not a terminal one');
  });

  it('lets the caller say what a channel is whose scheme the protocol does not define', async () => {
    const { client, host } = await connected();
    host.states.set('pty:/7', terminal());
    const shell = await client.subscribe('pty:/7', { kind: 'terminal' });
    expect(shell.state.title).toBe('Build');
    await expect(client.subscribe('pty:/7')).rejects.toThrow('is open as a terminal channel, not a session one');
  });

  it('[AHP-028] does not ask for channels of a kind that it does not know', async () => {
    const { client, host } = await connected();
    const before = host.params('subscribe').length;
    await expect(client.subscribe('ahp-hologram:/x')).rejects.toThrow('does not know channels of that kind');
    await settle();
    expect(host.params('subscribe')).toHaveLength(before);
    expect((await client.subscribe('copilot:/one').catch((error) => error)).message).not.toContain('does not know');
  });

  it('waits for a connection when there is none', async () => {
    const { client, drop, clock } = await connected();
    await drop();
    const opening = client.subscribe(ONE);
    await clock.advance(2_000);
    expect((await opening).state.resource).toBe(ONE);
  });
});

describe('dispatching', () => {
  it('[CLI-005] numbers, shows and sends the action', async () => {
    const { client, host } = await connected();
    const one = await client.subscribe(ONE);
    one.dispatch(drafted('A'));
    one.dispatch(queued('q'));
    expect(one.state).toMatchObject({ draft: { text: 'A' }, queuedMessages: [{ id: 'q' }] });
    expect(one.confirmed.draft?.text).toBe('Untitled');
    expect(one.pending.map(({ clientSeq }) => clientSeq)).toEqual([1, 2]);
    await settle();
    expect(host.params('dispatchAction')).toEqual([
      { channel: ONE, clientSeq: 1, action: drafted('A') },
      { channel: ONE, clientSeq: 2, action: queued('q') },
    ]);
    expect(one.pending).toEqual([]);
  });

  it('sends in order even when a listener dispatches too', async () => {
    const { client, host } = await connected();
    const one = await client.subscribe(ONE);
    const off = one.onChange(() => {
      off();
      one.dispatch(drafted('second'));
    });
    one.dispatch(drafted('first'));
    await settle();
    expect(host.params('dispatchAction').map(({ clientSeq }) => clientSeq)).toEqual([1, 2]);
    expect(one.state.draft?.text).toBe('second');
  });

  it('resolves with the place in the sequence', async () => {
    const { client, host } = await connected();
    const one = await client.subscribe(ONE);
    host.act(ONE, drafted('before'));
    expect(await one.dispatch(drafted('A'))).toEqual({ serverSeq: 2 });
  });

  it('[CLI-008] rejects with the reason, tells the listeners, and needs nobody to wait', async () => {
    const { client, host } = await connected();
    host.judge = () => 'a turn is running';
    const one = await client.subscribe(ONE);
    const told: ActionRejectedError[] = [];
    one.onRejected((error) => told.push(error));
    one.dispatch(drafted('A'));
    await expect(one.dispatch(drafted('B'))).rejects.toMatchObject({
      reason: 'a turn is running',
      action: drafted('B'),
    });
    expect(told).toHaveLength(2);
    expect(told[0]).toBeInstanceOf(ActionRejectedError);
    expect(one.state.draft?.text).toBe('Untitled');
  });

  it('works for a channel that nobody is subscribed to', async () => {
    const { client, host } = await connected();
    expect(await client.dispatch(ONE, drafted('A'))).toEqual({ serverSeq: 1 });
    expect(host.chatOf(ONE).draft?.text).toBe('A');
  });

  it('[CLI-013] does not predict what is typed into a terminal', async () => {
    const { client, host } = await connected();
    host.states.set('ahp-terminal:/t', terminal());
    const shell = await client.subscribe('ahp-terminal:/t');
    const before = shell.state;
    const typed = shell.dispatch({ type: 'terminal/input', data: 'ls\n' });
    expect(shell.state).toBe(before);
    await typed;
    expect(shell.pending).toEqual([]);
  });
});

describe('following', () => {
  it('tells listeners of each change, with a state that is the same object until the next', async () => {
    const { client, host } = await connected();
    const one = await client.subscribe(ONE);
    const states: ChatState[] = [];
    const off = one.onChange((state) => states.push(state));
    host.act(ONE, drafted('A'));
    host.act(ONE, drafted('B'));
    await settle();
    expect(states.map(({ draft }) => draft?.text)).toEqual(['A', 'B']);
    expect(one.state).toBe(one.state);
    off();
    host.act(ONE, drafted('C'));
    await settle();
    expect(states).toHaveLength(2);
  });

  it('survives a listener that throws', async () => {
    const { client, host, logged } = await connected();
    const one = await client.subscribe(ONE);
    const quiet = vi.fn();
    one.onChange(() => {
      throw new Error('oops');
    });
    one.onChange(quiet);
    host.act(ONE, drafted('A'));
    await settle();
    expect(quiet).toHaveBeenCalledOnce();
    expect(logged).toEqual(['a listener threw']);
  });

  it('gives a slow loop the latest state and skips those in between', async () => {
    const { client, host } = await connected();
    const one = await client.subscribe(ONE);
    const titles: string[] = [];
    for await (const state of one) {
      titles.push(state.draft?.text ?? '');
      if (state.draft?.text === 'C') break;
      for (const title of ['A', 'B', 'C']) host.act(ONE, drafted(title));
      await settle();
    }
    expect(titles).toEqual(['Untitled', 'C']);
  });

  it('ends loops when the handle is closed', async () => {
    const { client } = await connected();
    const one = await client.subscribe(ONE);
    const loops = Promise.all([drain(one), drain(one.actions())]);
    await settle();
    one.close();
    const [states, actions] = await loops;
    expect([states.length, actions.length]).toEqual([1, 0]);
  });

  it('gives a loop over actions every one of them', async () => {
    const { client, host } = await connected();
    const one = await client.subscribe(ONE);
    const actions = one.actions();
    host.judge = ({ type }) => (type === 'chat/draftChanged' ? 'no' : undefined);
    for (const id of ['a', 'b', 'c']) host.act(ONE, queued(id));
    one.dispatch(drafted('rejected'));
    one.dispatch(queued('d'));
    await settle();
    one.close();
    const ids = (await drain(actions)).map(({ action }) => 'id' in action && action.id);
    expect(ids).toEqual(['a', 'b', 'c', 'd']);
  });

  it('ends a loop over actions that lags too far behind, at the limit plus one', async () => {
    const { client, host } = await connected();
    const one = await client.subscribe(ONE);
    const actions = one.actions();
    for (let sent = 0; sent < STREAM_MAX_WAITING; sent += 1) host.act(ONE, drafted('A'));
    await settle();
    expect((await actions.next()).done).toBe(false);
    for (let sent = 0; sent < 2; sent += 1) host.act(ONE, drafted('A'));
    await settle();
    await expect(drain(actions)).rejects.toThrow('Read faster');
  });

  it('[CLI-021] reads the events of a watch off the actions, and unsubscribes when done', async () => {
    const { client, host } = await connected();
    const watch = 'ahp-resource-watch:/w';
    host.states.set(watch, { root: 'file:///src', recursive: true });
    host.scripts.set('createResourceWatch', () => ({ channel: watch }));
    const { channel } = await client.request('createResourceWatch', { uri: 'file:///src', recursive: true });
    const handle = await client.subscribe(channel, { kind: 'resourceWatch' });
    const changes = { items: [{ uri: 'file:///src/a.ts', type: 'updated' as const }] };
    const before = handle.state;
    for await (const { action } of whenAsked(handle.actions(), () =>
      host.act(watch, { type: 'resourceWatch/changed', changes }),
    )) {
      expect(action).toEqual({ type: 'resourceWatch/changed', changes });
      break;
    }
    expect(handle.state).toBe(before);
    handle.close();
    await settle();
    expect(host.params('unsubscribe')).toEqual([{ channel: watch }]);
  });

  it('hands on what is told on a stateless channel', async () => {
    const { client, host } = await connected();
    const telemetry = await client.subscribe('ahp-otlp:/logs');
    const payloads: unknown[] = [];
    client.onNotification('otlp/exportLogs', ({ payload }) => payloads.push(payload));
    host.notify('otlp/exportLogs', { channel: 'ahp-otlp:/logs', payload: { resourceLogs: [] } });
    host.notify('auth/required', { channel: ROOT, resource: { resource: 'https://x.test' } });
    await settle();
    expect(payloads).toEqual([{ resourceLogs: [] }]);
    expect(telemetry.state).toBeUndefined();
  });

  it('tells that a session is gone when the host says so', async () => {
    const { client, host } = await connected({ initialSubscriptions: [ROOT] });
    const one = await client.subscribe(SESSION);
    const gone = vi.fn();
    one.onGone(gone);
    const states = drain(one);
    host.notify('root/sessionRemoved', { channel: ROOT, session: SESSION });
    await settle();
    expect(gone).toHaveBeenCalledOnce();
    expect(await states).toHaveLength(1);
    await expect(one.dispatch(titled('A'))).rejects.toThrow(`${SESSION} is gone`);
    expect(one.state.title).toBe('Untitled');
  });
});

async function drain<T>(source: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const each of source) all.push(each);
  return all;
}

async function* whenAsked(source: AsyncIterable<ActionEnvelope>, act: () => void): AsyncGenerator<ActionEnvelope> {
  setImmediate(act);
  yield* source;
}
