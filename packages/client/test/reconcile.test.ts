import { type ActionEnvelope, type ChatState, SessionStatus, type StateAction } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { type Mirror, mirrorOf, optimisticOf, withDispatched, withReceived } from '../src/reconcile.js';
import { chat, drafted, ended, NOON, ONE, queued, started, terminal } from './support/states.js';

const ME = 'me';

const fresh = (fromSeq = 0) => mirrorOf('chat', { state: chat(ONE), fromSeq, older: 0 }, []);
const dispatched = (mirror: Mirror, clientSeq: number, action: StateAction) =>
  withDispatched(mirror, { clientSeq, action });
const envelope = (serverSeq: number, action: StateAction, members: Partial<ActionEnvelope> = {}): ActionEnvelope => ({
  channel: ONE,
  serverSeq,
  action,
  ...members,
});
const mine = (clientSeq: number) => ({ origin: { clientId: 'me', clientSeq } });
const receive = (mirror: Mirror, ...envelopes: ActionEnvelope[]) =>
  envelopes.reduce((current, each) => withReceived(current, each, ME), mirror);
const confirmed = (mirror: Mirror) => mirror.confirmed as ChatState;
const shown = (mirror: Mirror) => optimisticOf(mirror) as ChatState;
const queue = (state: ChatState) => state.queuedMessages?.map(({ id }) => id);

describe('what is kept', () => {
  it('[CLI-001] confirmed is the snapshot plus what the host has sent since', () => {
    const mirror = receive(fresh(), envelope(1, drafted('A')), envelope(2, queued('q')));
    expect(confirmed(mirror)).toMatchObject({ draft: { text: 'A' }, queuedMessages: [{ id: 'q' }] });
  });

  it('[CLI-002] pending is the list of own actions without an echo, in order', () => {
    const mirror = dispatched(dispatched(fresh(), 1, drafted('A')), 2, queued('q'));
    expect(mirror.pending.map(({ clientSeq }) => clientSeq)).toEqual([1, 2]);
    expect(confirmed(mirror).draft?.text).toBe('Untitled');
  });

  it('[CLI-003] optimistic is confirmed with all pending actions on top, in order', () => {
    const mirror = dispatched(dispatched(fresh(), 1, drafted('A')), 2, drafted('B'));
    expect(shown(mirror).draft?.text).toBe('B');
    expect(shown(receive(mirror, envelope(1, drafted('C')))).draft?.text).toBe('B');
  });

  it('shows the same state again when it is computed again', () => {
    const mirror = dispatched(fresh(), 1, started('t'));
    expect(shown(mirror)).toEqual(shown(mirror));
    expect(shown(mirror).modifiedAt).toBe(NOON);
  });
});

