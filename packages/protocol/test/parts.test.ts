/** Long turns: what one action costs is counted in parts that are read and bytes that are kept, not in time. */
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ActiveTurn, type ChatState, chatReducer, type ResponsePart } from '../src/ahp-1/index.js';
import { activeTurnDown } from '../src/dialects/model-0.3/turns.js';
import { type SessionState, sessionReducer } from '../src/index.js';
import {
  findCall,
  findPart,
  openParts,
  PARTS_PER_CHUNK,
  turnMembers,
  withFirstPart,
  withOpenParts,
  withPart,
  withPartsOf,
  withTurnMembers,
} from '../src/parts.js';

const STARTED = '2026-11-17T12:00:00.000Z';
const started = { id: 't', startedAt: STARTED, message: { text: 'go', origin: { kind: 'user' } }, responseParts: [] };
const empty = started as unknown as ActiveTurn;

const text = (id: string): ResponsePart => ({ kind: 'markdown', id, content: '' });
const call = (toolCallId: string, status = 'running') =>
  ({ kind: 'toolCall', toolCall: { toolCallId, toolName: 'x', displayName: 'X', status } }) as unknown as ResponsePart;
const question = (id: string): ResponsePart => ({ kind: 'inputRequest', request: { id } });

/** Part 0 is text, part 1 a call that has ended, part 2 a note, and so on. */
function part(index: number): ResponsePart {
  if (index % 3 === 0) return text(`p${index}`);
  return index % 3 === 1 ? call(`c${index}`, 'completed') : { kind: 'systemNotification', content: 'x' };
}

function turnOf(parts: readonly ResponsePart[]): ActiveTurn {
  return parts.reduce(withPart, empty);
}

const long = turnOf(Array.from({ length: 1_000 }, (_, index) => part(index)));
const short = turnOf([text('a'), call('b'), question('q')]);

