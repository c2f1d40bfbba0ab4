/**
 * One page of a real database is damaged, whichever it is: the host starts, every session whose turns can be read is on
 * the list and opens, and nothing is shown that was not said.
 */
import { readFileSync, statSync } from 'node:fs';
import type { LogEntry } from '@atrium/core/log/log.js';
import type { Logger } from '@atrium/core/util/logger.js';
import type { SessionState, SessionSummary, Turn } from '@atrium/protocol';
import { defaultChatUri } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { databaseOf, garbage, overwrite, zeros } from '../support/log-damage.js';
import { copyOf, dataFolder, openLog } from '../support/log-folders.js';
import { randomFrom } from '../support/log-random.js';
import { KeptLog } from '../support/logs.js';
import { openFixture, startHost, stateOf, turnStarted } from '../support/session-fixture.js';
import { ROOT, settle, startTestHost } from '../support/test-host.js';

const PAGE = 4_096;
const SEED = 63;
const SESSIONS = 12;
const TURNS = 6;
/** Pages that are damaged besides the roots of all tables. */
const SAMPLED_PAGES = 30;
/** The first page and the roots of the tables and of their indexes. */
const ROOTS = 14;
const LONG = 'An answer that fills some of a page. '.repeat(12);
const SCRIPT = { provider: 'mock', displayName: 'Mock', default: [{ text: `\${text}: ${LONG}` }] };

interface Whole {
  readonly dataDir: string;
  readonly summaries: ReadonlyMap<string, SessionSummary>;
  readonly turns: ReadonlyMap<string, readonly Turn[]>;
}

/** A folder with sessions that a real host made, closed in order. */
async function whole(): Promise<Whole> {
  const dataDir = dataFolder();
  const host = await startTestHost({ log: await openLog(dataDir), scripts: [SCRIPT] });
  const client = await host.client('desk');
  for (let index = 0; index < SESSIONS; index++) {
    const uri = uriOf(index);
    await client.request('createSession', { channel: uri });
    await client.request('subscribe', { channel: uri });
    for (let turn = 0; turn < TURNS; turn++) {
      const turnId = `s${index}-t${turn}`;
      client.dispatch(uri, { type: 'session/turnStarted', turnId, userMessage: { text: `question ${turnId}` } });
      while ((await client.state<SessionState>(uri)).turns.length <= turn) await settle();
    }
  }
  const seen = await look(client);
  await host.stop();
  return { dataDir: copyOf(dataDir), ...seen };
}

type Client = Awaited<ReturnType<Awaited<ReturnType<typeof startTestHost>>['client']>>;

async function look(client: Client): Promise<Omit<Whole, 'dataDir'>> {
  const { items } = (await client.request('listSessions', { channel: ROOT })) as { items: SessionSummary[] };
  const summaries = new Map(items.map((summary) => [summary.resource, summary]));
  const turns = new Map<string, readonly Turn[]>();
  for (const uri of summaries.keys()) turns.set(uri, (await client.state<SessionState>(uri)).turns);
  return { summaries, turns };
}

function uriOf(index: number): string {
  return `ahp-session:/s${index}`;
}

interface Found extends Omit<Whole, 'dataDir'> {
  readonly messages: readonly string[];
  readonly greeting: Record<string, unknown>;
}

/** Starts a host on a copy with one page spoiled, and looks at everything. */
async function damaged({ dataDir }: Whole, page: number, spoil: (count: number) => Buffer): Promise<Found> {
  const copy = copyOf(dataDir);
  overwrite(databaseOf(copy), page * PAGE, spoil(PAGE));
  const messages: string[] = [];
  const logger: Logger = { log: (_level, message) => messages.push(message) };
  const host = await startTestHost({ log: await openLog(copy), scripts: [SCRIPT], logger });
  const raw = host.connect();
  const greeting = await raw.request('initialize', {
    channel: ROOT,
    protocolVersions: ['0.3.0'],
    clientId: 'looker',
    initialSubscriptions: [ROOT],
  });
  const found = { ...(await look(raw)), messages, greeting: greeting as Record<string, unknown> };
  await host.stop();
  return found;
}

/** What is wrong with what a damaged host shows. */
function problems(whole: Whole, found: Found): string[] {
  const wrong: string[] = [];
  for (const [uri, said] of whole.turns) {
    const shown = found.turns.get(uri);
    if (!shown) {
      wrong.push(`${uri} is not listed`);
      continue;
    }
    const { title } = found.summaries.get(uri) ?? {};
    if (title !== whole.summaries.get(uri)?.title) wrong.push(`${uri} is called ${title}`);
    const known = new Map(said.map((turn) => [turn.id, JSON.stringify(turn)]));
    for (const turn of shown) {
      if (turn.error?.errorType === 'damaged') continue;
      if (known.get(turn.id) !== JSON.stringify(turn)) wrong.push(`${uri} shows a turn that was not: ${turn.id}`);
    }
    if (shown.length !== said.length) wrong.push(`${uri} shows ${shown.length} turns, not ${said.length}`);
  }
  for (const uri of found.turns.keys()) if (!whole.turns.has(uri)) wrong.push(`${uri} was never there`);
  return wrong;
}

