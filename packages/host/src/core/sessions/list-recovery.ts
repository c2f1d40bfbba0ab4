/**
 * Makes the list of sessions whole again after the log was damaged. Every session is known in three places, which stand
 * on different pages of the file: the list, its archive, its turns. What one of them lost is made from the others.
 */
import { channelKind, type SessionState, SessionStatus, type SessionSummary, type Turn } from '@atrium/protocol';
import type { Writer } from '../channels/writer.js';
import { type Log, REBUILT_RECORD, salvagedText } from '../log/log.js';
import type { Clock } from '../util/clock.js';
import { shorten } from '../util/text.js';
import type { Catalogue, CatalogueEntry } from './catalogue.js';
import type { SessionNotes } from './session-notes.js';
import { headText } from './turn-pages.js';

export interface ListRecoveryParts {
  readonly log: Log;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly catalogue: Catalogue;
  readonly notes: SessionNotes;
}

/** The agent of a session of which only turns are left. Nobody has this name, so nobody answers in its place. */
export const UNKNOWN_PROVIDER = 'unknown';

const TITLE_CHARACTERS = 80;
const ALL_TURNS = { start: 0, end: Number.MAX_SAFE_INTEGER };
/** An archive is written with the end of a turn: what comes behind the last end is not in it. */
const ENDS: ReadonlySet<string> = new Set([
  'session/turnComplete',
  'session/turnCancelled',
  'session/error',
  'session/truncated',
]);

/** Says what was done; undefined when the log was not rebuilt. */
export async function recoverList(parts: ListRecoveryParts): Promise<string | undefined> {
  const { log, writer, catalogue, notes } = parts;
  const salvaged = await log.record(REBUILT_RECORD);
  if (salvaged === undefined) return undefined;
  const unfinished = new Set((await notes.unfinished()).map(({ uri }) => uri));
  const stored = (await log.channels()).filter((uri) => channelKind(uri) === 'session' && !unfinished.has(uri));
  const lost = stored.filter((uri) => catalogue.find(uri) === undefined);
  for (const uri of lost) catalogue.set(uri, await entryFrom(parts, uri));
  for (const uri of [...catalogue.stored(), ...lost]) await restoreArchive(parts, uri);
  writer.record({ key: REBUILT_RECORD, value: null });
  await writer.settled();
  const list = `the list of sessions was made anew: ${catalogue.count} are on it, ${lost.length} of them were missing`;
  // A record of its own was damaged, and nothing else: there are no counts.
  return salvaged === '{}' ? list : `${list}; ${salvagedText(salvaged)}`;
}

/** The list knows nothing of it; its archive does, or its turns say a little. */
async function entryFrom({ log, clock }: ListRecoveryParts, uri: string): Promise<CatalogueEntry> {
  const archive = await log.archiveHead(uri);
  const head = archive && !archive.isDamaged ? (JSON.parse(archive.head) as Partial<SessionState>) : {};
  if (head.summary && head.lifecycle) return { summary: head.summary, lifecycle: head.lifecycle };
  const [first] = await log.archivedTurns(uri, { start: 0, end: 1 });
  const said = first && (JSON.parse(first.json) as Partial<Turn>).userMessage?.text;
  const now = clock.now();
  const summary: SessionSummary = {
    resource: uri,
    provider: UNKNOWN_PROVIDER,
    title: said ? shorten(said, TITLE_CHARACTERS) : 'Recovered session',
    status: SessionStatus.Idle,
    createdAt: now,
    modifiedAt: now,
  };
  return { summary, lifecycle: 'ready' };
}

/** The list knows it, and its archive is lost: it is opened from what the list says, its turns, and what came after. */
async function restoreArchive({ log, writer, catalogue }: ListRecoveryParts, uri: string): Promise<void> {
  const entry = catalogue.find(uri);
  if (!entry || (await log.archiveHead(uri))) return;
  const turns = await log.archivedTurns(uri, ALL_TURNS);
  const entries = await log.read({ after: 0, channel: uri });
  const end = entries.findLast(
    ({ action }) => action !== '' && ENDS.has((JSON.parse(action) as { type: string }).type),
  );
  const head = headOf(entry);
  writer.archive(uri, () => ({ channel: uri, seq: end?.seq ?? 0, head, turns: { start: turns.length, items: [] } }));
}

/** The state of a session, without its turns, as far as the list knows it. */
export function headOf({ summary, lifecycle }: CatalogueEntry): string {
  return headText({ summary, lifecycle, turns: [] });
}
