import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AutomationEventTrigger, AutomationRunState } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { Automations } from '../../src/automations/automations.js';
import {
  CHAIN_MAX,
  EVENT_RUNS_PER_HOUR_MAX,
  EVENT_TEXT_MAX_CHARACTERS,
  FILE_PATTERNS_MAX,
  FILES_NAMED_MAX,
  FILES_NAMED_MAX_CHARACTERS,
  FILES_QUIET_MS,
  FILES_SETTLE_MS,
  RUN_HISTORY_LIMIT,
  SKIPS_WRITTEN_EVERY_MS,
} from '../../src/automations/limits.js';
import { builtinTools } from '../../src/workspace/tools/builtin.js';
import { AUTOMATION, AutomationFixture, definition } from '../support/automation-fixture.js';
import { componentsOf } from '../support/host-components.js';
import { FailingLog } from '../support/logs.js';
import { nativeSession, userMessage } from '../support/native-client.js';
import { tempFolder } from '../support/temp-folder.js';
import { ROOT, settle } from '../support/test-host.js';
import { TestProvider } from '../support/test-provider.js';

const OTHER = 'ahp-automation:/other';

function trigger(type: string, events: string[], config?: object): AutomationEventTrigger {
  return { kind: 'event', id: 'e', type, title: 'E', events, ...(config && { config: config as never }) };
}

const turns = (config?: object, events = ['completed', 'failed']) => trigger('atrium.turn', events, config);
const files = (...patterns: string[]) => trigger('atrium.files', ['changed'], { patterns });
const pushes = (config: object) => trigger('atrium.push', ['pushed'], config);

function eventOf<Event>(run: AutomationRunState | undefined): Event {
  if (run?.origin.kind !== 'trigger') throw new Error('no trigger has started it');
  return run.origin.event as Event;
}

/** Somebody has a turn, which the test ends. */
async function turn(
  fixture: AutomationFixture,
  end: 'finish' | 'fail' = 'finish',
  params: object = {},
): Promise<string> {
  const { uri, chat } = await nativeSession(fixture.client, { provider: 'puppet', ...params });
  const index = fixture.agent.turns.length;
  const action = { type: 'chat/turnStarted', turnId: `t-${crypto.randomUUID()}`, message: userMessage('go') };
  fixture.client.dispatch(chat, action);
  const puppet = await fixture.agent.turn(index);
  if (end === 'finish') puppet.finish();
  else puppet.fail(new Error('It broke.'));
  await settle(20);
  return uri;
}

describe('the events that start automations', () => {
  it('[AUT-030] [UP-026] are offered with what they can be told, ready to be used', async () => {
    const fixture = await AutomationFixture.open();
    const { items } = await fixture.client.request<{ items: (AutomationEventTrigger & { configSchema: object })[] }>(
      'listAutomationTriggerDefinitions',
      { channel: ROOT },
    );
    expect(items.map(({ type, events }) => [type, events])).toEqual([
      ['atrium.turn', ['completed', 'failed', 'cancelled']],
      ['atrium.files', ['changed']],
      ['atrium.push', ['pushed']],
    ]);
    const folder = pathToFileURL(await tempFolder()).href;
    const triggers = items.map(({ configSchema: _schema, ...item }) =>
      item.type === 'atrium.push' ? { ...item, config: { provider: 'ci' } } : item,
    );
    await fixture.create({ triggers, session: { provider: 'puppet', workingDirectories: [folder] } });
    expect((await fixture.entry()).definition.triggers).toEqual(triggers);
  });

  const refused: [string, object, RegExp][] = [
    ['events that there are not', turns({}, ['begun']), /some of completed/],
    ['no events', turns({}, []), /some of completed/],
    ['an unknown setting', turns({ moon: true }), /no moon/],
    ['a setting of another type', turns({ automations: 'yes' }), /boolean/],
    ['a folder that is no path', turns({ folder: 'src' }), /whole path/],
    ['files without a folder', files('**'), /workingDirectories/],
    ['a push of nobody', pushes({}), /provider is missing/],
  ];

  it.each(refused)('[AUT-030] refuses %s', async (_what, made, reason) => {
    const fixture = await AutomationFixture.open();
    const create = { type: 'automation/createRequested', definition: { ...definition(), triggers: [made] } };
    expect(await fixture.refusal(create)).toMatch(reason);
  });

  it('[AUT-030] takes so many patterns and no more', async () => {
    const fixture = await AutomationFixture.open();
    const session = { provider: 'puppet', workingDirectories: [pathToFileURL(await tempFolder()).href] };
    const create = (patterns: unknown) => ({
      type: 'automation/createRequested',
      definition: { ...definition({ session }), triggers: [trigger('atrium.files', ['changed'], { patterns })] },
    });
    const some = (count: number) => Array.from({ length: count }, (_, index) => `${index}.txt`);
    expect(await fixture.refusal(create(some(FILE_PATTERNS_MAX + 1)))).toContain(String(FILE_PATTERNS_MAX));
    expect(await fixture.refusal(create([]))).toMatch(/patterns/);
    expect(await fixture.refusal(create([7]))).toMatch(/patterns/);
    expect(await fixture.refusal(create(['{a,b'.repeat(300)]))).toMatch(/pattern/);
    expect(await fixture.refusal(create(some(FILE_PATTERNS_MAX)))).toBeUndefined();
  });
});

