import type { AutomationDefinition, AutomationEntry, AutomationRunState } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import {
  AUTOMATION_TITLE_MAX_CHARACTERS,
  AUTOMATION_URI_MAX_CHARACTERS,
  AUTOMATIONS_MAX,
  CRON_MAX_CHARACTERS,
  DEFINITION_MAX_CHARACTERS,
  TRIGGER_ID_MAX_CHARACTERS,
  TRIGGERS_MAX,
} from '../../src/automations/limits.js';
import {
  AUTOMATION,
  AUTOMATIONS_CHANNEL,
  AutomationFixture,
  definition,
  scheduled,
} from '../support/automation-fixture.js';
import { nativeClient } from '../support/native-client.js';
import { ROOT, settle } from '../support/test-host.js';

const create = (changes: object, resource = 'ahp-automation:/other') => ({
  type: 'automation/createRequested',
  resource,
  definition: { ...definition(), ...changes },
});

describe('the catalogue of automations', () => {
  it('[AUT-001] [UP-028] is announced in the handshake', async () => {
    const { host } = await AutomationFixture.open();
    const client = host.connect();
    const result = await client.initialize('a', { protocolVersions: ['1.0.0'] });
    expect(result.automations).toEqual({
      create: {},
      schedules: { minIntervalMinutes: 5 },
      runCancellation: {},
      runHistoryLimit: 50,
    });
  });

  it('[AUT-001] is there for a client of 0.9, from the definition to the run', async () => {
    const fixture = await AutomationFixture.open();
    const client = fixture.host.connect();
    const initialSubscriptions = [AUTOMATIONS_CHANNEL];
    const result = await client.initialize('nine', { protocolVersions: ['0.9.0'], initialSubscriptions });
    expect(result).toMatchObject({ automations: { create: {} }, snapshots: [{ state: { entries: [] } }] });
    client.dispatch(AUTOMATIONS_CHANNEL, create({}, AUTOMATION));
    const { action } = await client.action(AUTOMATIONS_CHANNEL, 'automation/set');
    expect(action.automation).toMatchObject({ resource: AUTOMATION, definition: definition() });
    const params = { channel: AUTOMATIONS_CHANNEL, automation: AUTOMATION, requestId: 'r' };
    const { resource } = await client.request<{ resource: string }>('runAutomation', params);
    (await fixture.agent.turn(0)).finish();
    await fixture.until(resource, 'completed');
    const run = await client.state<AutomationRunState>(resource);
    expect(run.lifecycle.status).toBe('completed');
    expect(await client.state(run.primarySession ?? '')).toMatchObject({
      origin: { kind: 'automation', run: resource },
    });
  });

  it('[AUT-001] [UP-215] is not there for a client of 0.7', async () => {
    const { host } = await AutomationFixture.open();
    const client = host.connect();
    expect(await client.initialize('old', { protocolVersions: ['0.7.0'] })).not.toHaveProperty('automations');
    expect((await client.ask('subscribe', { channel: AUTOMATIONS_CHANNEL })).error).toBeDefined();
    const run = { channel: AUTOMATIONS_CHANNEL, automation: AUTOMATION, requestId: 'r' };
    expect((await client.ask('runAutomation', run)).error?.code).toBe(-32601);
  });

  it('[AUT-002] [UP-146] takes an automation, tells every client, and still has it after a restart', async () => {
    const fixture = await AutomationFixture.open();
    const phone = await nativeClient(fixture.host, 'phone');
    await phone.request('subscribe', { channel: AUTOMATIONS_CHANNEL });
    const entry = await fixture.create({ triggers: [scheduled('0 2 * * *')] });
    expect(entry).toMatchObject({
      resource: AUTOMATION,
      definition: { title: 'Nightly', message: { origin: { kind: 'automation' } } },
      nextRunAt: '2025-01-01T02:00:00.000Z',
      runs: [],
      operations: ['update', 'remove', 'run'],
      createdAt: '2025-01-01T00:00:00.000Z',
    });
    const { action } = await phone.action(AUTOMATIONS_CHANNEL, 'automation/set');
    expect(action.automation).toEqual(entry);
    const again = await fixture.crash();
    expect(await again.entries()).toEqual([entry]);
  });

  it('[AUT-002] gives a name to an automation that has none', async () => {
    const fixture = await AutomationFixture.open();
    const { resource: _none, ...nameless } = create({});
    expect(await fixture.refusal(nameless)).toBeUndefined();
    expect((await fixture.entries())[0]?.resource).toMatch(/^ahp-automation:\/[0-9a-f-]{36}$/);
  });

  it('[AUT-002] replays to a client that comes back what it missed', async () => {
    const fixture = await AutomationFixture.open();
    const phone = await nativeClient(fixture.host, 'phone');
    await phone.request('subscribe', { channel: AUTOMATIONS_CHANNEL });
    const lastSeenServerSeq = fixture.log.head;
    phone.disconnect();
    await fixture.create();
    const back = fixture.host.connect();
    const { actions } = await back.request<{ actions: { action: { type: string } }[] }>('reconnect', {
      channel: ROOT,
      clientId: 'phone',
      lastSeenServerSeq,
      subscriptions: [AUTOMATIONS_CHANNEL],
    });
    expect(actions.map(({ action }) => action.type)).toEqual(['automation/createRequested', 'automation/set']);
  });

  const event = { kind: 'event', id: 'e', type: 'moon.full', title: 'Full moon', events: [] };
  const attaching = (attachment: object) => ({
    ...{ text: 'x', origin: { kind: 'automation' }, attachments: [{ label: 'Old', ...attachment }] },
  });
  const refused: [string, object, RegExp][] = [
    ['no title', { title: ' ' }, /title/],
    ['no text', { message: { text: ' ', origin: { kind: 'automation' } } }, /message/],
    ['a message of an agent', { message: { text: 'x', origin: { kind: 'agent' } } }, /origin/],
    ['a chat beside the message', { message: attaching({ type: 'chat', resource: 'ahp-chat:/x' }) }, /attach chat/],
    [
      'notes beside the message',
      { message: attaching({ type: 'annotations', resource: 'x:/y' }) },
      /attach annotations/,
    ],
    ['an agent that is not here', { session: { provider: 'nobody' } }, /no agent nobody/],
    ['a model that its agent lacks', { session: { provider: 'puppet', model: { id: 'huge' } } }, /no model "huge"/],
    ['a folder that is none', { session: { workingDirectories: ['/srv'] } }, /file URI/],
    ['conditions that the host does not know', { disableConditions: [{}] }, /disableConditions/],
    ['an unknown kind of trigger', { triggers: [{ kind: 'moon', id: 'm' }] }, /kind moon/],
    ['an unknown event', { triggers: [event] }, /moon\.full/],
    ['two triggers of one name', { triggers: [scheduled('0 2 * * *'), scheduled('0 3 * * *')] }, /two triggers/],
    ['a trigger without a name', { triggers: [{ ...scheduled('0 2 * * *'), id: '' }] }, /id of a trigger/],
    ['an unknown policy', { triggers: [{ ...scheduled('0 2 * * *'), misfirePolicy: 'all' }] }, /misfirePolicy/],
    ['six fields', { triggers: [scheduled('0 0 2 * * *')] }, /five fields/],
    ['a nickname', { triggers: [scheduled('@daily')] }, /five fields/],
    ['a minute that no hour has', { triggers: [scheduled('60 2 * * *')] }, /minute: 60/],
    ['a day that never comes', { triggers: [scheduled('0 0 30 2 *')] }, /never comes/],
    ['a zone that is nowhere', { triggers: [scheduled('0 2 * * *', 'Mars/Base')] }, /time zone/],
    ['an offset', { triggers: [scheduled('0 2 * * *', '+01:00')] }, /time zone/],
    ['every minute', { triggers: [scheduled('* * * * *')] }, /every 5 minutes/],
    ['two minutes around midnight', { triggers: [scheduled('58,0 23,0 * * 1')] }, /every 5 minutes/],
  ];

  it.each(refused)('[AUT-003] [AUT-021] refuses %s, and says why', async (_what, changes, reason) => {
    const fixture = await AutomationFixture.open();
    expect(await fixture.refusal(create(changes))).toMatch(reason);
    expect(await fixture.entries()).toEqual([]);
  });

  it.each(['*/5 * * * *', '0 12 * * MON-FRI', '0 0 29 2 *', '55,0 23,0 * * *'])(
    '[AUT-021] takes "%s"',
    async (cron) => {
      const fixture = await AutomationFixture.open();
      expect(await fixture.refusal(create({ triggers: [scheduled(cron, 'America/New_York')] }))).toBeUndefined();
    },
  );

  it('[AUT-003] refuses what is no request of a client, what is not there, and what is there already', async () => {
    const fixture = await AutomationFixture.open();
    const automation = await fixture.create();
    const set = { type: 'automation/set', automation };
    expect(await fixture.refusal(set)).toMatch(/cannot dispatch/);
    expect(await fixture.refusal(create({}, AUTOMATION))).toMatch(/already/);
    expect(await fixture.refusal(create({}, 'ahp-session:/x'))).toMatch(/ahp-automation/);
    const other = { resource: 'ahp-automation:/none', definition: definition() };
    expect(await fixture.refusal({ type: 'automation/updateRequested', ...other })).toMatch(/no automation/);
    expect(await fixture.refusal({ type: 'automation/updateRequested', definition: definition() })).toMatch(/resource/);
    expect(await fixture.refusal({ type: 'automation/removed', ...other })).toMatch(/no automation/);
    expect(await fixture.refusal({ type: 'automation/createRequested' })).toMatch(/definition/);
  });

  const ofSize = (size: number): Partial<AutomationDefinition> => {
    const empty = JSON.stringify({ ...definition(), message: { text: '', origin: { kind: 'automation' } } }).length;
    return { message: { text: 'x'.repeat(size - empty), origin: { kind: 'automation' } } };
  };
  const numbered = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ ...scheduled('0 2 * * *'), id: `t${index}` }));
  const uri = (length: number) => 'ahp-automation:/'.padEnd(length, 'x');
  const edges: [string, number, (size: number) => object][] = [
    ['characters of JSON', DEFINITION_MAX_CHARACTERS, (size) => create(ofSize(size))],
    ['characters of a title', AUTOMATION_TITLE_MAX_CHARACTERS, (size) => create({ title: 'x'.repeat(size) })],
    ['characters of a URI', AUTOMATION_URI_MAX_CHARACTERS, (size) => create({}, uri(size))],
    ['triggers', TRIGGERS_MAX, (size) => create({ triggers: numbered(size) })],
    [
      'characters in the name of a trigger',
      TRIGGER_ID_MAX_CHARACTERS,
      (size) => create({ triggers: [{ ...scheduled('0 2 * * *'), id: 'x'.repeat(size) }] }),
    ],
    [
      'characters of a cron expression',
      CRON_MAX_CHARACTERS,
      (size) => create({ triggers: [scheduled('0 2 * * 1'.padEnd(size))] }),
    ],
  ];

  it.each(edges)('[AUT-004] takes so many %s and no more: %d', async (_what, max, make) => {
    const fixture = await AutomationFixture.open();
    expect(await fixture.refusal(make(max + 1))).toContain(String(max));
    expect(await fixture.refusal(make(max))).toBeUndefined();
  });

  it(`[AUT-004] takes ${AUTOMATIONS_MAX} automations and no more`, async () => {
    const fixture = await AutomationFixture.open();
    for (let index = 0; index < AUTOMATIONS_MAX; index += 1)
      fixture.client.dispatch(AUTOMATIONS_CHANNEL, create({}, `ahp-automation:/a${index}`));
    expect(await fixture.refusal(create({}))).toContain(String(AUTOMATIONS_MAX));
    expect(await fixture.refusal({ type: 'automation/removed', resource: 'ahp-automation:/a7' })).toBeUndefined();
    expect(await fixture.refusal(create({}))).toBeUndefined();
    expect(await fixture.entries()).toHaveLength(AUTOMATIONS_MAX);
  });

  it('[AUT-005] changes an automation; its schedule begins when it is made or switched on', async () => {
    const fixture = await AutomationFixture.open();
    const triggers = [scheduled('0 * * * *')];
    await fixture.create({ triggers, enabled: false });
    expect((await fixture.entry()).nextRunAt).toBeUndefined();
    await fixture.clock.advance(3 * 60 * 60_000 + 10 * 60_000);
    const on = await fixture.update({ enabled: true });
    expect(on).toMatchObject({ nextRunAt: '2025-01-01T04:00:00.000Z', modifiedAt: '2025-01-01T03:10:00.000Z' });
    expect(on.runs).toEqual([]);
    await fixture.update({ title: 'Hourly' });
    expect(await fixture.entry()).toMatchObject({
      definition: { title: 'Hourly' },
      nextRunAt: '2025-01-01T04:00:00.000Z',
    });
  });

  it('[AUT-006] removes an automation with its history, for good', async () => {
    const fixture = await AutomationFixture.open();
    await fixture.create();
    const run = await fixture.run();
    const puppet = await fixture.agent.turn(0);
    expect(await fixture.refusal({ type: 'automation/removed', resource: AUTOMATION })).toBeUndefined();
    await settle();
    expect(puppet.turn.signal.aborted).toBe(true);
    expect(await fixture.entries()).toEqual([]);
    expect((await fixture.client.ask('subscribe', { channel: run })).error?.code).toBe(-32008);
    const again = await fixture.crash();
    expect(await again.entries()).toEqual([]);
    expect((await again.client.ask('subscribe', { channel: run })).error?.code).toBe(-32008);
    const { items } = await again.client.request<{ items: object[] }>('listSessions', { channel: ROOT });
    expect(items).toMatchObject([{ title: 'Nightly', origin: { kind: 'automation', automation: AUTOMATION, run } }]);
  });

  it('[AUT-007] says what clients may do with an automation now', async () => {
    const fixture = await AutomationFixture.open();
    await fixture.create();
    const run = await fixture.run();
    const { finish } = await fixture.agent.turn(0);
    const during: AutomationEntry = await fixture.entry();
    expect(during.operations).toEqual(['update', 'remove']);
    finish();
    await fixture.until(run, 'completed');
    expect((await fixture.entry()).operations).toEqual(['update', 'remove', 'run']);
  });
});