describe('parts of a turn', () => {
  it('[GRO-001] are a plain array, whatever holds them', () => {
    expect(Array.isArray(long.responseParts)).toBe(true);
    expect(long.responseParts).toHaveLength(1_000);
    expect(long.responseParts).toBe(long.responseParts);
    expect(JSON.parse(JSON.stringify(long))).toEqual({
      ...started,
      responseParts: Array.from({ length: 1_000 }, (_, index) => part(index)),
    });
    expect(structuredClone(long)).toEqual(long);
    expect({ ...long }.responseParts).toEqual(long.responseParts);
  });

  it('are found by their ids: the first with that id, the first call, all of them', () => {
    expect(findPart(long, 'p999')).toEqual(text('p999'));
    expect(findPart(long, 'nowhere')).toBeUndefined();
    expect(findCall(long, 'c997')).toMatchObject({ toolCallId: 'c997' });
    expect(findCall(long, 'p999')).toBeUndefined();
    expect(findPart(short, 'b')).toEqual(call('b'));
    expect(findCall(short, 'b')).toMatchObject({ toolCallId: 'b' });
    const twice = withPart(withPart(withPart(long, text('c997')), call('p999')), call('p999'));
    expect(findCall(twice, 'c997')).toMatchObject({ status: 'completed' });
    expect(findPart(twice, 'p999')).toEqual(text('p999'));
    expect(findCall(twice, 'p999')).toMatchObject({ status: 'running' });
    const marked = withPartsOf(twice, 'p999', (each) => ({ ...each, marked: true }));
    expect(marked.responseParts.filter((each) => 'marked' in each)).toHaveLength(3);
    const first = withFirstPart(twice, 'p999', (each) => ({ ...each, marked: true }));
    expect(first.responseParts.filter((each) => 'marked' in each)).toHaveLength(1);
  });

  it('do not change in an earlier state, and two states may grow from one', () => {
    const early = turnOf(Array.from({ length: 200 }, (_, index) => part(index)));
    const late = withPart(early, text('late'));
    expect([findPart(early, 'late'), findPart(late, 'late')]).toEqual([undefined, text('late')]);
    const one = withPart(withPart(long, text('one')), text('both'));
    const other = withPart(withPart(long, text('both')), text('other'));
    expect(findPart(long, 'one')).toBeUndefined();
    expect(findPart(other, 'one')).toBeUndefined();
    expect(findPart(withPart(other, text('one')), 'one')).toEqual(text('one'));
    expect([one, other].map((turn) => turn.responseParts.map((each) => 'id' in each && each.id).slice(1_000))).toEqual([
      ['one', 'both'],
      ['both', 'other'],
    ]);
    const grown = withFirstPart(one, 'both', (each) => ({ ...each, content: 'more' }) as ResponsePart);
    expect(findPart(grown, 'both')).toMatchObject({ content: 'more' });
    expect(findPart(one, 'both')).toMatchObject({ content: '' });
    expect(findPart(other, 'both')).toMatchObject({ content: '' });
  });

  it('are the same turn when nothing changes', () => {
    for (const turn of [short, long]) {
      expect(withFirstPart(turn, 'nowhere', () => text('x'))).toBe(turn);
      expect(withFirstPart(turn, 'p0', (each) => each)).toBe(turn);
      expect(withOpenParts(turn, (each) => each)).toBe(turn);
    }
    expect(withTurnMembers(short, { id: 't' })).toBe(short);
  });

  it('stay with the turn when another member changes', () => {
    const usage = { inputTokens: 1 };
    for (const turn of [short, long]) {
      const changed = withTurnMembers(turn, { usage });
      expect(changed).toEqual({ ...turn, usage });
      expect(turnMembers(changed)).toEqual({ ...turnMembers(turn), usage });
      expect(findPart(changed, 'nowhere')).toBeUndefined();
    }
  });

  it('are open while something is still to happen to them', () => {
    expect([...openParts(short)]).toEqual([call('b'), question('q')]);
    expect([...openParts(long)]).toEqual([]);
    const asked = withPart(withPart(long, call('n')), question('q'));
    expect([...openParts(asked)]).toEqual([call('n'), question('q')]);
    const closed = withOpenParts(asked, (each) =>
      each.kind === 'inputRequest' ? { ...each, response: 'accept' as const } : call('n', 'cancelled'),
    );
    expect([...openParts(closed)]).toEqual([]);
    expect([...openParts(withPartsOf(closed, 'n', () => call('n')))]).toEqual([call('n')]);
  });

  it('of a long array that came over the wire are held in chunks from the first change on', () => {
    const came = JSON.parse(JSON.stringify(long)) as ActiveTurn;
    const asked = withPart(came, call('n'));
    expect(findPart(came, 'p999')).toEqual(text('p999'));
    expect([...openParts(asked)]).toEqual([call('n')]);
    expect(asked.responseParts).toEqual([...came.responseParts, call('n')]);
    expect(Object.getOwnPropertyDescriptor(asked, 'responseParts')?.get).toBeDefined();
  });

  it('are what a plain list would be, whatever happens in whatever order', () => {
    const ids = fc.integer({ min: 0, max: 30 }).map(String);
    const step = fc.oneof(
      ids.map((id) => ({ kind: 'add' as const, part: text(id) })),
      ids.map((id) => ({ kind: 'add' as const, part: call(id) })),
      ids.map((id) => ({ kind: 'end' as const, id })),
      fc.nat().map((back) => ({ kind: 'back' as const, back })),
    );
    const end = (each: ResponsePart) => (each.kind === 'toolCall' ? call(each.toolCall.toolCallId, 'completed') : each);
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 3 * PARTS_PER_CHUNK }),
        fc.array(step, { maxLength: 60 }),
        (begin, steps) => {
          const first = Array.from({ length: begin }, (_, index) => text(`b${index}`));
          const states = [{ turn: turnOf(first), plain: first as readonly ResponsePart[] }];
          for (const each of steps) {
            const { turn, plain } = states.at(-1) ?? { turn: empty, plain: [] };
            if (each.kind === 'back') states.push(states[each.back % states.length] ?? { turn, plain });
            else if (each.kind === 'add')
              states.push({ turn: withPart(turn, each.part), plain: [...plain, each.part] });
            else {
              const isMeant = (one: ResponsePart) => one.kind === 'toolCall' && one.toolCall.toolCallId === each.id;
              const ended = plain.map((one) => (isMeant(one) ? end(one) : one));
              states.push({ turn: withPartsOf(turn, each.id, end), plain: ended });
            }
          }
          for (const { turn, plain } of states) {
            expect(turn.responseParts).toEqual(plain);
            expect([...openParts(turn)]).toEqual(
              plain.filter((one) => one.kind === 'toolCall' && one.toolCall.status === 'running'),
            );
            const calls = plain.flatMap((one) => (one.kind === 'toolCall' ? one.toolCall : []));
            expect(findCall(turn, '7')).toEqual(calls.find(({ toolCallId }) => toolCallId === '7'));
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});

/** Counts how often a part is looked at. */
function counted(parts: readonly ResponsePart[], reads: { count: number }): ResponsePart[] {
  return parts.map((each) =>
    Object.defineProperty({ ...each }, 'kind', {
      enumerable: true,
      get() {
        reads.count += 1;
        return each.kind;
      },
    }),
  );
}

const chat = (parts: readonly ResponsePart[]): ChatState =>
  ({
    resource: 'ahp-chat:/c',
    title: '',
    status: 8,
    modifiedAt: STARTED,
    turns: [],
    activeTurn: turnOf(parts),
  }) as ChatState;

const session = (parts: readonly ResponsePart[]): SessionState =>
  ({ summary: { status: 8 }, turns: [], activeTurn: activeTurnDown(turnOf(parts)) }) as unknown as SessionState;

/** The same actions as each model names them. */
function actionsOf(channel: 'chat' | 'session') {
  const target = { turnId: 't', toolCallId: 'n' };
  return [
    { type: `${channel}/delta`, turnId: 't', partId: 'p0', content: 'x' },
    { type: `${channel}/delta`, turnId: 't', partId: 'nowhere', content: 'x' },
    { type: `${channel}/toolCallStart`, ...target, toolName: 'x', displayName: 'X' },
    { type: `${channel}/toolCallReady`, ...target, invocationMessage: 'X', confirmed: 'not-needed' },
    { type: `${channel}/toolCallComplete`, ...target, result: { success: true, pastTenseMessage: 'X' } },
    { type: `${channel}/responsePart`, turnId: 't', part: text('new') },
    { type: `${channel}/inputRequested`, request: { id: 'q' } },
    { type: `${channel}/usage`, turnId: 't', usage: { inputTokens: 1 } },
  ];
}

describe('a long turn', () => {
  const partsOf = (count: number) => Array.from({ length: count }, (_, index) => part(index));

  it('[GRO-001] is not read through by an action of 1.0, nor by one of 0.3', () => {
    const readsIn = (count: number) => {
      const reads = { count: 0 };
      const parts = counted(partsOf(count), reads);
      const begin = {
        chat: chat(parts),
        session: sessionReducer(session(parts), actionsOf('session')[0] as never, { now: 1 }),
      };
      reads.count = 0;
      actionsOf('chat').reduce((state, action) => chatReducer(state, action as never), begin.chat);
      actionsOf('session').reduce((state, action) => sessionReducer(state, action as never, { now: 1 }), begin.session);
      return reads.count;
    };
    expect(readsIn(20_000)).toBeLessThanOrEqual(readsIn(200));
    // What is open stands in one chunk, which is read.
    expect(readsIn(20_000)).toBeLessThan(8 * PARTS_PER_CHUNK);
  });

  it('[GRO-001] is shown to older wires without translating parts that nobody looks at', () => {
    const reads = { count: 0 };
    const turn = turnOf([...counted(partsOf(20_000), reads), call('n'), question('q')]);
    reads.count = 0;
    const down = activeTurnDown(turn);
    expect(findCall(down, 'n')).toMatchObject({ status: 'running' });
    expect(findCall(down, 'nowhere')).toBeUndefined();
    expect([...openParts(down)]).toEqual([call('n')]);
    expect(reads.count).toBeLessThan(PARTS_PER_CHUNK);
    expect(activeTurnDown(short).responseParts).toEqual([text('a'), call('b')]);
    expect(down.responseParts).toHaveLength(20_001);
    expect(down.responseParts).toBe(down.responseParts);
  });

  it('[GRO-001] shares nearly all of it with the state before: 5,000 states together are as large as a few', () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const used = () => {
      collect();
      return getHeapStatistics().used_heap_size;
    };
    const before = used();
    const kept: ChatState[] = [chat([])];
    for (let index = 0; index < 5_000; index++) {
      const action = { type: 'chat/responsePart', turnId: 't', part: text(`p${index}`) };
      kept.push(chatReducer(kept.at(-1) as ChatState, action as never));
    }
    // With an array each they would hold 12,500,000 references, 100 MB.
    expect(used() - before).toBeLessThan(40 * 2 ** 20);
    expect(kept.at(-1)?.activeTurn?.responseParts).toHaveLength(5_000);
  });
});