describe('an automation that waits for turns', () => {
  it('[AUT-031] runs when one ends in the way that it waits for, and its agent reads which', async () => {
    const fixture = await AutomationFixture.open();
    await fixture.create({ triggers: [turns(undefined, ['failed'])] });
    await turn(fixture);
    expect(await fixture.runs()).toEqual([]);
    const session = await turn(fixture, 'fail');
    const [run] = await fixture.runs();
    expect(run?.origin).toMatchObject({
      ...{ kind: 'trigger', triggerId: 'e' },
      event: { type: 'atrium.turn', event: 'failed', session, error: 'It broke.' },
    });
    const { turn: started } = await fixture.agent.turn(2);
    expect(started.message.attachments).toMatchObject([{ type: 'simple', label: 'Event' }]);
    expect(JSON.stringify(started.message.attachments)).toContain(session);
  });

  it('[AUT-031] minds the folder and the agent of its settings', async () => {
    const fixture = await AutomationFixture.open();
    const folder = await tempFolder({ 'inside/x': '' });
    const other = await tempFolder();
    await fixture.create({ triggers: [turns({ folder, provider: 'puppet' })] });
    await turn(fixture);
    await turn(fixture, 'finish', { workingDirectories: [pathToFileURL(other).href] });
    expect(await fixture.runs()).toEqual([]);
    await turn(fixture, 'finish', { workingDirectories: [pathToFileURL(path.join(folder, 'inside')).href] });
    expect(await fixture.runs()).toHaveLength(1);
  });

  it('[AUT-032] does not answer its own sessions, nor by default those of others', async () => {
    const fixture = await AutomationFixture.open();
    await fixture.create({ triggers: [turns({ automations: true })] });
    await fixture.create({ triggers: [turns()] }, OTHER);
    await turn(fixture);
    (await fixture.agent.turn(1)).finish();
    (await fixture.agent.turn(2)).finish();
    await settle(20);
    // The first one answers the run of the second, and no more.
    (await fixture.agent.turn(3)).finish();
    await settle(40);
    expect(fixture.agent.turns).toHaveLength(4);
    expect((await fixture.runs()).map(({ lifecycle }) => lifecycle.status)).toEqual(['completed', 'completed']);
    expect(await fixture.runs(OTHER)).toHaveLength(1);
  });

  it('[AUT-032] ends a chain of automations that start each other', async () => {
    const fixture = await AutomationFixture.open();
    await fixture.create({ triggers: [turns({ automations: true })] });
    await fixture.create({ triggers: [turns({ automations: true })] }, OTHER);
    await fixture.update({ enabled: false }, OTHER);
    await turn(fixture);
    await fixture.update({ enabled: true }, OTHER);
    for (let index = 1; index <= CHAIN_MAX + 1; index += 1) {
      (await fixture.agent.turn(index)).finish();
      await settle(40);
    }
    expect(fixture.agent.turns).toHaveLength(CHAIN_MAX + 2);
    const all = [...(await fixture.runs()), ...(await fixture.runs(OTHER))];
    expect(all.filter(({ lifecycle }) => lifecycle.error?.errorType === 'skipped-chain')).toHaveLength(1);
  });

  it('[AUT-033] runs so many times an hour, and counts the rest', { timeout: 20_000 }, async () => {
    const fixture = await AutomationFixture.open();
    await fixture.create({
      triggers: [turns()],
      session: { provider: 'puppet', workingDirectories: ['file:///no/such/folder'] },
    });
    for (let count = 0; count < EVENT_RUNS_PER_HOUR_MAX + 2; count += 1) {
      await turn(fixture);
      while ((await fixture.runs())[0]?.lifecycle.status === 'pending') await settle();
    }
    await fixture.clock.advance(SKIPS_WRITTEN_EVERY_MS);
    await settle(20);
    const [skipped, ...runs] = await fixture.runs();
    expect(skipped?.lifecycle.error).toMatchObject({ errorType: 'skipped-rate' });
    expect(skipped?.lifecycle.error?.message).toContain('Not started 2 times');
    expect(runs.every(({ lifecycle }) => lifecycle.status === 'failed')).toBe(true);
    const again = await fixture.crash();
    await turn(again);
    expect((await again.runs())[0]?.lifecycle.error?.message).toContain('Not started 3 times');
    await again.clock.advance(60 * 60_000);
    await turn(again);
    expect((await again.runs())[0]?.lifecycle.error?.errorType).not.toBe('skipped-rate');
  });

  it('[AUT-024] tells of events that came while it ran', async () => {
    const fixture = await AutomationFixture.open();
    await fixture.create({ triggers: [turns()] });
    await turn(fixture);
    await fixture.agent.turn(1);
    await turn(fixture);
    expect((await fixture.runs())[0]?.lifecycle.error?.errorType).toBe('skipped-overlap');
  });

  it('[AUT-033] start no more runs when they come in turns, so that each is told by itself', async () => {
    const fixture = await AutomationFixture.open();
    const ends = (id: string, event: string) => ({ ...turns(undefined, [event]), id });
    await fixture.create({ triggers: [ends('good', 'completed'), ends('bad', 'failed')] });
    const started = () => fixture.agent.turns.filter(({ turn: { message } }) => message.text === 'look at the build');
    for (let count = 0; count < EVENT_RUNS_PER_HOUR_MAX; count++) {
      await turn(fixture);
      started().at(-1)?.finish();
      await settle(20);
    }
    expect(started()).toHaveLength(EVENT_RUNS_PER_HOUR_MAX);
    for (let count = 0; count < RUN_HISTORY_LIMIT / 2 + 5; count++) {
      await turn(fixture, 'fail');
      await turn(fixture);
    }
    expect(started()).toHaveLength(EVENT_RUNS_PER_HOUR_MAX);
  });

  /** So many are written of entries of the catalogue. */
  function watchedWrites({ client }: AutomationFixture): () => number {
    const isSet = ({ params }: { params?: unknown }) =>
      (params as { action?: { type: string } } | undefined)?.action?.type === 'automation/set';
    return () => client.received.filter(isSet).length;
  }

  async function withTurnAtWork(options: object = {}) {
    const fixture = await AutomationFixture.open(options);
    await fixture.create({ triggers: [turns()] });
    await fixture.run();
    await fixture.agent.turn(0);
    const skipped = async () => (await fixture.runs())[0]?.lifecycle.error;
    return { fixture, skipped, writes: watchedWrites(fixture) };
  }

  it('[AUT-046] writes what starts nothing once a second, with its number, and the first at once', async () => {
    const { fixture, skipped, writes } = await withTurnAtWork();
    await turn(fixture);
    expect(await skipped()).toMatchObject({ errorType: 'skipped-overlap', _meta: { skipped: { count: 1 } } });
    const before = writes();
    const first = new Date(fixture.clock.now()).toISOString();
    for (let count = 0; count < 5; count += 1) {
      await fixture.clock.advance(10);
      await turn(fixture);
    }
    expect(writes()).toBe(before);
    await fixture.clock.advance(SKIPS_WRITTEN_EVERY_MS);
    await settle(20);
    expect(writes()).toBe(before + 1);
    const last = new Date(Date.parse(first) + 50).toISOString();
    expect(await skipped()).toMatchObject({ _meta: { skipped: { count: 6, first, last } } });
    await fixture.clock.advance(10 * SKIPS_WRITTEN_EVERY_MS);
    expect(writes()).toBe(before + 1);
    await turn(fixture);
    expect(await skipped()).toMatchObject({ _meta: { skipped: { count: 7 } } });
  });

  it('[AUT-046] writes the rest when the host stops, and before the next run', async () => {
    const { fixture, skipped } = await withTurnAtWork();
    for (let count = 0; count < 3; count += 1) await turn(fixture);
    (await fixture.agent.turn(0)).finish();
    await settle(20);
    expect(await skipped()).toMatchObject({ _meta: { skipped: { count: 1 } } });
    await turn(fixture);
    const [run, told] = await fixture.runs();
    expect(run?.lifecycle.status).toBe('running');
    expect(told?.lifecycle.error?._meta).toMatchObject({ skipped: { count: 3 } });
    for (let count = 0; count < 4; count += 1) await turn(fixture);
    await fixture.host.stop();
    const again = await fixture.crash();
    const [, after] = await again.runs();
    expect(after?.lifecycle.error?._meta).toMatchObject({ skipped: { count: 3 + 4 } });
  });

  it('[AUT-046] counts on when that cannot be stored', async () => {
    const log = new FailingLog();
    const { fixture, skipped } = await withTurnAtWork({ log });
    for (let count = 0; count < 3; count += 1) await turn(fixture);
    log.isFull = true;
    await fixture.clock.advance(SKIPS_WRITTEN_EVERY_MS);
    await settle(20);
    log.isFull = false;
    await fixture.clock.advance(SKIPS_WRITTEN_EVERY_MS);
    await settle(20);
    expect(await skipped()).toMatchObject({ _meta: { skipped: { count: 3 } } });
  });

  it('[AUT-031] does not count the turn of a worker', async () => {
    const fixture = await AutomationFixture.open({ tools: builtinTools() });
    await fixture.create({ triggers: [turns()] });
    const { chat } = await nativeSession(fixture.client, { provider: 'puppet' });
    fixture.client.dispatch(chat, { type: 'chat/turnStarted', turnId: 't', message: userMessage('go') } as never);
    const { turn: parent, finish } = await fixture.agent.turn(0);
    const outcome = parent.callTool({ name: 'task', input: { title: 'Count', prompt: 'How many?' } });
    (await fixture.agent.turn(1)).finish();
    await outcome;
    await settle(20);
    expect(await fixture.runs()).toEqual([]);
    finish();
    await settle(20);
    expect(await fixture.runs()).toHaveLength(1);
  });

  it('[AUT-031] does not count a turn that a restart ended', async () => {
    const fixture = await AutomationFixture.open();
    await fixture.create({ triggers: [turns()] });
    const { chat } = await nativeSession(fixture.client, { provider: 'puppet' });
    fixture.client.dispatch(chat, { type: 'chat/turnStarted', turnId: 't', message: userMessage('go') } as never);
    await fixture.agent.turn(0);
    const again = await fixture.crash();
    await settle(20);
    expect(await again.runs()).toEqual([]);
  });
});

