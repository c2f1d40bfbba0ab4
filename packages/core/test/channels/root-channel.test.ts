import {
  MODE_LABELS,
  MODE_PROPERTY,
  MODE_TEXTS,
  PERMISSION_MODES,
  ROOT_CHANNEL,
  type RootState,
  type StateAction,
  type TerminalInfo,
} from '@atrium/protocol/ahp-1';
import { describe, expect, it, vi } from 'vitest';
import { DirectDelivery } from '../../src/channels/delivery.js';
import { EphemeralChannel } from '../../src/channels/ephemeral-channel.js';
import { configRefusal, RootChannel, rootConfig } from '../../src/channels/root-channel.js';
import { Writer } from '../../src/channels/writer.js';
import type { AgentBackend } from '../../src/contracts/agent.js';
import { MemoryLog } from '../../src/log/memory-log.js';
import { silentLogger } from '../../src/util/logger.js';

const ORIGIN = { clientId: 'c', epoch: 1, clientSeq: 1 };

function agent(provider: string, render = 'sections') {
  const info = {
    provider,
    displayName: provider.toUpperCase(),
    description: '',
    models: [],
    systemMessageSections: ['a'],
  };
  const state = { changed: () => {} };
  const whenInfoChanges = (changed: () => void) => {
    state.changed = changed;
  };
  return Object.assign({ info, abilities: { render }, whenInfoChanges } as unknown as AgentBackend, { state });
}

function writerOf(log: MemoryLog, now = () => 5) {
  const clock = { now, after: () => () => {} };
  const nothing = () => {};
  const delivery = new DirectDelivery({ shown: log.head, logger: silentLogger, show: nothing });
  return new Writer({ log, clock, logger: silentLogger, delivery, undone: nothing, superseded: nothing });
}

async function root(log = new MemoryLog(), agents = [agent('one'), agent('two')]) {
  const writer = writerOf(log);
  const channel = new RootChannel(log, writer);
  await channel.load(agents);
  await writer.settled();
  const asker = { reject: vi.fn(), deferred: vi.fn() };
  const dispatch = async (action: object) => {
    await channel.dispatch(action as StateAction, ORIGIN, asker);
    await writer.settled();
  };
  const state = () => (channel.takeSnapshot().snapshot as { state: RootState }).state;
  return { log, writer, channel, asker, dispatch, state };
}

describe('the configuration of the host', () => {
  it('offers its agents, and whether tools run without asking', () => {
    const { schema, values } = rootConfig([agent('one'), agent('two')], undefined);
    expect(schema.properties.defaultAgent).toMatchObject({
      type: 'string',
      enum: ['one', 'two'],
      enumLabels: ['ONE', 'TWO'],
    });
    expect(schema.properties.autoApprove).toMatchObject({ type: 'boolean', default: false });
    expect(schema.properties[MODE_PROPERTY]).toMatchObject({ type: 'string', enum: PERMISSION_MODES, default: 'ask' });
    const { enumLabels, enumDescriptions } = schema.properties[MODE_PROPERTY] ?? {};
    expect(enumLabels).toEqual(PERMISSION_MODES.map((mode) => MODE_LABELS[mode]));
    expect(enumDescriptions).toEqual(PERMISSION_MODES.map((mode) => MODE_TEXTS[mode]));
    for (const { title, description } of Object.values(schema.properties)) expect(title && description).toBeTruthy();
    expect([schema.type, values]).toEqual(['object', {}]);
  });

  it('keeps the values of earlier that still fit', () => {
    const stored = {
      schema: { type: 'object' as const, properties: {} },
      values: { defaultAgent: 'gone', autoApprove: true, old: 1 },
    };
    expect(rootConfig([agent('one')], stored).values).toEqual({ autoApprove: true });
  });

  it.each<[string, object, string | undefined]>([
    ['an unknown property', { nothing: 1 }, 'there is no property nothing'],
    ['a property of objects', { toString: 1 }, 'there is no property toString'],
    ['a read-only property', { fixed: 'a' }, 'fixed cannot be changed'],
    ['a value of another type', { autoApprove: 'yes' }, 'autoApprove must be of type boolean'],
    ['a value that is not listed', { autoApprove: true, defaultAgent: 'x' }, 'defaultAgent must be one of one'],
    [
      'a mode that is none',
      { [MODE_PROPERTY]: 'free' },
      `${MODE_PROPERTY} must be one of ${PERMISSION_MODES.join(', ')}`,
    ],
    ['values that fit', { autoApprove: true, defaultAgent: 'one', [MODE_PROPERTY]: 'plan' }, undefined],
  ])('[AHP-140] cannot be changed for %s', (_, config, expected) => {
    const { schema } = rootConfig([agent('one')], undefined);
    const fixed = { type: 'string' as const, title: 'Fixed', readOnly: true };
    const known = { schema: { ...schema, properties: { ...schema.properties, fixed } }, values: {} };
    expect(configRefusal(known, { type: 'root/configChanged', config } as never)).toBe(expected);
  });

  it('[AHP-140] cannot be changed where there is none', () => {
    const refusal = configRefusal(undefined, { type: 'root/configChanged', config: {} } as never);
    expect(refusal).toBe('this host has no configuration to change');
  });
});

