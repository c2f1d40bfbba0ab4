/** What providers do in a session, as clients of 1.0 see it. */
import type { CustomizationEnablement, SessionState } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { chatState, nativeClient, nativeSession, sessionState } from '../../support/native-client.js';
import { tool } from '../../support/provider-fixture.js';
import { type FixtureOptions, openFixture } from '../../support/session-fixture.js';
import { type RawClient, settle } from '../../support/test-host.js';
import { TestProvider } from '../../support/test-provider.js';

const ID = 'gateway-provider:/ci';
const OFF: CustomizationEnablement = { kind: 'session', enabled: false };

/** A client of 1.0 in a session of its own, and a provider there. */
async function openNative(hello: object = {}, options: FixtureOptions = {}) {
  const { host, agent, clock } = await openFixture(options);
  const client = await nativeClient(host, 'native');
  const { uri, chat } = await nativeSession(client, { provider: 'puppet' });
  const provider = await TestProvider.bound(host, { session: uri.split('/').at(-1), ...hello });
  await settle();
  return { host, agent, clock, client, uri, chat, provider };
}

function entryIn({ customizations = [] }: SessionState) {
  return customizations.find(({ id }) => id === ID);
}

async function toggle(client: RawClient, uri: string, enablement: readonly CustomizationEnablement[]) {
  client.dispatch(uri, { type: 'session/customizationToggled', id: ID, enablement } as { type: string });
  await settle();
}

describe('a provider, for clients of 1.0', () => {
  it('[UNI-107] is on without a decision, and off and on again by one for the session', async () => {
    const { client, uri } = await openNative({ tools: [tool('look')] });
    const offered = async () => (await sessionState(client, uri)).serverTools?.map(({ name }) => name) ?? [];
    expect(entryIn(await sessionState(client, uri))).not.toHaveProperty('enablement');
    expect(await offered()).toContain('look');
    await toggle(client, uri, [OFF]);
    expect(entryIn(await sessionState(client, uri))).toMatchObject({ type: 'plugin', enablement: [OFF] });
    expect(await offered()).not.toContain('look');
    await toggle(client, uri, [{ ...OFF, enabled: true }]);
    expect(entryIn(await sessionState(client, uri))).toMatchObject({ enablement: [{ ...OFF, enabled: true }] });
    expect(await offered()).toContain('look');
  });

  it('[UNI-107] goes by the first decision, and no decision at all means on', async () => {
    const { client, uri } = await openNative({ tools: [tool('look')] });
    const offered = async () => (await sessionState(client, uri)).serverTools?.map(({ name }) => name) ?? [];
    await toggle(client, uri, [OFF, { kind: 'global', enabled: true }]);
    expect(await offered()).not.toContain('look');
    await toggle(client, uri, []);
    expect(await offered()).toContain('look');
  });

  it('[UNI-048] begins a turn with a message that no person has sent', async () => {
    const { client, chat, agent, provider } = await openNative();
    provider.send({ type: 'push', level: 'inject', event: 'CI failed' });
    await agent.turn(0);
    const { activeTurn } = await chatState(client, chat);
    expect(activeTurn?.message).toEqual({
      text: '[ci/ci] CI failed',
      origin: { kind: 'systemNotification' },
      _meta: { gateway: { provider: 'ci', stream: 'ci' } },
    });
  });

  it('[UNI-061] shows an idle session by its activity, in the session and in its default chat', async () => {
    const { client, uri, chat, provider } = await openNative();
    provider.send({ type: 'push', level: 'surface', event: 'deployed' });
    await settle();
    const state = await sessionState(client, uri);
    expect([state.activity, state.chats[0]?.activity, (await chatState(client, chat)).activity]).toEqual(
      Array(3).fill('※ ci: deployed'),
    );
  });
});