describe('an automation that waits for files', () => {
  async function watching(...patterns: string[]): Promise<{ fixture: AutomationFixture; folder: string }> {
    const fixture = await AutomationFixture.open();
    const folder = await tempFolder({ 'src/a.ts': '1', 'node_modules/x/b.ts': '1' });
    const session = { provider: 'puppet', workingDirectories: [pathToFileURL(folder).href] };
    await fixture.create({ triggers: [files(...patterns)], session });
    const { services } = componentsOf(fixture.host.host);
    await services.find((service) => service instanceof Automations)?.watching();
    return { fixture, folder };
  }

  /** Lets the system tell of changes, and the host collect them. */
  async function pass(fixture: AutomationFixture, milliseconds: number): Promise<void> {
    for (let passed = 0; passed < milliseconds; passed += 100) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      await fixture.clock.advance(100);
    }
  }

  async function until(fixture: AutomationFixture, count: number): Promise<void> {
    for (let tries = 0; (await fixture.runs()).length < count; tries += 1) {
      expect(tries).toBeLessThan(100);
      await pass(fixture, 300);
    }
  }

  it('[AUT-034] runs once for changes that come together, and says which', async () => {
    const { fixture, folder } = await watching('src/**');
    await writeFile(path.join(folder, 'other.txt'), 'x');
    await mkdir(path.join(folder, 'node_modules', 'y'));
    await writeFile(path.join(folder, 'src', 'b.ts'), 'x');
    await rm(path.join(folder, 'src', 'a.ts'));
    await until(fixture, 1);
    const event = eventOf<{ files: { file: string; change: string }[] }>((await fixture.runs())[0]);
    expect(event).toMatchObject({ type: 'atrium.files', event: 'changed', folder });
    expect(event.files.toSorted((a, b) => a.file.localeCompare(b.file))).toEqual([
      { file: 'src/a.ts', change: 'deleted' },
      { file: 'src/b.ts', change: 'added' },
    ]);
    (await fixture.agent.turn(0)).finish();
    await pass(fixture, 10_000);
    expect(await fixture.runs()).toHaveLength(1);
  });

  it('[AUT-034] is not started by what its own run changes, and goes on after it', async () => {
    const { fixture, folder } = await watching('**');
    await writeFile(path.join(folder, 'one.txt'), 'x');
    await until(fixture, 1);
    const { finish } = await fixture.agent.turn(0);
    await writeFile(path.join(folder, 'by-agent.txt'), 'x');
    await pass(fixture, 1_000);
    finish();
    await pass(fixture, FILES_SETTLE_MS + FILES_QUIET_MS + 1_000);
    expect(await fixture.runs()).toHaveLength(1);
    await writeFile(path.join(folder, 'two.txt'), 'x');
    await until(fixture, 2);
    expect(JSON.stringify((await fixture.runs())[0]?.origin)).not.toContain('by-agent');
  });

  it('[AUT-034] names so many files of those that changed', async () => {
    const { fixture, folder } = await watching('**');
    for (let index = 0; index < FILES_NAMED_MAX + 7; index += 1)
      await writeFile(path.join(folder, `${index}.txt`), 'x');
    await until(fixture, 1);
    const event = eventOf<{ files: object[]; more: number }>((await fixture.runs())[0]);
    expect(event.files).toHaveLength(FILES_NAMED_MAX);
    expect(event.more).toBe(7);
  });

  it('[AUT-034] names so many of them that their paths fit into a run', async () => {
    const { fixture, folder } = await watching('**');
    const length = 250;
    for (let index = 0; index < FILES_NAMED_MAX - 1; index += 1)
      await writeFile(path.join(folder, String(index).padStart(length, 'x')), 'x');
    await until(fixture, 1);
    const event = eventOf<{ files: object[]; more: number }>((await fixture.runs())[0]);
    expect(event.files).toHaveLength(FILES_NAMED_MAX_CHARACTERS / length);
    expect(event.more).toBe(FILES_NAMED_MAX - 1 - FILES_NAMED_MAX_CHARACTERS / length);
  });

  it('[AUT-034] hears nothing more when it is switched off', async () => {
    const { fixture, folder } = await watching('**');
    await fixture.update({ enabled: false });
    await writeFile(path.join(folder, 'one.txt'), 'x');
    await pass(fixture, 5_000);
    expect(await fixture.runs()).toEqual([]);
  });
});

