import type { StateAction } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import { openRoom, refusalOf, stateOf } from '../support/session-room.js';

function claim(clientId: string, tools = [{ name: 'look' }]): StateAction {
  return { type: 'session/activeClientChanged', activeClient: { clientId, tools } };
}

const RELEASE: StateAction = { type: 'session/activeClientChanged', activeClient: null };

describe('the role of active client', () => {
  it('[AHP-179] is claimed, and given up again', async () => {
    const { alice, uri } = await openRoom();
    expect(await refusalOf(alice, uri, claim('alice'))).toBeUndefined();
    expect((await stateOf(alice, uri)).activeClient).toEqual({ clientId: 'alice', tools: [{ name: 'look' }] });
    expect(await refusalOf(alice, uri, RELEASE)).toBeUndefined();
    expect((await stateOf(alice, uri)).activeClient).toBeUndefined();
  });

  it('[AHP-179] can be claimed with the creation', async () => {
    const { alice, uri, join } = await openRoom({ session: { activeClient: { clientId: 'alice', tools: [] } } });
    const bob = await join('bob');
    expect(await refusalOf(bob, uri, claim('bob'))).toContain('alice');
    expect((await stateOf(alice, uri)).activeClient?.clientId).toBe('alice');
  });

  it('[AHP-135] cannot be taken from another; its holder may claim it anew with other tools', async () => {
    const { alice, uri, join } = await openRoom();
    const bob = await join('bob');
    await refusalOf(alice, uri, claim('alice'));
    expect(await refusalOf(bob, uri, claim('bob'))).toContain('alice');
    expect(await refusalOf(alice, uri, claim('alice', [{ name: 'listen' }]))).toBeUndefined();
    expect((await stateOf(bob, uri)).activeClient?.tools).toEqual([{ name: 'listen' }]);
  });

  it('[AHP-135] goes to the first of two who claim it in the same tick', async () => {
    const { alice, uri, join } = await openRoom();
    const bob = await join('bob');
    const reasons = await Promise.all([refusalOf(alice, uri, claim('alice')), refusalOf(bob, uri, claim('bob'))]);
    expect(reasons).toEqual([undefined, expect.stringContaining('alice')]);
  });

  it('[AHP-136] cannot be claimed for somebody else', async () => {
    const { alice, uri } = await openRoom();
    expect(await refusalOf(alice, uri, claim('bob'))).toContain('itself');
    expect((await stateOf(alice, uri)).activeClient).toBeUndefined();
  });

  it('[AHP-137] can be given up only by its holder', async () => {
    const { alice, uri, join } = await openRoom();
    const bob = await join('bob');
    expect(await refusalOf(bob, uri, RELEASE)).toBeDefined();
    await refusalOf(alice, uri, claim('alice'));
    expect(await refusalOf(bob, uri, RELEASE)).toBeDefined();
    expect((await stateOf(bob, uri)).activeClient?.clientId).toBe('alice');
  });

  it('[AHP-138] lets only its holder change its tools', async () => {
    const { alice, uri, join } = await openRoom();
    const bob = await join('bob');
    const change: StateAction = { type: 'session/activeClientToolsChanged', tools: [{ name: 'listen' }] };
    expect(await refusalOf(bob, uri, change)).toBeDefined();
    await refusalOf(alice, uri, claim('alice'));
    expect(await refusalOf(bob, uri, change)).toBeDefined();
    expect(await refusalOf(alice, uri, change)).toBeUndefined();
    expect((await stateOf(alice, uri)).activeClient?.tools).toEqual([{ name: 'listen' }]);
  });
});
