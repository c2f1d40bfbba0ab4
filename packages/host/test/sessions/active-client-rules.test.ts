import type { StateAction } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import { openFixture, refusalOf, stateOf } from '../support/session-fixture.js';

function claim(clientId: string, tools = [{ name: 'look' }]): StateAction {
  return { type: 'session/activeClientChanged', activeClient: { clientId, tools } };
}

const RELEASE: StateAction = { type: 'session/activeClientChanged', activeClient: null };

describe('the role of active client', () => {
  it('[AHP-179] is claimed, and given up again', async () => {
    const { client, uri } = await openFixture();
    expect(await refusalOf(client, uri, claim('desk'))).toBeUndefined();
    expect((await stateOf(client, uri)).activeClient).toEqual({ clientId: 'desk', tools: [{ name: 'look' }] });
    expect(await refusalOf(client, uri, RELEASE)).toBeUndefined();
    expect((await stateOf(client, uri)).activeClient).toBeUndefined();
  });

  it('[AHP-179] can be claimed with the creation', async () => {
    const { client, uri, join } = await openFixture({ session: { activeClient: { clientId: 'desk', tools: [] } } });
    const phone = await join('phone');
    expect(await refusalOf(phone, uri, claim('phone'))).toContain('desk');
    expect((await stateOf(client, uri)).activeClient?.clientId).toBe('desk');
  });

  it('[AHP-135] cannot be taken from another; its holder may claim it anew with other tools', async () => {
    const { client, uri, join } = await openFixture();
    const phone = await join('phone');
    await refusalOf(client, uri, claim('desk'));
    expect(await refusalOf(phone, uri, claim('phone'))).toContain('desk');
    expect(await refusalOf(client, uri, claim('desk', [{ name: 'listen' }]))).toBeUndefined();
    expect((await stateOf(phone, uri)).activeClient?.tools).toEqual([{ name: 'listen' }]);
  });

  it('[AHP-135] goes to the first of two who claim it in the same tick', async () => {
    const { client, uri, join } = await openFixture();
    const phone = await join('phone');
    const reasons = await Promise.all([refusalOf(client, uri, claim('desk')), refusalOf(phone, uri, claim('phone'))]);
    expect(reasons).toEqual([undefined, expect.stringContaining('desk')]);
  });

  it('[AHP-136] cannot be claimed for somebody else', async () => {
    const { client, uri } = await openFixture();
    expect(await refusalOf(client, uri, claim('phone'))).toContain('itself');
    expect((await stateOf(client, uri)).activeClient).toBeUndefined();
  });

  it('[AHP-137] can be given up only by its holder', async () => {
    const { client, uri, join } = await openFixture();
    const phone = await join('phone');
    expect(await refusalOf(phone, uri, RELEASE)).toBeDefined();
    await refusalOf(client, uri, claim('desk'));
    expect(await refusalOf(phone, uri, RELEASE)).toBeDefined();
    expect((await stateOf(phone, uri)).activeClient?.clientId).toBe('desk');
  });

  it('[AHP-138] lets only its holder change its tools', async () => {
    const { client, uri, join } = await openFixture();
    const phone = await join('phone');
    const change: StateAction = { type: 'session/activeClientToolsChanged', tools: [{ name: 'listen' }] };
    expect(await refusalOf(phone, uri, change)).toBeDefined();
    await refusalOf(client, uri, claim('desk'));
    expect(await refusalOf(phone, uri, change)).toBeDefined();
    expect(await refusalOf(client, uri, change)).toBeUndefined();
    expect((await stateOf(client, uri)).activeClient?.tools).toEqual([{ name: 'listen' }]);
  });
});
