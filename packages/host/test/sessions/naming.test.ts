/** Whose title a session has: an agent names it, unless a person has. */

import type { Log } from '@atrium/core/log/log.js';
import type { StateAction } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../support/fake-clock.js';
import { dataFolder, openLog } from '../support/log-folders.js';
import { PuppetAgent } from '../support/puppet-agent.js';
import { openPuppetRoom, openRoom, startHost, stateOf, turnStarted } from '../support/session-room.js';
import { settle } from '../support/test-host.js';

const named = (title: string): StateAction => ({ type: 'session/titleChanged', title });

async function titleOf(room: { desk: Parameters<typeof stateOf>[0]; uri: string }): Promise<string> {
  await settle();
  return (await stateOf(room.desk, room.uri)).summary.title;
}

describe('the title of a session', () => {
  it('is what the agent says, as often as it likes', async () => {
    const room = await openPuppetRoom();
    room.puppet.turn.title('First');
    room.puppet.turn.title('Second');
    expect(await titleOf(room)).toBe('Second');
  });

  it('is no longer the business of the agent once a person has given one', async () => {
    const room = await openPuppetRoom();
    room.puppet.turn.title('What the agent thinks');
    room.desk.dispatch(room.uri, named('Plums'));
    await settle();
    room.puppet.turn.title('What the agent thinks now');
    expect(await titleOf(room)).toBe('Plums');
    room.desk.dispatch(room.uri, named('Pears'));
    expect(await titleOf(room)).toBe('Pears');
  });

  it('stays that of a person when the host starts anew', async () => {
    const folder = await dataFolder();
    const first: Log = await openLog(folder);
    const { desk, uri, host } = await openRoom({ log: first, session: { provider: 'puppet' } });
    desk.dispatch(uri, named('Plums'));
    await settle();
    await host.stop();
    const agent = new PuppetAgent();
    const again = await startHost({ log: await openLog(folder), agents: [agent], clock: new FakeClock() });
    const back = await again.client('desk');
    await back.request('subscribe', { channel: uri });
    back.dispatch(uri, turnStarted('t1'));
    (await agent.turn(0)).turn.title('What the agent thinks');
    expect(await titleOf({ desk: back, uri })).toBe('Plums');
  });
});
