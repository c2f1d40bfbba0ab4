/** What everybody with the same access is sent: the one that leaves nothing out passes everything on as it is. */
import { describe, expect, it } from 'vitest';
import type { Access } from '../../src/contracts/access.js';
import { OWNER } from '../../src/contracts/access.js';
import type { Connection } from '../../src/wire/connection.js';
import { DIALECTS } from '../../src/wire/dialects/dialects.js';
import { Edition, Editions } from '../../src/wire/editions.js';
import { Projection } from '../../src/wire/projection.js';

const SESSION = 'ahp-session:/s';
const FACTS = { foldersOf: () => [], seesTerminal: () => false };
const SHARE: Access = {
  ...{ role: 'viewer', bounds: { sessions: [SESSION] }, leftOut: ['toolInput'] },
  credential: { kind: 'share', id: 's' },
};
const envelope = {
  ...{ channel: SESSION, serverSeq: 4 },
  action: { type: 'session/activityChanged' as const, activity: 'reads' },
};

describe('an edition', () => {
  it('that leaves nothing out passes on the very same objects', () => {
    const main = new Edition({} as never);
    const snapshot = { resource: SESSION, state: { title: 'x' } };
    const group = { channel: SESSION, steps: [], atHand: { steps: [] }, stateBefore: () => undefined };
    expect(main.envelope(envelope)).toBe(envelope);
    expect(main.snapshot(snapshot)).toBe(snapshot);
    expect(main.group(group)).toBe(group);
  });

  it('of somebody else has an action as it shows it, or not at all', () => {
    const edition = new Edition({} as never, new Projection(SHARE, FACTS));
    const title = { ...envelope, action: { type: 'session/titleChanged' as const, title: 'x' } };
    expect([edition.envelope(title), edition.envelope(envelope)]).toEqual([title, undefined]);
  });

  it('keeps what it said for those dialects alone that cannot translate without states', () => {
    const edition = new Edition({} as never);
    const replays = DIALECTS.map((dialect) => edition.replayOf(dialect) !== undefined);
    expect(replays).toEqual(DIALECTS.map(({ traits }) => traits.needsStates));
    expect(new Set(replays)).toEqual(new Set([true, false]));
  });

  it('looks up what dialects remember of a group in its own memory, until that goes', () => {
    const [one, other] = [new Edition({} as never), new Edition({} as never)];
    const memory = {} as never;
    one.memories.set(SESSION, memory);
    expect([one.view.memoryOf?.(SESSION), other.view.memoryOf?.(SESSION)]).toEqual([memory, undefined]);
    one.forget(SESSION);
    expect(one.view.memoryOf?.(SESSION)).toBeUndefined();
  });
});

describe('the editions', () => {
  const of = (access: Access) => ({ access }) as unknown as Connection;
  const made = () => new Editions({} as never, { sees: () => true } as never, FACTS);

  it('are one for all who see everything, and one for each other access as long as somebody has it', () => {
    const editions = made();
    const [owner, one, two] = [of(OWNER), of(SHARE), of({ ...SHARE, credential: { kind: 'share', id: 't' } })];
    expect(editions.join(owner)).toBe(editions.main);
    const shared = editions.join(one);
    expect(shared).not.toBe(editions.main);
    expect(editions.join(two)).toBe(shared);
    expect([...editions.others()]).toEqual([shared]);
    editions.remove(owner, editions.main);
    editions.remove(one, shared);
    expect([...editions.others()]).toEqual([shared]);
    editions.remove(two, shared);
    expect([...editions.others()]).toEqual([]);
    expect(editions.join(one)).not.toBe(shared);
  });

  it('all forget a channel that left memory', () => {
    const editions = made();
    const shared = editions.join(of(SHARE));
    for (const edition of [editions.main, shared]) edition.memories.set(SESSION, {} as never);
    editions.forget(SESSION);
    expect([editions.main, shared].map(({ memories }) => memories.size)).toEqual([0, 0]);
  });
});