describe('a host whose database has one damaged page', () => {
  it('[REL-063] lists every session with every turn that can be read, whichever page it is', {
    timeout: 240_000,
  }, async () => {
    const intact = await whole();
    expect(intact.turns.size).toBe(SESSIONS);
    const pages = Math.floor(statSync(databaseOf(intact.dataDir)).size / PAGE);
    const random = randomFrom(SEED);
    const chosen = new Set(Array.from({ length: Math.min(ROOTS, pages) }, (_, index) => index));
    while (chosen.size < Math.min(pages, ROOTS + SAMPLED_PAGES)) chosen.add(random(pages));
    const wrong: string[] = [];
    for (const page of chosen) {
      const spoil = random(2) === 0 ? zeros : garbage;
      const found = await damaged(intact, page, spoil);
      wrong.push(...problems(intact, found).map((problem) => `page ${page} (${spoil.name}): ${problem}`));
    }
    expect(wrong).toEqual([]);
  });

  it('[REL-063] says how many sessions and turns were saved and lost, in its log and to every client', async () => {
    const intact = await whole();
    const bytes = readFileSync(databaseOf(intact.dataDir));
    // The page with a session's record: the list is in the records alone.
    const page = Math.floor(bytes.indexOf('session:ahp-session:/s3') / PAGE);
    const found = await damaged(intact, page, zeros);
    const all = SESSIONS * TURNS;
    const text = found.messages.join('\n');
    expect(text).toContain(`saved: ${all} turns of ${SESSIONS} sessions; lost: 0 turns, and 0 sessions altogether`);
    expect(text).toMatch(
      new RegExp(`the list of sessions was rebuilt: it has ${SESSIONS}, and \\d+ of them were missing`),
    );
    expect(found.greeting['atrium/damage']).toMatchObject([
      { message: expect.stringContaining('saved'), keptAt: expect.stringContaining('.corrupt-') },
      { message: expect.stringContaining('was rebuilt') },
    ]);
    expect([...found.turns.keys()].sort()).toEqual([...intact.turns.keys()].sort());
  });

  it('[REL-064] shows a damaged turn as damaged, and everything else as it was', async () => {
    const intact = await whole();
    const file = databaseOf(intact.dataDir);
    const bytes = readFileSync(file);
    for (let at = bytes.indexOf('question s2-t1'); at >= 0; at = bytes.indexOf('question s2-t1', at + 1)) {
      overwrite(file, at, Buffer.from('Q'));
    }
    const found = await damaged(intact, 0, () => readFileSync(file).subarray(0, PAGE));
    const shown = found.turns.get(uriOf(2)) ?? [];
    expect(shown.map(({ id, error }) => [id, error?.errorType])).toEqual(
      Array.from({ length: TURNS }, (_, turn) => [`s2-t${turn}`, turn === 1 ? 'damaged' : undefined]),
    );
    expect(found.messages.join('\n')).toContain(`turn 1 (s2-t1) of ${defaultChatUri('ahp-session:/s2')} was damaged`);
    expect(problems(intact, found)).toEqual([]);
    expect(JSON.stringify([...found.turns.values()])).not.toContain('Question s2-t1');
  });
});

/** A log that has lost what an agent said. */
class SpeechlessLog extends KeptLog {
  isDamaged = false;

  override async openChannel(channel: string, turns: number) {
    const stored = await super.openChannel(channel, turns);
    return stored && { ...stored, tail: this.#damaged(stored.tail) };
  }

  #damaged(entries: readonly LogEntry[]): LogEntry[] {
    const isSpeech = ({ action }: LogEntry) => /"chat\/(delta|responsePart)"/.test(action);
    return entries.map((entry) =>
      this.isDamaged && isSpeech(entry) ? { ...entry, action: '', isDamaged: true } : entry,
    );
  }
}

describe('a turn that was running, and is damaged', () => {
  it('[REL-064] ends when the host starts, and lets go what waited for its end', async () => {
    const log = new SpeechlessLog();
    const { client, uri, host, clock } = await openFixture({ log });
    client.dispatch(uri, turnStarted('t', 'slow'), 1);
    await client.action(uri, 'session/responsePart');
    client.dispatch(uri, { type: 'session/modelChanged', model: { id: 'small' } }, 2);
    await settle();
    await host.stop();
    log.isDamaged = true;
    const restarted = await startHost({ log, clock });
    const { turns, summary } = await stateOf(await restarted.client('phone'), uri);
    expect(turns).toMatchObject([{ id: 't', state: 'error', error: { errorType: 'damaged' } }]);
    expect(summary.model).toEqual({ id: 'small' });
  });
});
