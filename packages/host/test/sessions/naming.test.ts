/** Whose title a session has: an agent names it, unless a person has. */

import type { Log } from '@atrium/core/log/log.js';
import type { StateAction } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../support/fake-clock.js';
import { dataFolder, openLog } from '../support/log-folders.js';
import { PuppetAgent } from '../support/puppet-agent.js';
import { openFixture, openPuppetFixture, startHost, stateOf, turnStarted } from '../support/session-fixture.js';
import { settle } from '../support/test-host.js';

const named = (title: string): StateAction => ({ type: 'session/titleChanged', title });

async function titleOf(fixture: { client: Parameters<typeof stateOf>[0]; uri: string }): Promise<string> {
  await settle();
  return (await stateOf(fixture.client, fixture.uri)).summary.title;
}

describe('the title of a session', () => {
  it('is what the agent says, as often as it likes', async () => {
    const fixture = await openPuppetFixture();
    fixture.puppet.turn.title('First');
    fixture.puppet.turn.title('Second');
    expect(await titleOf(fixture)).toBe('Second');
  });

  it('is no longer the business of the agent once a person has given one', async () => {
    const fixture = await openPuppetFixture();
    fixture.puppet.turn.title('What the agent thinks');
    fixture.client.dispatch(fixture.uri, named('Plums'));
    await settle();
    fixture.puppet.turn.title('What the agent thinks now');
    expect(await titleOf(fixture)).toBe('Plums');
    fixture.client.dispatch(fixture.uri, named('Pears'));
    expect(await titleOf(fixture)).toBe('Pears');
  });

  it('stays that of a person when the host starts anew', async () => {
    const folder = await dataFolder();
    const first: Log = await openLog(folder);
    const { client, uri, host } = await openFixture({ log: first, session: { provider: 'puppet' } });
    client.dispatch(uri, named('Plums'));
    await settle();
    await host.stop();
    const agent = new PuppetAgent();
    const again = await startHost({ log: await openLog(folder), agents: [agent], clock: new FakeClock() });
    const back = await again.client('desk');
    await back.request('subscribe', { channel: uri });
    back.dispatch(uri, turnStarted('t1'));
    (await agent.turn(0)).turn.title('What the agent thinks');
    expect(await titleOf({ client: back, uri })).toBe('Plums');
  });
});