describe('the root channel', () => {
  it('takes a change of the configuration from a client, and keeps it over a restart', async () => {
    const first = await root();
    expect(first.channel.settings).toEqual({});
    await first.dispatch({ type: 'root/configChanged', config: { autoApprove: true } });
    await first.dispatch({ type: 'root/configChanged', config: { autoApprove: 1 } });
    await first.dispatch({ type: 'root/activeSessionsChanged', activeSessions: 9 });
    expect(first.asker.reject.mock.calls).toEqual([
      [ORIGIN, 'autoApprove must be of type boolean'],
      [ORIGIN, 'clients cannot dispatch root/activeSessionsChanged here'],
    ]);
    expect(first.state().config?.values).toEqual({ autoApprove: true });
    expect((await root(first.log)).channel.settings).toEqual({ autoApprove: true });
  });

  it('starts from its archive and the entries behind it, at the time of the last one', async () => {
    const log = new MemoryLog();
    const entry = (activeSessions: number, time: number) => {
      const action = JSON.stringify({ type: 'root/activeSessionsChanged', activeSessions });
      return { channel: ROOT_CHANNEL, action, time };
    };
    const head = JSON.stringify({ agents: [], activeSessions: 1, config: { values: { autoApprove: true } } });
    const archives = [{ channel: ROOT_CHANNEL, head, turns: { start: 0, items: [] } }];
    await log.append({ entries: [], archives, durability: 'normal' });
    await log.append({ entries: [entry(2, 70), entry(3, 80), entry(4, 90)], durability: 'normal' });
    const { channel, state } = await root(log, []);
    expect(state()).toMatchObject({ activeSessions: 4, config: { values: { autoApprove: true } } });
    expect(channel.channel.timeAt(0)).toBe(90);
  });

  it('[REL-064] starts without an archive, or an entry, that is damaged', async () => {
    const log = new MemoryLog();
    const tail = [
      { seq: 1, channel: ROOT_CHANNEL, time: 1, action: '{"type":"root/activeSessionsChanged","activeSessions":4}' },
      { seq: 2, channel: ROOT_CHANNEL, time: 2, action: 'half', isDamaged: true as const },
    ];
    const archive = { seq: 0, head: 'half', turnCount: 0, isDamaged: true as const };
    vi.spyOn(log, 'openChannel').mockResolvedValue({ seq: 2, archive, turns: [], tail });
    const { channel, state } = await root(log, []);
    expect([state().activeSessions, channel.channel.timeAt(0)]).toEqual([4, 2]);
  });

  it('says what is new, and nothing twice', async () => {
    const agents = [agent('one')];
    const { log, writer, channel, state } = await root(new MemoryLog(), agents);
    const terminals = [{ resource: 'ahp-terminal:/1', title: 'sh' }] as unknown as TerminalInfo[];
    const say = () => {
      channel.setActiveSessions(2);
      channel.setTerminals(terminals);
      agents[0]?.state.changed();
    };
    const before = log.head;
    channel.setTerminals([]);
    await writer.settled();
    expect(log.head).toBe(before);
    say();
    say();
    await writer.settled();
    expect(log.head - before).toBe(2);
    expect(state()).toMatchObject({ activeSessions: 2, terminals });
    Object.assign(agents[0]?.info ?? {}, { displayName: 'Uno' });
    agents[0]?.state.changed();
    await writer.settled();
    expect(state().agents).toMatchObject([{ displayName: 'Uno' }]);
  });

  it('has the terminals that are stored, and needs no agent that tells of changes', async () => {
    const silent = { ...agent('one'), whenInfoChanges: undefined } as unknown as AgentBackend;
    const { writer, channel, state, log } = await root(new MemoryLog(), [silent as ReturnType<typeof agent>]);
    expect([channel.terminals, state().activeSessions, state().agents.length]).toEqual([[], 0, 1]);
    const terminals = [{ resource: 'ahp-terminal:/1', title: 'sh' }] as unknown as TerminalInfo[];
    channel.setTerminals(terminals);
    expect(channel.terminals).toEqual([]);
    await writer.settled();
    expect(channel.terminals).toEqual(terminals);
    expect(channel.takeSnapshot()).toEqual({
      snapshot: { resource: ROOT_CHANNEL, state: state(), fromSeq: writer.shown },
    });
    expect(await log.archiveHead(ROOT_CHANNEL)).toEqual({
      seq: log.head,
      head: JSON.stringify(state()),
      turnCount: 0,
    });
  });

  it('is silent once the host stops', async () => {
    const { log, writer, channel } = await root();
    const before = log.head;
    channel.close();
    channel.setActiveSessions(2);
    await writer.settled();
    expect(log.head).toBe(before);
  });

  it('offers the sections of those agents only that take them back', async () => {
    const { state } = await root(new MemoryLog(), [agent('one'), agent('two', 'text')]);
    expect(state().agents.map((info) => 'systemMessageSections' in info)).toEqual([true, false]);
  });
});

