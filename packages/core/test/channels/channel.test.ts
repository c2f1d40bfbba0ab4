import type { StateAction } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { Channel } from '../../src/channels/channel.js';

const ACTION = { type: 'test' } as unknown as StateAction;
const counting = () => new Channel<number>('ahp:/s', (count) => count + 1, 0, { lastTime: 50 });

describe('a channel', () => {
  it('has a state that decisions look at, and one that everybody sees', () => {
    const channel = counting();
    const [first, second] = [channel.accept(ACTION, undefined, 60), channel.accept(ACTION, undefined, 70)];
    expect([channel.live, channel.committed, channel.isSettled]).toEqual([2, 0, false]);
    expect([first.before, first.after, second.before, second.after]).toEqual([0, 1, 1, 2]);
    channel.markStored(first.after);
    expect([channel.live, channel.committed, channel.isSettled]).toEqual([2, 0, false]);
    channel.markShown(first.after);
    expect([channel.committed, channel.isSettled]).toEqual([1, false]);
    channel.markStored(second.after);
    expect(channel.isSettled).toBe(false);
    channel.markShown(second.after);
    expect([channel.committed, channel.isSettled]).toEqual([2, true]);
  });

  it('[REL-033] goes back to what is stored, which may not be shown yet', () => {
    const channel = counting();
    const step = channel.accept(ACTION, undefined, 60);
    channel.markStored(step.after);
    channel.accept(ACTION, undefined, 70);
    channel.rollBack();
    expect([channel.live, channel.committed, channel.isSettled]).toEqual([1, 0, false]);
    channel.markShown(step.after);
    expect([channel.live, channel.committed, channel.isSettled]).toEqual([1, 1, true]);
  });

  it('[REL-038] has times that never go back', () => {
    const channel = counting();
    expect([channel.timeAt(49), channel.timeAt(51)]).toEqual([50, 51]);
    channel.accept(ACTION, undefined, 60);
    expect(channel.timeAt(55)).toBe(60);
    expect(new Channel('ahp:/s', (state: number) => state, 0).timeAt(1)).toBe(1);
  });

  it('is replaced by a state that means the same only while nothing is under way', () => {
    const channel = counting();
    const step = channel.accept(ACTION, undefined, 60);
    expect(channel.replace(() => 7)).toBe(false);
    channel.markStored(step.after);
    expect(channel.replace(() => 7)).toBe(false);
    channel.markShown(step.after);
    expect([channel.live, channel.replace((state) => state + 6)]).toEqual([1, true]);
    channel.accept(ACTION, undefined, 70);
    expect([channel.live, channel.committed]).toEqual([8, 7]);
    channel.rollBack();
    expect([channel.live, channel.isEphemeral]).toEqual([7, false]);
  });
});
