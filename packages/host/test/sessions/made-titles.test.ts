/** Titles by a model: one small request after the first turn, and never over a person's own. */
import { titleIn } from '@atrium/core/sessions/session-titles.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { modelAgent } from '../../../agents/src/model/backend.js';
import { KeptLog } from '../support/logs.js';
import { ModelServer, type ServedAnswer } from '../support/model-server.js';
import { nativeClient, nativeSession, nativeTurn, sessionState } from '../support/native-client.js';
import { startHost } from '../support/session-fixture.js';

const ANSWER: ServedAnswer = { text: ['Yes.'] };
const FAILURE: ServedAnswer = { status: 400, message: 'no' };

async function open(
  answers: readonly ServedAnswer[],
  { titles = true, log = new KeptLog(), titleModel = 'tiny' } = {},
) {
  const server = await ModelServer.start(...answers);
  onTestFinished(() => server.stop());
  const models = [{ id: 'large', name: 'Large' }];
  const options = { provider: 'model', displayName: 'Model', kind: 'openai-compatible', models, retries: 0 } as const;
  const agents = [modelAgent({ ...options, baseURL: server.url, ...(titleModel !== '' && { titleModel }) })];
  const host = await startHost({ scripts: [], agents, log, titles });
  const client = await nativeClient(host, 'desk');
  const session = (await nativeSession(client, { provider: 'model' })) as { uri: string; chat: string };
  const title = async (uri = session.uri) => (await sessionState(client, uri)).title;
  const asked = () => server.requests.map(({ body }) => body.model);
  return { server, host, client, log, title, asked, ...session };
}

describe('the title that a model makes', () => {
  it('[DAY-030] comes after the first turn by one small request of the model that is named for it, and only once', async () => {
    const answer = 'Zwölf Meter, sagt der Plan.';
    const scene = await open([{ text: [answer] }, { text: ['"Länge der', ' Brücke prüfen"\n\nBecause …'] }, ANSWER]);
    await nativeTurn(scene.client, scene.chat, 'Wie lang ist die Brücke?');
    await expect.poll(scene.title).toBe('Länge der Brücke prüfen');
    const [, request] = scene.server.requests;
    expect(request?.body).toMatchObject({ model: 'tiny', max_tokens: 200 });
    expect(request?.body.tools ?? []).toEqual([]);
    for (const text of ['Wie lang ist die Brücke?', answer]) expect(scene.server.heard(1)).toContain(text);
    await nativeTurn(scene.client, scene.chat, 'more');
    await scene.host.stop();
    const again = await open([ANSWER], { log: scene.log });
    await again.client.request('subscribe', { channel: scene.chat });
    await nativeTurn(again.client, scene.chat, 'even more');
    expect(await again.title(scene.uri)).toBe('Länge der Brücke prüfen');
    expect([...scene.asked(), ...again.asked()]).toEqual(['large', 'tiny', 'large', 'large']);
  });

  it('[DAY-040] counts for its session, under the model that made it', async () => {
    const used = { input: 40, output: 6 };
    const scene = await open([
      { ...ANSWER, usage: { input: 900, output: 3 } },
      { text: ['Bridge'], usage: used },
    ]);
    await nativeTurn(scene.client, scene.chat, 'How long is it?');
    await expect.poll(scene.title).toBe('Bridge');
    const report = () =>
      scene.client.request<{ entries: object[] }>('atrium/usage', { session: scene.uri, by: 'model' });
    await expect
      .poll(async () => (await report()).entries)
      .toMatchObject([
        { key: 'large', input: 900, output: 3, requests: 1, turns: 1 },
        { key: 'tiny', input: 40, output: 6, requests: 1, turns: 0 },
      ]);
  });

  it("[DAY-030] never replaces a person's, and is not asked for where it is switched off", async () => {
    const named = await open([ANSWER]);
    named.client.dispatch(named.uri, { type: 'session/titleChanged', title: 'Mine' } as never);
    await nativeTurn(named.client, named.chat, 'hello');
    await nativeTurn(named.client, named.chat, 'again').catch(() => {});
    expect([await named.title(), named.asked()]).toEqual(['Mine', ['large', 'large']]);
    const off = await open([ANSWER, ANSWER], { titles: false });
    await nativeTurn(off.client, off.chat, 'hello');
    await nativeTurn(off.client, off.chat, 'again');
    expect([await off.title(), off.asked()]).toEqual(['Hello', ['large', 'large']]);
  });

  it('[DAY-030] that fails is asked for once more after the next turn, and then no more', async () => {
    const scene = await open([ANSWER, FAILURE, ANSWER, FAILURE, ANSWER, ANSWER], { titleModel: '' });
    for (const [index, text] of ['one', 'two', 'three'].entries()) {
      await nativeTurn(scene.client, scene.chat, text);
      await expect.poll(() => scene.asked().length).toBe([2, 4, 5][index]);
    }
    await nativeTurn(scene.client, scene.chat, 'four');
    expect([await scene.title(), scene.asked().length]).toEqual(['One', 6]);
  });

  it('[DAY-030] is one line of at most 60 characters, without quotes, heading or full stop', () => {
    expect(titleIn('## Title: "Fix the build".\n\nIt says what is wanted.')).toBe('Fix the build');
    expect(titleIn('„Brücke“')).toBe('Brücke');
    expect(titleIn(`${'word '.repeat(40)}`).length).toBe(60);
    expect(titleIn('  \n ')).toBe('');
  });
});