describe('an ephemeral channel', () => {
  const counting = (options: object = {}) => {
    const log = new MemoryLog();
    const writer = writerOf(log);
    const channel = new EphemeralChannel<number>({
      writer,
      uri: 'ahp:/t',
      reduce: (n) => n + 1,
      initial: 0,
      ...options,
    });
    return { log, writer, channel, asker: { reject: vi.fn(), deferred: vi.fn() } };
  };
  const action = { type: 'terminal/input' } as StateAction;

  it('shows what is stored, and stores the numbers only', async () => {
    const { log, writer, channel } = counting();
    channel.write(action);
    expect(channel.state).toBe(1);
    expect(channel.takeSnapshot()).toEqual({ snapshot: { resource: 'ahp:/t', state: 0, fromSeq: 0 } });
    await writer.settled();
    expect(channel.takeSnapshot()).toEqual({ snapshot: { resource: 'ahp:/t', state: 1, fromSeq: 1 } });
    expect(await log.read({ after: 0 })).toMatchObject([{ channel: '', action: '' }]);
  });

  it('takes from clients only what it has a rule for', async () => {
    const silent = counting();
    await silent.channel.dispatch(action, ORIGIN, silent.asker);
    expect(silent.asker.reject).toHaveBeenCalledWith(ORIGIN, 'clients cannot dispatch terminal/input here');
    const applied = vi.fn();
    const refusal = vi.fn().mockReturnValueOnce('no').mockReturnValueOnce(undefined);
    const open = counting({ refusal, applied });
    await open.channel.dispatch(action, ORIGIN, open.asker);
    expect(open.asker.reject).toHaveBeenCalledExactlyOnceWith(ORIGIN, 'no');
    expect([open.channel.state, applied.mock.calls.length]).toEqual([0, 0]);
    await open.channel.dispatch(action, ORIGIN, open.asker);
    await open.writer.settled();
    const quiet = counting({ refusal: () => undefined });
    await quiet.channel.dispatch(action, ORIGIN, quiet.asker);
    expect([quiet.channel.state, quiet.channel.uri]).toEqual([1, 'ahp:/t']);
    expect(applied).toHaveBeenCalledExactlyOnceWith(action, 'c');
    expect(await open.log.clientSeqs('c', 1, 0)).toEqual([1]);
  });
});