describe('an automation that waits for a provider', () => {
  it('[AUT-035] runs when that provider tells something that fits', async () => {
    const fixture = await AutomationFixture.open();
    await fixture.create({ triggers: [pushes({ provider: 'ci', stream: 'builds', contains: 'red' })] });
    const { uri } = await nativeSession(fixture.client, { provider: 'puppet' });
    const provider = await TestProvider.bound(fixture.host, { name: 'ci' });
    const other = await TestProvider.bound(fixture.host, { name: 'weather' });
    const push = (from: TestProvider, event: string, stream = 'builds') => {
      from.send({ type: 'push', level: 'keep', event, stream });
      return settle(20);
    };
    await push(provider, 'all green');
    await push(provider, 'red sky', 'sky');
    await push(other, 'red sky');
    expect(await fixture.runs()).toEqual([]);
    await push(provider, `red ${'x'.repeat(2 * EVENT_TEXT_MAX_CHARACTERS)}`);
    const [run, ...others] = await fixture.runs();
    expect(others).toEqual([]);
    const event = eventOf<{ text: string }>(run);
    expect(event).toMatchObject({ type: 'atrium.push', session: uri, provider: 'ci', stream: 'builds' });
    expect(event.text).toHaveLength(EVENT_TEXT_MAX_CHARACTERS);
    expect(run?.automation).toBe(AUTOMATION);
  });
});
