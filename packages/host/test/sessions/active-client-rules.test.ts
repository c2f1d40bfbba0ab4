import type { StateAction } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import { openRoom, refusalOf, stateOf } from '../support/session-room.js';

function claim(clientId: string, tools = [{ name: 'look' }]): StateAction {
  return { type: 'session/activeClientChanged', activeClient: { clientId, tools } };
}

const RELEASE: StateAction = { type: 'session/activeClientChanged', activeClient: null };

describe('the role of active client', () => {
  it('[AHP-179] is claimed, and given up again', async () => {
    const { desk, uri } = await openRoom();
    expect(await refusalOf(desk, uri, claim('desk'))).toBeUndefined();
    expect((await stateOf(desk, uri)).activeClient).toEqual({ clientId: 'desk', tools: [{ name: 'look' }] });
    expect(await refusalOf(desk, uri, RELEASE)).toBeUndefined();
    expect((await stateOf(desk, uri)).activeClient).toBeUndefined();
  });

  it('[AHP-179] can be claimed with the creation', async () => {
    const { desk, uri, join } = await openRoom({ session: { activeClient: { clientId: 'desk', tools: [] } } });
    const phone = await join('phone');
    expect(await refusalOf(phone, uri, claim('phone'))).toContain('desk');
    expect((await stateOf(desk, uri)).activeClient?.clientId).toBe('desk');
  });

  it('[AHP-135] cannot be taken from another; its holder may claim it anew with other tools', async () => {
    const { desk, uri, join } = await openRoom();
    const phone = await join('phone');
    await refusalOf(desk, uri, claim('desk'));
    expect(await refusalOf(phone, uri, claim('phone'))).toContain('desk');
    expect(await refusalOf(desk, uri, claim('desk', [{ name: 'listen' }]))).toBeUndefined();
    expect((await stateOf(phone, uri)).activeClient?.tools).toEqual([{ name: 'listen' }]);
  });

  it('[AHP-135] goes to the first of two who claim it in the same tick', async () => {
    const { desk, uri, join } = await openRoom();
    const phone = await join('phone');
    const reasons = await Promise.all([refusalOf(desk, uri, claim('desk')), refusalOf(phone, uri, claim('phone'))]);
    expect(reasons).toEqual([undefined, expect.stringContaining('desk')]);
  });

  it('[AHP-136] cannot be claimed for somebody else', async () => {
    const { desk, uri } = await openRoom();
    expect(await refusalOf(desk, uri, claim('phone'))).toContain('itself');
    expect((await stateOf(desk, uri)).activeClient).toBeUndefined();
  });

  it('[AHP-137] can be given up only by its holder', async () => {
    const { desk, uri, join } = await openRoom();
    const phone = await join('phone');
    expect(await refusalOf(phone, uri, RELEASE)).toBeDefined();
    await refusalOf(desk, uri, claim('desk'));
    expect(await refusalOf(phone, uri, RELEASE)).toBeDefined();
    expect((await stateOf(phone, uri)).activeClient?.clientId).toBe('desk');
  });

  it('[AHP-138] lets only its holder change its tools', async () => {
    const { desk, uri, join } = await openRoom();
    const phone = await join('phone');
    const change: StateAction = { type: 'session/activeClientToolsChanged', tools: [{ name: 'listen' }] };
    expect(await refusalOf(phone, uri, change)).toBeDefined();
    await refusalOf(desk, uri, claim('desk'));
    expect(await refusalOf(phone, uri, change)).toBeDefined();
    expect(await refusalOf(desk, uri, change)).toBeUndefined();
    expect((await stateOf(desk, uri)).activeClient?.tools).toEqual([{ name: 'listen' }]);
  });
});
