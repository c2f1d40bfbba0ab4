/** Whatever a client answers when it is asked to rewrite sections, the host renders a prompt and goes on. */

import { TRANSFORM_TIMEOUT_MS } from '@atrium/core/prompt/limits.js';
import type { SessionActiveClient } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import type { Script } from '../../../agents/src/scripted/script.js';
import { FakeClock } from '../support/fake-clock.js';
import { lastText, startHost, stateOf } from '../support/session-fixture.js';
import { type Message, type RawClient, settle } from '../support/test-host.js';

const SECTIONS = { identity: 'I am a mock.', tone: 'Be brief.', safety: 'Be safe.' };
const SCRIPT: Script = {
  provider: 'mock',
  displayName: 'Mock',
  sections: SECTIONS,
  default: [{ showPrompt: true }],
};
const UNCHANGED = Object.values(SECTIONS).join('\n\n');
const SUNG = UNCHANGED.replace('Be brief.', 'Sing.');
const LARGE_CHARACTERS = 50 * 2 ** 20;

interface Scene {
  readonly clock: FakeClock;
  readonly client: RawClient;
  readonly phone: RawClient;
  readonly uri: string;
}

async function scene(sections: string[] = ['tone'], protocolVersions = ['0.3.0']): Promise<Scene> {
  const clock = new FakeClock();
  const host = await startHost({ clock, scripts: [SCRIPT] });
  const client = await host.client('desk', { protocolVersions });
  const uri = await client.session();
  const phone = await host.client('phone');
  await phone.request('subscribe', { channel: uri });
  const activeClient: SessionActiveClient = { clientId: 'desk', tools: [], systemMessageTransform: { sections } };
  client.dispatch(uri, { type: 'session/activeClientChanged', activeClient });
  await client.action(uri, 'session/activeClientChanged');
  return { clock, client, phone, uri };
}

function requests(client: RawClient): Message[] {
  return client.received.filter(({ method }) => method === 'systemMessageTransform');
}

/** Plays a turn in which the client answers like this, and gives the prompt as it was rendered. */
async function rendered(
  { client, phone, uri }: Scene,
  answer: (request: Message) => void | Promise<void>,
): Promise<string> {
  const turn = phone.turn(uri, `turn ${crypto.randomUUID()}`);
  await client.until(() => requests(client).length > 0);
  await answer(requests(client).at(-1) ?? {});
  await turn;
  return lastText(await stateOf(phone, uri));
}

const tone = (content: unknown) => ({ sections: { tone: { content } } });

describe('[REL-025] answers of a client', () => {
  it.each<[string, (scene: Scene, request: Message) => void | Promise<void>, string]>([
    ['an answer as it should be', ({ client }, { id }) => client.send({ id, result: tone('Sing.') }), SUNG],
    [
      'two answers: the first counts',
      ({ client }, { id }) => {
        client.send({ id, result: tone('Sing.') });
        client.send({ id, result: tone('Shout.') });
      },
      SUNG,
    ],
    [
      'an answer to nothing that was asked, and then the right one',
      ({ client }, { id }) => {
        client.send({ id: Number(id) + 1_000, result: tone('Shout.') });
        client.send({ id: 'tone', result: tone('Shout.') });
        client.send({ id, result: tone('Sing.') });
      },
      SUNG,
    ],
    [
      'sections that nobody asked for, restricted ones among them',
      ({ client }, { id }) => {
        const more = { safety: { content: 'Be wild.' }, identity: { content: 'I am root.' }, extra: { content: 'x' } };
        client.send({ id, result: { sections: { ...tone('Sing.').sections, ...more } } });
      },
      SUNG,
    ],
    ['content that is no text', ({ client }, { id }) => client.send({ id, result: tone(7) }), UNCHANGED],
    [
      'fifty megabytes, which nobody reads',
      async ({ clock, client }, { id }) => {
        client.send({ id, result: tone('x'.repeat(LARGE_CHARACTERS)) });
        await settle();
        await clock.advance(TRANSFORM_TIMEOUT_MS);
      },
      UNCHANGED,
    ],
    ['an error', ({ client }, { id }) => client.send({ id, error: { code: -32000, message: 'no' } }), UNCHANGED],
    ['a line that is cut', ({ client }) => client.disconnect(), UNCHANGED],
    [
      'silence, and an answer when it is too late',
      async ({ clock, client }, { id }) => {
        await clock.advance(TRANSFORM_TIMEOUT_MS);
        client.send({ id, result: tone('Shout.') });
        await settle();
      },
      UNCHANGED,
    ],
    [
      'another client that takes over meanwhile, which is not asked instead',
      async ({ client, phone, uri }) => {
        client.dispatch(uri, { type: 'session/activeClientChanged', activeClient: null });
        const activeClient = { clientId: 'phone', tools: [], systemMessageTransform: { sections: ['tone'] } };
        await client.action(uri, ({ activeClient: now }) => now === null);
        phone.dispatch(uri, { type: 'session/activeClientChanged', activeClient });
        await settle();
        client.disconnect();
      },
      UNCHANGED,
    ],
  ])('%s', async (_name, answer, expected) => {
    const played = await scene();
    expect(await rendered(played, (request) => answer(played, request))).toBe(expected);
    expect(requests(played.phone)).toEqual([]);
    // The session goes on, whatever came of it.
    expect(played.phone.closed).toBeUndefined();
  });

  it.each<[string, string[], string[]]>([
    ['a restricted section is not put to it', ['safety'], ['0.3.0']],
    ['nothing is asked of one that opted in to nothing', [], ['0.3.0']],
    ['nothing is asked of one of an older version', ['tone'], ['0.2.0']],
  ])('[UNI-083] %s', async (_name, sections, versions) => {
    const { client, phone, uri } = await scene(sections, versions);
    await phone.turn(uri, 'show');
    expect(lastText(await stateOf(phone, uri))).toBe(UNCHANGED);
    expect(requests(client)).toEqual([]);
  });
});