describe('what arrives', () => {
  it('[CLI-006] is dropped when the snapshot contains it already', () => {
    const mirror = fresh(10);
    expect(receive(mirror, envelope(10, drafted('A')))).toBe(mirror);
    expect(confirmed(receive(mirror, envelope(11, drafted('A')))).draft?.text).toBe('A');
  });

  it('[CLI-006] still ends the waiting when it is an own echo that the snapshot contains', () => {
    const mirror = dispatched(fresh(10), 1, queued('q'));
    expect(receive(mirror, envelope(9, queued('q'), mine(1)))).toMatchObject({ pending: [], seq: 10 });
  });

  it('is reduced once when it comes twice', () => {
    const delta = envelope(3, { type: 'chat/delta', turnId: 't', partId: 'p', content: 'Hello' });
    const part = { kind: 'markdown', id: 'p', content: '' } as const;
    const streaming = receive(
      fresh(),
      envelope(1, started('t')),
      envelope(2, { type: 'chat/responsePart', turnId: 't', part }),
    );
    const once = receive(streaming, delta);
    expect(receive(once, delta)).toBe(once);
    expect(confirmed(once).activeTurn?.responseParts).toEqual([{ ...part, content: 'Hello' }]);
  });

  it('[CLI-007] as an own echo moves the action from pending to confirmed', () => {
    const mirror = receive(dispatched(fresh(), 1, queued('q')), envelope(1, queued('q'), mine(1)));
    expect(mirror.pending).toEqual([]);
    expect(queue(confirmed(mirror))).toEqual(['q']);
    expect(shown(mirror)).toBe(mirror.confirmed);
  });

  it('[CLI-007] as an echo out of order, after a deferral, is matched by its number', () => {
    const archive = { type: 'chat/isArchivedChanged', isArchived: true } as const;
    const mirror = dispatched(dispatched(fresh(), 2, archive), 3, queued('q'));
    const early = receive(mirror, envelope(1, queued('q'), mine(3)));
    expect(early.pending.map(({ clientSeq }) => clientSeq)).toEqual([2]);
    expect(shown(early).status & SessionStatus.IsArchived).toBeTruthy();
    const late = receive(early, envelope(2, archive, mine(2)));
    expect(late.pending).toEqual([]);
    expect(confirmed(late).status & SessionStatus.IsArchived).toBeTruthy();
  });

  it('[CLI-008] as a rejection takes the effect away', () => {
    const mirror = dispatched(fresh(), 1, drafted('A'));
    const after = receive(mirror, envelope(1, drafted('A'), { ...mine(1), rejectionReason: '' }));
    expect(after.pending).toEqual([]);
    expect(shown(after).draft?.text).toBe('Untitled');
  });

  it('[CLI-009] from others is reduced, unless it was rejected', () => {
    const other = { origin: { clientId: 'other', clientSeq: 1 } };
    const mirror = dispatched(fresh(), 1, queued('mine'));
    const after = receive(
      mirror,
      envelope(1, drafted('A'), other),
      envelope(2, drafted('B'), { ...other, rejectionReason: 'no' }),
    );
    expect(confirmed(after).draft?.text).toBe('A');
    expect(after.pending).toHaveLength(1);
  });

  it('[CLI-010] puts pending actions on top of the new state', () => {
    const mirror = receive(dispatched(fresh(), 1, queued('mine')), envelope(1, queued('theirs')));
    expect(queue(shown(mirror))).toEqual(['theirs', 'mine']);
  });

  it('[CLI-011] as an own echo that nobody waits for is treated like that of anybody', () => {
    const mirror = dispatched(fresh(), 2, queued('b'));
    const after = receive(mirror, envelope(1, queued('a'), mine(1)));
    expect(queue(confirmed(after))).toEqual(['a']);
    expect(after.pending).toHaveLength(1);
  });
});

describe('conflicts', () => {
  it('[CLI-012] are won by the host: a prediction whose target is gone has no effect', () => {
    const running = receive(fresh(), envelope(1, started('t')));
    const mirror = dispatched(running, 1, { type: 'chat/turnCancelled', turnId: 't', duration: 1 });
    expect(shown(mirror).turns[0]?.state).toBe('cancelled');
    const after = receive(mirror, envelope(2, ended('t')));
    expect(shown(after).turns.map(({ state }) => state)).toEqual(['complete']);
  });

  it('[CLI-013] what goes into a terminal is not predicted', () => {
    const mirror = mirrorOf('terminal', { state: terminal(), fromSeq: 0, older: undefined }, []);
    const typed = dispatched(mirror, 1, { type: 'terminal/input', data: 'ls\n' });
    expect(typed.pending).toHaveLength(1);
    expect(optimisticOf(typed)).toBe(mirror.confirmed);
  });

  it('[CLI-025] actions of a type that nobody knows change nothing', () => {
    const unknown = { type: 'session/levitated' } as unknown as StateAction;
    const mirror = fresh();
    expect(receive(mirror, envelope(1, unknown)).confirmed).toBe(mirror.confirmed);
  });
});
