import type { AgentInfo, SessionActiveClient } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { type SectionTexts, type SystemMessageTransform, TRANSFORM_ANSWER_MAX_BYTES } from '../src/index.js';
import { connected, newHost } from './support/connected.js';
import { settle } from './support/fake-clock.js';
import { ROOT, SESSION } from './support/states.js';

const section = (id: string, restricted?: boolean) => ({ id, label: id, ...(restricted && { restricted }) });
const agent = (provider: string, ...sections: ReturnType<typeof section>[]): AgentInfo => ({
  provider,
  displayName: provider,
  description: '',
  models: [],
  systemMessageSections: sections,
});

async function scene(transformSystemMessage: SystemMessageTransform) {
  const host = newHost();
  const agents = [
    agent('other', section('mood')),
    agent('echo', section('tone'), section('safety', true), section('guidelines')),
  ];
  host.states.set(ROOT, { agents });
  return connected({ transformSystemMessage }, host);
}

/** What the host is told when the client joins the active ones. */
async function claimed(transform: SystemMessageTransform, claim: Partial<SessionActiveClient> = {}) {
  const { client, host } = await scene(transform);
  const session = await client.subscribe(SESSION);
  const activeClient = { clientId: client.clientId, tools: [], ...claim };
  await session.dispatch({ type: 'session/activeClientSet', activeClient });
  const { params } = host.heard.find(({ method }) => method === 'dispatchAction') ?? {};
  const sent = params?.action as { activeClient: SessionActiveClient } | undefined;
  return sent?.activeClient.systemMessageTransform;
}

/** The one answer to a request about these sections. */
async function answer(handler: SystemMessageTransform['handler'], sections: Record<string, { content: string }>) {
  const { host, logged } = await scene({ handler });
  host.connection.send({ id: 7, method: 'systemMessageTransform', params: { channel: SESSION, sections } });
  await settle();
  const { result, error } = host.heard.find(({ method, id }) => method === undefined && id === 7) ?? {};
  return { result, error: error as { code: number; message: string } | undefined, logged };
}

const nothing = () => undefined;
const TSESSION = { tone: { content: 'Be brief.' } };

describe('a client with a transform', () => {
  it('[SMT-035] offers, with every claim, what the agent of the session has and does not restrict', async () => {
    expect(await claimed({ handler: nothing })).toEqual({ sections: ['tone', 'guidelines'] });
    const wishes = ['tone', 'safety', 'mood', 'unheard-of'];
    expect(await claimed({ sections: wishes, handler: nothing })).toEqual({ sections: ['tone'] });
  });

  it('offers nothing where there is nothing to rewrite, and leaves an offer of the user alone', async () => {
    expect(await claimed({ sections: ['safety'], handler: nothing })).toBeUndefined();
    expect(await claimed({ handler: nothing }, { clientId: 'somebody-else' })).toBeUndefined();
    const systemMessageTransform = { sections: ['unheard-of'] };
    expect(await claimed({ handler: nothing }, { systemMessageTransform })).toEqual(systemMessageTransform);
  });

  it.each([
    [undefined, ['mood']],
    ['echo', ['tone', 'guidelines']],
  ])('offers it with a new session, too (agent: %s)', async (provider, sections) => {
    const { client, host } = await scene({ handler: nothing });
    host.scripts.set('createSession', () => null);
    await client.createSession({ provider, activeClient: { clientId: client.clientId, tools: [] } });
    const { params } = host.heard.find(({ method }) => method === 'createSession') ?? {};
    expect(params?.activeClient).toMatchObject({ systemMessageTransform: { sections } });
  });

  it('[SMT-034] answers with what was asked for and changed, and with nothing else', async () => {
    const handler = ({ tone }: SectionTexts) => ({ tone: `${tone} Sing.`, safety: 'Do anything.', __proto__: 'x' });
    expect((await answer(handler, TSESSION)).result).toEqual({ sections: { tone: { content: 'Be brief. Sing.' } } });
    expect((await answer(nothing, TSESSION)).result).toEqual({ sections: {} });
  });

  it('[SMT-012] hands on every text as it is, line breaks and all, with the session that it is for', async () => {
    const seen: unknown[] = [];
    const content = '\n\r\n  # Grüße \u2028 {{x}} \u0000\n';
    const handler: SystemMessageTransform['handler'] = async (sections, context) => {
      seen.push(sections, context);
      return sections;
    };
    const { result } = await answer(handler, { tone: { content }, guidelines: { content: '' } });
    expect(seen).toEqual([{ tone: content, guidelines: '' }, { session: SESSION }]);
    expect(result).toEqual({ sections: { tone: { content }, guidelines: { content: '' } } });
  });

  it.each<[string, SystemMessageTransform['handler'], string]>([
    ['throws', () => Promise.reject(new Error('secret')), 'the handler of systemMessageTransform threw'],
    ['returns no text', () => ({ tone: 5 }) as never, 'the handler of systemMessageTransform threw'],
    ['returns too much', () => ({ tone: 'ü'.repeat(TRANSFORM_ANSWER_MAX_BYTES / 2 + 1) }), 'threw'],
  ])('answers with an error when its handler %s', async (_, handler, line) => {
    const { result, error, logged } = await answer(handler, TSESSION);
    expect(result).toBeUndefined();
    expect(error).toEqual({ code: -32603, message: 'The client failed to answer systemMessageTransform.' });
    expect(logged.join()).toContain(line);
  });

  it('may return as much as hosts take', async () => {
    const tone = 'x'.repeat(TRANSFORM_ANSWER_MAX_BYTES);
    expect((await answer(() => ({ tone }), TSESSION)).result).toEqual({ sections: { tone: { content: tone } } });
  });
});
