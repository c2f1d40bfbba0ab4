import { describe, expect, it, vi } from 'vitest';
import {
  CONTROL_FRAME_BYTES,
  CONTROL_FRAMES_MAX,
  PeerBudget,
  UNADMITTED_PEER_MAX_BYTES,
  UNADMITTED_PEERS_MAX_BYTES,
  UnadmittedBudget,
} from '../../src/server/peer-budget.js';

function peer(strangers?: UnadmittedBudget) {
  const onExceeded = vi.fn();
  return { budget: new PeerBudget(onExceeded, strangers), onExceeded };
}

describe('the budget of a peer', () => {
  it('[REL-057] counts its bytes until it is accepted, to the last one', () => {
    const { budget, onExceeded } = peer(new UnadmittedBudget());
    budget.received(UNADMITTED_PEER_MAX_BYTES);
    expect(budget.isOver).toBe(false);
    budget.received(1);
    expect(budget.isOver).toBe(true);
    expect(onExceeded).toHaveBeenCalledExactlyOnceWith('sent too much before it was accepted');
    budget.exceeded('again');
    expect(onExceeded).toHaveBeenCalledOnce();
  });

  it('[REL-057] has no limit of bytes once it is accepted', () => {
    const strangers = new UnadmittedBudget();
    const { budget } = peer(strangers);
    budget.received(UNADMITTED_PEER_MAX_BYTES);
    budget.admit();
    budget.received(UNADMITTED_PEERS_MAX_BYTES);
    expect(budget.isOver).toBe(false);
    expect(peer().budget.takeControlFrame()).toBe(true);
  });

  it('[REL-057] has so many control frames between two heartbeats', () => {
    const { budget, onExceeded } = peer();
    const take = () => Array.from({ length: CONTROL_FRAMES_MAX }, () => budget.takeControlFrame());
    expect(take().every(Boolean)).toBe(true);
    budget.renew();
    expect(take().every(Boolean)).toBe(true);
    expect(budget.takeControlFrame()).toBe(false);
    expect(onExceeded).toHaveBeenCalledExactlyOnceWith('sent too many pings and pongs');
  });

  it('[REL-057] pays more for a control frame of a stranger than it is long', () => {
    const { budget } = peer(new UnadmittedBudget());
    for (let sent = 0; sent < UNADMITTED_PEER_MAX_BYTES; sent += CONTROL_FRAME_BYTES)
      expect(budget.takeControlFrame()).toBe(true);
    expect(budget.takeControlFrame()).toBe(false);
  });

  it('[REL-057] of all strangers together is one: the peer that sent most has to go, and gives back its share', () => {
    const strangers = new UnadmittedBudget();
    const greedy = peer(strangers);
    greedy.budget.received(UNADMITTED_PEER_MAX_BYTES);
    const share = UNADMITTED_PEER_MAX_BYTES / 2;
    const others = Array.from({ length: (UNADMITTED_PEERS_MAX_BYTES - UNADMITTED_PEER_MAX_BYTES) / share }, () =>
      peer(strangers),
    );
    for (const { budget } of others) budget.received(share);
    expect(greedy.budget.isOver).toBe(false);
    others[0]?.budget.received(1);
    expect(greedy.onExceeded).toHaveBeenCalledExactlyOnceWith('peers that are not accepted sent too much');
    // There is room again for what it had.
    peer(strangers).budget.received(UNADMITTED_PEER_MAX_BYTES - 1);
    expect(others.some(({ budget }) => budget.isOver)).toBe(false);
    peer(strangers).budget.received(1);
    expect(others.some(({ budget }) => budget.isOver)).toBe(false);
  });
});
